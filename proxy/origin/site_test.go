package origin_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

func TestASiteIsNamedAsBrowsersDo(t *testing.T) {
	for text, want := range map[string]string{
		"https://app.example.com":      "https://app.example.com",
		"HTTPS://App.Example.com":      "https://app.example.com",
		"http://localhost:5173":        "http://localhost:5173",
		"http://[::1]:8080":            "http://[::1]:8080",
		"capacitor://localhost":        "capacitor://localhost",
		"chrome-extension://abcdefghi": "chrome-extension://abcdefghi",
		"*":                            "*",
	} {
		site, problem := origin.ParseSite(text)
		assert.Empty(t, problem, text)
		assert.Equal(t, want, site)
	}
	for text, want := range map[string]string{
		"":                             "is empty: expects an origin such as https://app.example.com",
		"null":                         "is what browsers send for pages that have no origin: it could be anybody's",
		"https://*.example.com":        `cannot be a pattern: name each origin, or "*" alone for all, without cookies`,
		"app.example.com":              `has no scheme (did you mean "https://app.example.com"?)`,
		"app example":                  "has no scheme",
		"https://app.example.com/":     `has a path, a query or a fragment, which an origin has not (did you mean "https://app.example.com"?)`,
		"https://app.example.com/shop": `has a path, a query or a fragment, which an origin has not (did you mean "https://app.example.com"?)`,
		"https://app.example.com?a":    `has a path, a query or a fragment, which an origin has not (did you mean "https://app.example.com"?)`,
		"https://app.example.com#":     `has a path, a query or a fragment, which an origin has not (did you mean "https://app.example.com"?)`,
		"https://me@app.example.com":   "holds a user or a password, which browsers never send",
		"https://":                     "has no host",
		"file:///":                     "has no host",
		"https://bücher.example":       "has a host that is neither an IP address nor a name; names that are not ASCII are written in their xn-- form",
		"https://app.example.com:443":  `has the port that browsers leave out (did you mean "https://app.example.com"?)`,
		"http://app.example.com:80":    `has the port that browsers leave out (did you mean "http://app.example.com"?)`,
		"https://app.example.com:":     "has no port between 1 and 65535",
		"https://app.example.com:0":    "has no port between 1 and 65535",
		"://app.example.com":           "is not an origin: expects one such as https://app.example.com",
	} {
		_, problem := origin.ParseSite(text)
		assert.Equal(t, want, problem, text)
	}
}
