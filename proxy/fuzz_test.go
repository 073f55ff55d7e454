package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

// FuzzGate sends a full room what strangers may send: whatever it is, the gate
// answers it itself, unless it is exempt.
func FuzzGate(f *testing.F) {
	g := gatetest.Start(f, func(c *proxy.Config, _ *proxy.Options) {
		c.Rooms[0].Rules = []route.Rule{{Action: route.BypassWaitingRoom, Match: route.Conditions{PathPrefix: "/static"}}}
	})
	ticket := g.Full()[0].Cookies["fairdoor_shop"]
	waiting := g.Visitor()
	waiting.Get("/")
	g.Pass(2 * time.Second)
	g.Site.Requests()
	forged := "fairdoor_shop=" + ticket[:len(ticket)-8] + "AAAAAAAA"
	for _, seed := range [][4]string{
		{"GET", "/", "Accept: application/json", "fairdoor_shop=" + waiting.Cookies["fairdoor_shop"]},
		{"POST", "/static/../tickets", "Sec-Fetch-Dest: image", forged},
		{"OPTIONS", "*", "Origin: x\nAccess-Control-Request-Method: PUT", ""},
		{"OPTIONS", "/", "Origin: x", "a;b=;=c"},
		{"OPTIONS", "/", "Origin: x\nAccess-Control-Request-Method: PUT", "a=b"},
		{"OPTIONS", "http://shop.test:80:90/", "Origin: x\nAccess-Control-Request-Method: PUT\nAuthorization: x", ""},
		{"CONNECT", "shop.test:443", "", ""},
		{"GET", "http://shop.test/static", "X-Forwarded-Proto: https", "__Host-fairdoor_shop=x"},
		{"GET", "/static%2f..%2ftickets", "Fairdoor-Visibility: hidden", strings.Repeat("a=b;", 100)},
		{"POST", "/.fairdoor/leave", "Referer: http://example.com/", forged},
		{"HEAD", "/", "Sec-Purpose: prefetch;prerender\nUser-Agent: Googlebot/2.1", "fairdoor_shop=" + waiting.Cookies["fairdoor_shop"]},
		{"GET", "/.fairdoor/session?renew=1", "Purpose: prefetch", ""},
		{"GET", "/.well-known/../tickets", "User-Agent: Mozilla/5.0 (compatible; bingbot/2.0)\nAccept: application/json", ""},
		{"get", "//static\\..\\x", "Accept-Language: de;q=x", "\x00"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, method, target, headers, cookies string) {
		if strings.Contains(cookies, ticket) {
			return // whoever is in may pass
		}
		r := request(method, target, headers, cookies)
		if r == nil {
			return // net/http answers it itself
		}
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		for _, seen := range g.Site.Requests() {
			preflight := seen.Method == http.MethodOptions && seen.Header["Origin"] != nil && seen.Header["Cookie"] == nil && seen.Header["Authorization"] == nil
			exempt := strings.HasPrefix(seen.URL.Path, "/static") || preflight
			require.True(t, exempt, "%s %s reached the origin", seen.Method, seen.RequestURI)
			require.NotContains(t, seen.Header.Get("Cookie"), "fairdoor_")
		}
		if speculates := r.Header.Get("Sec-Purpose") == "prefetch"; speculates || method == http.MethodHead || method == http.MethodOptions {
			require.Empty(t, w.Header()["Set-Cookie"], "it gives nobody a place")
		}
		require.GreaterOrEqual(t, w.Code, 200)
		require.NotContains(t, w.Body.String(), "\x00")
	})
}

// request makes a request as net/http's server would hand it to a handler; nil
// if it would not.
func request(method, target, headers, cookies string) *http.Request {
	if method == "" || strings.ContainsAny(method, " \r\n\t/:\"()<>@,;\\[]?={}") || strings.ContainsAny(target, " \r\n") {
		return nil
	}
	u, err := url.ParseRequestURI(target)
	if method == http.MethodConnect && !strings.HasPrefix(target, "/") {
		u, err = url.ParseRequestURI("http://" + target)
	}
	if err != nil {
		return nil
	}
	r := &http.Request{
		Method: method, URL: u, RequestURI: target, Host: "shop.test", Header: http.Header{}, Body: http.NoBody,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: "192.0.2.1:1234",
	}
	if u.Host != "" {
		r.Host = u.Host
	}
	for line := range strings.SplitSeq(headers, "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			r.Header.Add(name, strings.TrimSpace(value))
		}
	}
	if cookies != "" {
		r.Header["Cookie"] = []string{cookies}
	}
	return r
}
