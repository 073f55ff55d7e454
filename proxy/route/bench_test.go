package route_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

func benchTable(t testing.TB) *route.Table {
	return newTable(t, room("tickets", "/tickets"), room("shop", "/shop", "/shop/sale"), at("host", "shop.test", "/checkout"), room("family", "/room/{id}"))
}

func benchRules(t testing.TB) *route.Rules {
	return newRules(t,
		route.Conditions{PathPrefix: "/static"},
		route.Conditions{PathSuffix: ".js"},
		route.Conditions{CIDR: []string{"10.0.0.0/8"}, Header: "X-Probe: a secret of more than thirty-two bytes"},
		route.Conditions{Cookie: "staff=a-secret-of-more-than-thirty-two-bytes"},
	)
}

var benchRequest = route.Request{
	Target: "/shop/sale/item-1234.html?ref=mail",
	Method: "GET",
	Addr:   netip.MustParseAddr("10.1.2.3"),
	Header: map[string][]string{
		"X-Probe": {"a secret of more than thirty-two letters"},
		"Cookie":  {"a=b; staff=a-secret-of-more-than-thirty-two-letters"},
	},
}

func TestPlainPathsDoNotAllocate(t *testing.T) {
	table, rules := benchTable(t), benchRules(t)
	for _, target := range []string{"/", "/shop/sale/item-1234.html?ref=mail", "/elsewhere", "http://shop.test/checkout", "/room/a-1/x"} {
		assert.Zero(t, testing.AllocsPerRun(100, func() { table.Match("shop.test.:8080", target) }), target)
		assert.Zero(t, testing.AllocsPerRun(100, func() { table.Match("[::1]:8080", target) }), target)
	}
	rooms := make([]route.Guard, 0, 4)
	assert.Zero(t, testing.AllocsPerRun(100, func() { table.All(rooms, "shop.test", "/shop") }))
	assert.Zero(t, testing.AllocsPerRun(100, func() { rules.Match(benchRequest) }))
}

func BenchmarkMatch(b *testing.B) {
	table := benchTable(b)
	for name, target := range map[string]string{
		"plain":     "/shop/sale/item-1234.html?ref=mail",
		"escaped":   "/shop/sale/item%201234.html",
		"odd":       `/x;/..%2fshop//%2e/sale`,
		"ambiguous": `/a;%2f/..//b%00c%23d\%5c%252f%253be/../%252e%252e/%3f`,
		"long":      "/" + strings.Repeat("a%2f;//%5cb/./", 500),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				table.Match("shop.test", target)
			}
		})
	}
}

func BenchmarkMatchManyRooms(b *testing.B) {
	var rooms []route.Room
	for i := range 100 {
		rooms = append(rooms, room(fmt.Sprint(i), fmt.Sprintf("/room-%02d", i)))
	}
	table := newTable(b, rooms...)
	b.ReportAllocs()
	for b.Loop() {
		table.Match("shop.test", "/room-99/x")
	}
}

func BenchmarkRules(b *testing.B) {
	rules := benchRules(b)
	b.ReportAllocs()
	for b.Loop() {
		rules.Match(benchRequest)
	}
}
