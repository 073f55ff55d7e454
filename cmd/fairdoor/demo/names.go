package demo

import (
	"encoding/hex"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
)

// names are what the site calls its visitors: short, and easy to tell apart.
func names() []string {
	return []string{
		"Ada", "Amir", "Ana", "Ben", "Bo", "Cem", "Cleo", "Dana", "Eli", "Emma", "Finn", "Gita", "Hana", "Ida", "Ines",
		"Jan", "Juno", "Kai", "Kim", "Lea", "Leo", "Lin", "Luz", "Mads", "Maya", "Mio", "Nia", "Noor", "Olga", "Omar",
		"Pia", "Ravi", "Rosa", "Sami", "Suki", "Tara", "Teo", "Tom", "Uma", "Vera", "Wim", "Yara", "Yuki", "Zoe",
	}
}

// cookieName is the name of the site's own cookie. Its value is a name and,
// because names are few, eight hexadecimal digits: "Ada-1f2e3d4c".
const cookieName = "demo_visitor"

// visitorOf returns who sends the request by the site's own cookie, or a new
// visitor, whose name is none of those that are taken.
func visitorOf(r *http.Request, taken []seat) (visitor, name string, known bool) {
	if c, err := r.Cookie(cookieName); err == nil {
		name, digits, _ := strings.Cut(c.Value, "-")
		if number, err := hex.DecodeString(digits); err == nil && len(number) == 4 && slices.Contains(names(), name) {
			return c.Value, name, true
		}
	}
	name = nameOfHost(r.Host)
	if name == "" {
		name = freeName(taken)
	}
	digits := make([]byte, 4)
	for i := range digits {
		digits[i] = byte(rand.Uint32())
	}
	return name + "-" + hex.EncodeToString(digits), name, false
}

// freeName is a name that nobody who is in has.
func freeName(taken []seat) string {
	all := names()
	free := slices.DeleteFunc(slices.Clone(all), func(name string) bool {
		return slices.ContainsFunc(taken, func(t seat) bool { return t.name == name })
	})
	if len(free) == 0 {
		free = all
	}
	return free[rand.IntN(len(free))]
}

// nameOfHost is Ben for ben.localhost, and "" for hosts without a name in them.
func nameOfHost(host string) string {
	host, local := strings.CutSuffix(bareHost(host), ".localhost")
	for _, name := range names() {
		if local && strings.EqualFold(name, host) {
			return name
		}
	}
	return ""
}

// OtherVisitor returns the address of the site under a name of its own, as
// http://ben.localhost:8080/: browsers take each such name for this machine, and
// for a site with cookies of its own. It returns "" if the host is not this
// machine.
func OtherVisitor(host, name string) string {
	bare := bareHost(host)
	ip := net.ParseIP(bare)
	if bare != "localhost" && !strings.HasSuffix(bare, ".localhost") && (ip == nil || !ip.IsLoopback()) {
		return ""
	}
	address := "http://" + strings.ToLower(name) + ".localhost"
	if _, port, err := net.SplitHostPort(host); err == nil {
		address += ":" + port
	}
	return address + "/"
}

// bareHost is a Host header without its port, in lower case.
func bareHost(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}
