package route_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

func TestEveryConditionOfARuleMustHold(t *testing.T) {
	long := "a secret of more than thirty-two bytes, as they should be"
	request := route.Request{
		Target: "/static/app.js?v=1",
		Method: "GET",
		Addr:   netip.MustParseAddr("::ffff:192.0.2.7"),
		Header: http.Header{"X-Probe": {"other", "yes"}, "X-Long": {long}, "User-Agent": {"probe"}, "Cookie": {"a=b; staff=yes", "c"}},
	}
	for name, test := range map[string]struct {
		conditions route.Conditions
		want       bool
	}{
		"the path":                             {route.Conditions{Path: "/static/app.js"}, true},
		"another path":                         {route.Conditions{Path: "/static/app"}, false},
		"the path in another case":             {route.Conditions{Path: "/static/App.js"}, false},
		"a prefix":                             {route.Conditions{PathPrefix: "/static"}, true},
		"a prefix that is a folder":            {route.Conditions{PathPrefix: "/static/"}, true},
		"a prefix that is the path":            {route.Conditions{PathPrefix: "/static/app.js"}, true},
		"a prefix of half a segment":           {route.Conditions{PathPrefix: "/stat"}, false},
		"a prefix that is the folder of all":   {route.Conditions{PathPrefix: "/"}, true},
		"a suffix":                             {route.Conditions{PathSuffix: ".js"}, true},
		"a suffix with a folder":               {route.Conditions{PathSuffix: "/app.js"}, true},
		"a suffix of the query":                {route.Conditions{PathSuffix: "=1.js"}, false},
		"the method":                           {route.Conditions{Method: "GET"}, true},
		"another method":                       {route.Conditions{Method: "HEAD"}, false},
		"an IPv4 prefix":                       {route.Conditions{CIDR: []string{"2001:db8::/32", "192.0.2.0/24"}}, true},
		"an IPv4 prefix with host bits":        {route.Conditions{CIDR: []string{"192.0.2.99/24"}}, true},
		"an address":                           {route.Conditions{CIDR: []string{"192.0.2.7"}}, true},
		"another address":                      {route.Conditions{CIDR: []string{"192.0.2.8"}}, false},
		"an IPv4 prefix written as IPv6":       {route.Conditions{CIDR: []string{"::ffff:192.0.2.0/120"}}, true},
		"an IPv4 address written as IPv6":      {route.Conditions{CIDR: []string{"::ffff:192.0.2.7"}}, true},
		"a header":                             {route.Conditions{Header: "x-probe"}, true},
		"a header with its second value":       {route.Conditions{Header: "X-Probe: yes"}, true},
		"a header with another value":          {route.Conditions{Header: "X-Probe: ye"}, false},
		"a header with no value":               {route.Conditions{Header: "X-Probe:"}, false},
		"a header with a long value":           {route.Conditions{Header: "X-Long: " + long}, true},
		"another header":                       {route.Conditions{Header: "X-Other"}, false},
		"a user agent from an address":         {route.Conditions{Header: "User-Agent: probe", CIDR: []string{"192.0.2.7"}}, true},
		"a cookie":                             {route.Conditions{Cookie: "staff"}, true},
		"a cookie with its value":              {route.Conditions{Cookie: "staff=yes"}, true},
		"a cookie on a second line":            {route.Conditions{Cookie: "c"}, true},
		"a cookie with another value":          {route.Conditions{Cookie: "staff=ye"}, false},
		"another cookie":                       {route.Conditions{Cookie: "staf"}, false},
		"all of several conditions":            {route.Conditions{PathPrefix: "/static", Method: "GET", Cookie: "a=b"}, true},
		"all but one":                          {route.Conditions{PathPrefix: "/static", Method: "GET", Cookie: "a=c"}, false},
		"all but the path":                     {route.Conditions{PathPrefix: "/tickets", Method: "GET"}, false},
		"prefix and suffix":                    {route.Conditions{PathPrefix: "/static", PathSuffix: ".js"}, true},
		"prefix and the suffix of other files": {route.Conditions{PathPrefix: "/static", PathSuffix: ".css"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			i, ok := newRules(t, route.Conditions{Method: "OTHER"}, test.conditions).Match(request)
			assert.Equal(t, test.want, ok)
			if test.want {
				assert.Equal(t, 1, i)
			} else {
				assert.Equal(t, -1, i)
			}
		})
	}
}

