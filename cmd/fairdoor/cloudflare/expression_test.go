package cloudflare_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/cloudflare"
)

func TestExpressionsBecomeRulesThatExemptTheSame(t *testing.T) {
	for expression, want := range map[string]string{
		`starts_with(http.request.uri.path, "/bypassme")`: `{path_prefix: "/bypassme"}`,
		`ends_with(http.request.uri.path, ".js")`:         `{path_suffix: ".js"}`,
		`http.request.uri.path == "/a \"b\""`:             `{path: "/a \"b\""}`,
		`ip.src eq 192.0.2.1`:                             `{cidr: ["192.0.2.1"]}`,
		`(ip.src in {192.0.2.1 2001:db8::/32})`:           `{cidr: ["192.0.2.1","2001:db8::/32"]}`,
		`cf.client.bot`:                                   `{verified_bot: true}`,
		`((cf.client.bot))`:                               `{verified_bot: true}`,
		`http.request.uri.path in {"/a" "/b"}`:            `{any: [{path: "/a"}, {path: "/b"}]}`,
		`http.request.method eq "GET" && (http.request.uri.path eq "/a" || cf.client.bot)`:  `{any: [{method: "GET", path: "/a"}, {method: "GET", verified_bot: true}]}`,
		`cf.client.bot or http.request.uri.path eq "/a" and http.request.method eq "GET"`:   `{any: [{verified_bot: true}, {path: "/a", method: "GET"}]}`,
		`ends_with(http.request.uri.path, ".js") and ends_with(http.request.uri.path, "s")`: `{path_suffix: ".js", all: [{path_suffix: "s"}]}`,

		`not http.request.uri.path eq "/a"`:                                    `{not: [{path: "/a"}]}`,
		`http.request.uri.path ne "/a"`:                                        `{not: [{path: "/a"}]}`,
		`http.request.method != "GET"`:                                         `{not: [{method: "GET"}]}`,
		`!ip.src in {192.0.2.1 192.0.2.2}`:                                     `{not: [{cidr: ["192.0.2.1","192.0.2.2"]}]}`,
		`not http.request.uri.path in {"/a" "/b"}`:                             `{not: [{path: "/a"}, {path: "/b"}]}`,
		`not (http.request.uri.path eq "/a" and http.request.method eq "GET")`: `{any: [{not: [{path: "/a"}]}, {not: [{method: "GET"}]}]}`,
		`not not cf.client.bot`:                                                `{verified_bot: true}`,
		`cf.client.bot and not starts_with(http.request.uri.path, "/a/")`:      `{verified_bot: true, not: [{path_prefix: "/a/"}]}`,
		`not http.request.method eq "GET" or cf.client.bot`:                    `{any: [{not: [{method: "GET"}]}, {verified_bot: true}]}`,

		`any(http.request.uri.args["pass"][*] == "x-1")`:                                      `{query: "pass=x-1"}`,
		`not any(http.request.uri.args["pass"][*] eq "x-1")`:                                  `{not: [{query: "pass=x-1"}]}`,
		`http.request.uri.query contains "bypass=true"`:                                       `{query: "bypass=true"}`,
		`http.request.uri.query contains "a=b" and any(http.request.uri.args["c"][*] == "d")`: `{query: "a=b", all: [{query: "c=d"}]}`,
	} {
		conditions, err := cloudflare.Conditions(expression)
		assert.NoError(t, err, expression)
		assert.Equal(t, want, conditions, expression)
	}
}

func TestExpressionsThatConditionsCannotSayAreRefused(t *testing.T) {
	for expression, want := range map[string]string{
		`ip.src in $staff`:                                "$staff has no condition here",
		`not cf.client.bot`:                               "verified_bot: true holds for less here, and its opposite for more",
		`not starts_with(http.request.uri.path, "/a")`:    `path_prefix: "/a" holds for less here, and its opposite for more`,
		`not http.request.uri.query contains "a=b"`:       `query: "a=b" holds for less here, and its opposite for more`,
		`http.request.uri.query contains "preview"`:       `http.request.uri.query contains "preview" has no condition here`,
		`http.request.uri.query contains "a=b&c"`:         `http.request.uri.query contains "a=b&c" has no condition here`,
		`http.request.uri.query eq "a=b"`:                 "eq has no condition here",
		`any(http.request.uri.args["a"][*] == "b c")`:     `the parameter "a=b c" has no condition here`,
		`any(http.request.headers["a"][*] == "b")`:        "http.request.headers[ has no condition here",
		`any(http.request.uri.args["a"][*] contains "b")`: "contains has no condition here",
		`not`: "it ends too early",
		strings.Repeat(`http.request.uri.path in {"/a" "/b"} and `, 6) + `http.request.uri.path in {"/a" "/b"}`:                                 "it stands for too many conditions",
		`not (` + strings.Repeat(`http.request.uri.path eq "/a" and cf.client.bot or `, 6) + `http.request.uri.path eq "/a" and cf.client.bot)`: "it stands for too many conditions",
		`ip.src.country eq "NO"`:                  "ip.src.country has no condition here",
		`http.request.uri.path ne`:                "it ends too early",
		`http.request.uri.path contains "a"`:      "contains has no condition here",
		`lower(http.request.uri.path) eq "/a"`:    "lower has no condition here",
		`starts_with(http.host, "a")`:             "http.host has no condition here",
		`starts_with(http.request.uri.path, "/a"`: "it ends too early",
		`(cf.client.bot`:                          "it ends too early",
		`cf.client.bot cf.client.bot`:             "cf.client.bot has no condition here",
		`http.request.uri.path eq "`:              `" has no condition here`,
		`ip.src in {}`:                            "it compares with nothing",
		`http.request.uri.path in {}`:             "it compares with nothing",
		`http.request.uri.path eq ""`:             `"" has no condition here`,
		`http.request.method in {"GET"`:           "it ends too early",
		``:                                        "it ends too early",
	} {
		_, err := cloudflare.Conditions(expression)
		assert.EqualError(t, err, want, expression)
	}
}

func FuzzExpression(f *testing.F) {
	for _, seed := range []string{`ip.src in {192.0.2.1}`, `(a and b) or "c`, `starts_with(http.request.uri.path, "/a")`, "((((", `"\`, `not (a`, `!ip.src in {192.0.2.1} && any(http.request.uri.args["a"][*] == "b")`} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, expression string) { _, _ = cloudflare.Conditions(expression) })
}