func TestPathConditionsHoldForEveryReading(t *testing.T) {
	for name, test := range map[string]struct {
		conditions route.Conditions
		target     string
		want       bool
	}{
		"an escape below the prefix":               {route.Conditions{PathPrefix: "/static"}, "/static/a%20b.js", true},
		"an escaped slash below the prefix":        {route.Conditions{PathPrefix: "/static"}, "/static/a%2fb.js", true},
		"a double slash below the prefix":          {route.Conditions{PathPrefix: "/static"}, "/static/a//b.js", true},
		"dots that stay below the prefix":          {route.Conditions{PathPrefix: "/static"}, "/static/a/../b.js", true},
		"dots that leave it":                       {route.Conditions{PathPrefix: "/static"}, "/static/a/../../b.js", false},
		"dots that come to it":                     {route.Conditions{PathPrefix: "/static"}, "/b/../static/x", false},
		"a double slash before it":                 {route.Conditions{PathPrefix: "/static"}, "//static/x", false},
		"an escape in the prefix":                  {route.Conditions{PathPrefix: "/static"}, "/st%61tic/x", false},
		"another case":                             {route.Conditions{PathPrefix: "/static"}, "/STATIC/x", false},
		"the folder itself where it must be below": {route.Conditions{PathPrefix: "/static/"}, "/static", false},
		"the folder by way of dots":                {route.Conditions{PathPrefix: "/static/"}, "/static/x/..", true},
		"parameters on the prefix":                 {route.Conditions{PathPrefix: "/static"}, "/static;v=1/x", false},
		"parameters below it":                      {route.Conditions{PathPrefix: "/static"}, "/static/x;v=1", true},
		"a suffix behind parameters":               {route.Conditions{PathSuffix: ".js"}, "/tickets;.js", false},
		"a suffix of the query":                    {route.Conditions{PathSuffix: ".js"}, "/tickets?.js", false},
		"a path in the query":                      {route.Conditions{Path: "/healthz"}, "/tickets?x=/healthz", false},
		"a suffix behind a hash":                   {route.Conditions{PathSuffix: "/healthz"}, "/tickets#/healthz", false},
		"a suffix behind an escaped hash":          {route.Conditions{PathSuffix: "/healthz"}, "/tickets%23/healthz", false},
		"a suffix behind an escaped question mark": {route.Conditions{PathSuffix: ".js"}, "/tickets%3f.js", false},
		"a suffix behind an escaped hash, twice":   {route.Conditions{PathSuffix: ".js"}, "/tickets%2523.js", false},
		"a suffix behind a NUL":                    {route.Conditions{PathSuffix: ".js"}, "/tickets%00.js", false},
		"a path of other letters, encoded":         {route.Conditions{Path: "/café"}, "/caf%C3%A9", true},
		"a path of other letters, not encoded":     {route.Conditions{Path: "/café"}, "/café", true},
		"an encoded path of other letters":         {route.Conditions{Path: "/caf%C3%A9"}, "/caf%C3%A9", true},
		"an encoded prefix of other letters":       {route.Conditions{PathPrefix: "/caf%c3%a9"}, "/caf%C3%A9/x", true},
		"an encoded suffix of other letters":       {route.Conditions{PathSuffix: "é.png"}, "/x/caf%C3%A9.png", true},
		"an encoded percent sign":                  {route.Conditions{Path: "/100%25"}, "/100%25", true},
		"the asterisk as a path":                   {route.Conditions{Path: "/"}, "*", true},
		"absolute form":                            {route.Conditions{Path: "/x"}, "http://a.test/x?y", true},
	} {
		t.Run(name, func(t *testing.T) {
			_, ok := newRules(t, test.conditions).Match(route.Request{Target: test.target})
			assert.Equal(t, test.want, ok)
		})
	}
}

func TestARuleOnAddressesNeedsAnAddress(t *testing.T) {
	rules := newRules(t, route.Conditions{CIDR: []string{"0.0.0.0/0", "::/0"}})
	_, ok := rules.Match(route.Request{})
	assert.False(t, ok)
	_, ok = rules.Match(route.Request{Addr: netip.MustParseAddr("fe80::1%eth0")})
	assert.True(t, ok)
}

func TestTheFirstRuleThatFitsIsNamed(t *testing.T) {
	rules := newRules(t, route.Conditions{Path: "/x"}, route.Conditions{Method: "GET"}, route.Conditions{PathPrefix: "/"})
	i, ok := rules.Match(route.Request{Target: "/a", Method: "GET"})
	assert.True(t, ok)
	assert.Equal(t, 1, i)

	_, ok = newRules(t).Match(route.Request{Target: "/a", Method: "GET"})
	assert.False(t, ok)
}

func TestCheckRulesFindsEveryFault(t *testing.T) {
	type conditions = route.Conditions
	for name, test := range map[string]struct {
		rule route.Rule
		want []string
	}{
		"nothing at all":         {route.Rule{}, []string{"action", "match"}},
		"an unknown action":      {route.Rule{Action: "bypass", Match: conditions{Path: "/"}}, []string{"action"}},
		"no condition":           {route.Rule{Action: route.BypassWaitingRoom, Description: "x"}, []string{"match"}},
		"paths":                  {route.Rule{Match: conditions{Path: "x", PathPrefix: "/a/*", PathSuffix: "*.js"}}, []string{"action", "match.path", "match.path_prefix", "match.path_suffix"}},
		"paths that turn":        {route.Rule{Match: conditions{Path: "/a;b", PathPrefix: "/a/../b", PathSuffix: "%23"}}, []string{"action", "match.path", "match.path_prefix", "match.path_suffix"}},
		"a method in lower case": {route.Rule{Match: conditions{Method: "get"}}, []string{"action", "match.method"}},
		"no method":              {route.Rule{Match: conditions{Method: "GET POST"}}, []string{"action", "match.method"}},
		"no prefixes":            {route.Rule{Match: conditions{CIDR: []string{"10.0.0.0/8", "10.0.0.0/33", "", "fe80::1%a"}}}, []string{"action", "match.cidr[1]", "match.cidr[2]", "match.cidr[3]"}},
		"no header":              {route.Rule{Match: conditions{Header: "a b: c"}}, []string{"action", "match.header"}},
		"a header of no name":    {route.Rule{Match: conditions{Header: ": c"}}, []string{"action", "match.header"}},
		"the host":               {route.Rule{Match: conditions{Header: "host: a.test"}}, []string{"action", "match.header"}},
		"cookies by header":      {route.Rule{Match: conditions{Header: "Cookie: a=b"}}, []string{"action", "match.header"}},
		"a user agent alone":     {route.Rule{Match: conditions{Header: "user-agent: probe", Method: "GET"}}, []string{"action", "match.header"}},
		"no cookie":              {route.Rule{Match: conditions{Cookie: "a b"}}, []string{"action", "match.cookie"}},
		"two cookies":            {route.Rule{Match: conditions{Cookie: "a=b; c=d"}}, []string{"action", "match.cookie"}},
	} {
		t.Run(name, func(t *testing.T) {
			good := route.Rule{Action: route.BypassWaitingRoom, Match: conditions{Path: "/"}}
			faults := route.CheckRules([]route.Rule{good, test.rule})
			var keys []string
			for _, fault := range faults {
				assert.Equal(t, 1, fault.Index)
				keys = append(keys, fault.Key)
			}
			assert.Equal(t, test.want, keys)

			_, err := route.NewRules(nil, []route.Rule{good, test.rule}, nil)
			var all route.Faults
			require.ErrorAs(t, err, &all)
			assert.Equal(t, faults, all)
		})
	}
	assert.Empty(t, route.CheckRules(nil))
}

func TestFaultsDoNotShowSecrets(t *testing.T) {
	faults := route.CheckRules([]route.Rule{{Match: route.Conditions{Header: "a b: hush", Cookie: "a=hush hush"}}})
	assert.Len(t, faults, 3)
	assert.NotContains(t, faults.Error(), "hush")
}
