package route_test

import (
	"iter"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

// queryReader reads a parameter of a target's query in the way some kind of server does. Not found
// is what some servers make of an error, too.
type queryReader struct {
	name string
	read func(target, name string) (value string, found bool)
}

func queryOf(target string) string {
	_, query, _ := strings.Cut(target, "?")
	return query
}

// pick returns a value of the parameters that a server has found.
func pick(all url.Values, name string, last bool) (string, bool) {
	values := all[name]
	switch {
	case len(values) == 0:
		return "", false
	case last:
		return values[len(values)-1], true
	}
	return values[0], true
}

// split reads a query whose parameters have one of the bytes between them.
func split(query, between string, decode func(string) string) url.Values {
	all := url.Values{}
	for _, part := range strings.FieldsFunc(query, func(r rune) bool { return strings.ContainsRune(between, r) }) {
		name, value, _ := strings.Cut(part, "=")
		all[decode(name)] = append(all[decode(name)], decode(value))
	}
	return all
}

func leniently(s string) string { return decodeLeniently(strings.ReplaceAll(s, "+", " ")) }

func foldNames(all url.Values) url.Values {
	folded := url.Values{}
	for name, values := range all {
		folded[strings.ToLower(name)] = append(folded[strings.ToLower(name)], values...)
	}
	return folded
}

// queryReaders are models of servers, written apart from the code under test.
var queryReaders = []queryReader{
	{"Go, the first value", func(target, name string) (string, bool) {
		all, _ := url.ParseQuery(queryOf(target))
		return pick(all, name, false)
	}},
	{"Go, the last value", func(target, name string) (string, bool) {
		all, _ := url.ParseQuery(queryOf(target))
		return pick(all, name, true)
	}},
	{"one that has no query after an error", func(target, name string) (string, bool) {
		all, err := url.ParseQuery(queryOf(target))
		if err != nil {
			return "", false
		}
		return pick(all, name, true)
	}},
	{"one with semicolons between parameters, too", func(target, name string) (string, bool) {
		return pick(split(queryOf(target), "&;", leniently), name, false)
	}},
	{"a browser's URLSearchParams", func(target, name string) (string, bool) {
		target, _, _ = strings.Cut(target, "#")
		return pick(split(queryOf(target), "&", leniently), name, false)
	}},
	{"PHP", func(target, name string) (string, bool) {
		all := url.Values{}
		for called, values := range split(queryOf(target), "&", leniently) {
			called = strings.NewReplacer(".", "_", " ", "_").Replace(strings.TrimLeft(called, " "))
			called, _, _ = strings.Cut(called, "[")
			all[called] = append(all[called], values...)
		}
		return pick(all, strings.ReplaceAll(name, ".", "_"), true)
	}},
	{"ASP, which joins values and ignores case", func(target, name string) (string, bool) {
		values := foldNames(split(queryOf(target), "&", leniently))[strings.ToLower(name)]
		return strings.Join(values, ","), len(values) > 0
	}},
	{"one that decodes before it splits", func(target, name string) (string, bool) {
		query, _, _ := strings.Cut(leniently(queryOf(target)), "#")
		return pick(split(query, "&", func(s string) string { return s }), name, false)
	}},
	{"one that decodes twice", func(target, name string) (string, bool) {
		return pick(split(queryOf(target), "&", func(s string) string { return leniently(leniently(s)) }), name, false)
	}},
	{"a C program", func(target, name string) (string, bool) {
		query, _, _ := strings.Cut(leniently(queryOf(target)), "\x00")
		return pick(split(query, "&", func(s string) string { return s }), name, true)
	}},
	{"a rewriter that pastes the decoded path into a URL", func(target, name string) (string, bool) {
		path, query, _ := strings.Cut(target, "?")
		return pick(split(queryOf(leniently(path)+"?"+query), "&", leniently), name, false)
	}},
	{"one that takes the last question mark", func(target, name string) (string, bool) {
		return pick(split(target[strings.LastIndex(target, "?")+1:], "&", leniently), name, false)
	}},
}

// truth is whether conditions hold as an origin reads a request.
func truth(c *route.Conditions, path string, folded bool, value func(name string) (string, bool)) bool {
	same := func(s string) string { return s }
	if folded {
		path, same = strings.ToLower(path), strings.ToLower
	}
	holds := (c.Path == "" || path == same(c.Path)) &&
		(c.PathPrefix == "" || path == same(c.PathPrefix) || strings.HasPrefix(path, same(c.PathPrefix)+"/")) &&
		(c.PathSuffix == "" || strings.HasSuffix(path, same(c.PathSuffix)))
	if c.Query != "" {
		name, want, exact := strings.Cut(c.Query, "=")
		got, found := value(name)
		holds = holds && found && (!exact || got == want)
	}
	inner := func(c route.Conditions) bool { return truth(&c, path, folded, value) }
	return holds && !slices.ContainsFunc(c.All, func(c route.Conditions) bool { return !inner(c) }) &&
		(len(c.Any) == 0 || slices.ContainsFunc(c.Any, inner)) && !slices.ContainsFunc(c.Not, inner)
}

// drawnConditions draws conditions on the path and the query, with others in them to a depth.
func drawnConditions(depth int) *rapid.Generator[route.Conditions] {
	return rapid.Custom(func(t *rapid.T) route.Conditions {
		var c route.Conditions
		switch rapid.IntRange(0, 3).Draw(t, "leaf") {
		case 0:
			c.Path = rapid.SampledFrom([]string{"/tickets", "/a", "/static/a"}).Draw(t, "path")
		case 1:
			c.PathPrefix = rapid.SampledFrom([]string{"/tickets", "/static", "/a"}).Draw(t, "prefix")
		case 2:
			c.PathSuffix = rapid.SampledFrom([]string{"ts", "/a", ".js"}).Draw(t, "suffix")
		default:
			c.Query = rapid.SampledFrom([]string{"a", "a=1", "b.c=x", "b.c"}).Draw(t, "query")
		}
		if depth == 0 {
			return c
		}
		some := func(name string) []route.Conditions {
			return rapid.SliceOfN(drawnConditions(depth-1), 0, 2).Draw(t, name)
		}
		if c.All, c.Any, c.Not = some("all"), some("any"), some("not"); len(c.All)+len(c.Any)+len(c.Not) > 0 && rapid.Bool().Draw(t, "bare") {
			c.Path, c.PathPrefix, c.PathSuffix, c.Query = "", "", "", ""
		}
		return c
	})
}

// Pieces of which targets are made: those that rules name, in several spellings.
var (
	pathPieces  = []string{"tickets", "TICKETS", "%74ickets", "static", "a", "A", ".js", "..", "/../", "/", "/", "/", "%2f", ";x", "%00", "%3fa=1", "%20", "//"}
	queryPieces = []string{
		"a=1", "a=1", "a=1", "a=2", "A=2", "b.c=x", "b.c=x", "b_c=y", "b%2ec=y", "a[]=2", "a=%31", "%61=2", "%2561=2", "n=%26a=2", "n=%2526a=2",
		"&", "&", "&", "&", "&", "&", ";", "#", "?", "+", "%00", "%zz", "%", "%23", "%3f", "é", ",",
	}
)

func drawnTarget(t *rapid.T) string {
	target := "/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pathPieces), 0, 4).Draw(t, "path"), "")
	if query := rapid.SliceOfN(rapid.SampledFrom(queryPieces), 0, 5).Draw(t, "query"); len(query) > 0 {
		target += "?" + strings.Join(query, "")
	}
	return target
}

// mangles says whether an origin makes one of several letter cases.
func mangles(o origin) bool {
	return strings.Contains(o.name, "IIS") || strings.Contains(o.name, "case")
}

// A rule exempts only what it fits for every server, however it reads path and query, and
// flags whatever it fits for any, with all, any and not as deep as can be.
func TestRulesHoldForEveryServer(t *testing.T) {
	exempted, flagged := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawnConditions(2).Draw(t, "conditions")
		bypass, err := route.NewRules(nil, []route.Rule{{Action: route.BypassWaitingRoom, Match: c}}, nil)
		require.NoError(t, err)
		endless, err := route.NewRules(nil, []route.Rule{{Action: route.EndlessLine, Match: c}}, nil)
		require.NoError(t, err)
		for range 60 {
			target := drawnTarget(t)
			_, exempt := bypass.Match(route.Request{Target: target})
			_, flag := endless.Match(route.Request{Target: target})
			require.False(t, exempt && !flag, "%q is surely what it may not be", target)
			for reader, holds := range truths(&c, target) {
				require.True(t, holds || !exempt, "%q is exempt, and not for %s", target, reader)
				require.True(t, !holds || flag, "%q is not flagged, and is for %s", target, reader)
			}
			if exempt {
				exempted++
			} else if flag {
				flagged++
			}
		}
	})
	assert.Positive(t, exempted, "no rule has exempted anything: this tests nothing")
	assert.Positive(t, flagged)
}

// found is a parameter that a server finds, or does not.
type found struct {
	value string
	is    bool
}

// parameters are those that rules name, as a server finds them.
type parameters [2]found

func (p parameters) value(name string) (string, bool) {
	of := p[0]
	if name == "b.c" {
		of = p[1]
	}
	return of.value, of.is
}

// truths yields whether conditions hold for a target, as each kind of server reads path and query.
// Of servers that read alike it asks one.
func truths(c *route.Conditions, target string) iter.Seq2[string, bool] {
	path, _, _ := strings.Cut(target, "?")
	queries, paths := map[parameters]string{}, map[string]string{}
	for _, q := range queryReaders {
		var p parameters
		p[0].value, p[0].is = q.read(target, "a")
		p[1].value, p[1].is = q.read(target, "b.c")
		queries[p] = q.name
	}
	for _, o := range origins {
		if served, ok := o.read(path); ok && (paths[served] == "" || !mangles(o)) {
			paths[served] = o.name
		}
	}
	return func(yield func(string, bool) bool) {
		for served, o := range paths {
			for p, q := range queries {
				reader := o + ", with a query as in " + q
				if !yield(reader+", without letter case", truth(c, served, true, p.value)) ||
					!mangles(origin{name: o}) && !yield(reader, truth(c, served, false, p.value)) {
					return
				}
			}
		}
	}
}

func TestConditionsOnTheQuery(t *testing.T) {
	for target, want := range map[string]struct{ value, name bool }{
		"/?preview=on":                  {true, true},
		"/?a=b&preview=on&c":            {true, true},
		"/?q=%C3%A9+x%20y&preview=on":   {true, true},
		"/?preview=off":                 {false, true},
		"/?preview":                     {false, true},
		"/":                             {false, false},
		"/preview=on":                   {false, false},
		"/?previews=on":                 {false, false},
		"/?preview=on&preview=on":       {false, true},
		"/?preview=on&preview=off":      {false, true},
		"/?preview=on&PREVIEW=off":      {false, false},
		"/?preview=on&preview[]=off":    {false, false},
		"/?preview=on&%70review=off":    {false, false},
		"/?preview=on&%2570review=off":  {false, false},
		"/?preview=on&a=%26preview=off": {false, true},
		"/?Preview=on":                  {false, false},
		"/?%70review=on":                {false, false},
		"/?preview=%6fn":                {false, true},
		"/?a;preview=on":                {false, false},
		"/?preview=on;a":                {false, false},
		"/?preview=on&%zz":              {false, false},
		"/?preview=on&a=100%25":         {false, false},
		"/?a=%23&preview=on":            {false, false},
		"/?a=%00&preview=on":            {false, false},
		"/?a=b?c&preview=on":            {false, false},
		"/?preview=on#x":                {false, false},
		"/%3fa?preview=on":              {false, false},
		"/?a=\xff&preview=on":           {false, false},
		"/?" + strings.Repeat("a&", 100) + "preview=on":    {false, false},
		"/?a=" + strings.Repeat("a", 8192) + "&preview=on": {false, false},
	} {
		_, value := newRules(t, route.Conditions{Query: "preview=on"}).Match(route.Request{Target: target})
		assert.Equal(t, want.value, value, "the value in %.80q", target)
		_, name := newRules(t, route.Conditions{Query: "preview"}).Match(route.Request{Target: target})
		assert.Equal(t, want.name, name, "the name in %.80q", target)
	}
}

func TestWhatIsInDoubtDoesNotExempt(t *testing.T) {
	request := route.Request{Method: "GET", Target: "/x?a=1", Addr: netip.MustParseAddr("192.0.2.7"), Header: http.Header{"X-Plan": {"free, Trial"}, "Cookie": {"Plan=%66ree"}}}
	for name, tt := range map[string]struct {
		not    route.Conditions
		change func(*route.Request)
		want   bool
	}{
		"another path":                 {route.Conditions{Path: "/tickets"}, nil, true},
		"the path in another case":     {route.Conditions{Path: "/X"}, nil, false},
		"the path of what it is below": {route.Conditions{Path: "/tickets.php"}, func(r *route.Request) { r.Target = "/tickets.php/x" }, false},
		"all but the root":             {route.Conditions{Path: "/"}, nil, true},
		"an ambiguous target":          {route.Conditions{Path: "/tickets"}, func(r *route.Request) { r.Target = "/%u0074" }, false},
		"a suffix, and what follows":   {route.Conditions{PathSuffix: ".PHP"}, func(r *route.Request) { r.Target = "/a.php/x.js" }, false},
		"another method":               {route.Conditions{Method: "POST"}, nil, true},
		"the method in lower case":     {route.Conditions{Method: "POST"}, func(r *route.Request) { r.Method = "post" }, false},
		"the method in a header":       {route.Conditions{Method: "POST"}, func(r *route.Request) { r.Header = http.Header{"X-Http-Method-Override": {"POST"}} }, false},
		"another network":              {route.Conditions{CIDR: []string{"10.0.0.0/8"}}, nil, true},
		"an address that is not known": {route.Conditions{CIDR: []string{"10.0.0.0/8"}}, func(r *route.Request) { r.Addr = netip.Addr{} }, false},
		"another value of a header":    {route.Conditions{Header: "X-Plan: paid"}, nil, true},
		"an element of a header":       {route.Conditions{Header: "X-Plan: trial"}, nil, false},
		"a header in another spelling": {route.Conditions{Header: "X-Plan"}, func(r *route.Request) { r.Header = http.Header{"X_plan": {"x"}} }, false},
		"a cookie in another spelling": {route.Conditions{Cookie: "plan=free"}, nil, false},
		"another value of a cookie":    {route.Conditions{Cookie: "plan=paid"}, nil, true},
		"another value of a parameter": {route.Conditions{Query: "a=2"}, nil, true},
		"a parameter in another case":  {route.Conditions{Query: "A"}, nil, false},
		"one of two parameters":        {route.Conditions{Query: "a=2"}, func(r *route.Request) { r.Target = "/x?a=1&a=2" }, false},
		"a parameter that is hidden":   {route.Conditions{Query: "b"}, func(r *route.Request) { r.Target = "/x?a=1%26b" }, false},
		"not not":                      {route.Conditions{Not: []route.Conditions{{Path: "/x"}}}, nil, true},
		"not not, in another case":     {route.Conditions{Not: []route.Conditions{{Path: "/X"}}}, nil, false},
		"one of two":                   {route.Conditions{Any: []route.Conditions{{Path: "/y"}, {Query: "a"}}}, nil, false},
		"none of two":                  {route.Conditions{Any: []route.Conditions{{Path: "/y"}, {Query: "b"}}}, nil, true},
		"both of two":                  {route.Conditions{All: []route.Conditions{{Path: "/x"}, {Query: "a"}}}, nil, false},
		"one of two, which both must":  {route.Conditions{All: []route.Conditions{{Path: "/x"}, {Query: "b"}}}, nil, true},
	} {
		asked := request
		if tt.change != nil {
			tt.change(&asked)
		}
		_, ok := newRules(t, route.Conditions{Not: []route.Conditions{tt.not}}).Match(asked)
		assert.Equal(t, tt.want, ok, name)
	}
}

func TestARuleFlagsWhateverMayFit(t *testing.T) {
	rules, err := route.NewRules(nil, []route.Rule{
		{Action: route.BypassWaitingRoom, Match: route.Conditions{Cookie: "staff=yes"}},
		{Action: route.EndlessLine, Match: route.Conditions{CIDR: []string{"192.0.2.0/24"}, PathPrefix: "/tickets"}},
		{Action: route.EndlessLine, Match: route.Conditions{Header: "User-Agent: curl/8"}},
	}, nil)
	require.NoError(t, err)
	require.True(t, rules.Flag())
	flags := func(target, addr string, header http.Header) bool {
		of, _ := netip.ParseAddr(addr)
		i, ok := rules.Match(route.Request{Target: target, Addr: of, Header: header})
		return ok && rules.Action(i) == route.EndlessLine
	}
	assert.True(t, flags("/tickets", "192.0.2.1", nil))
	assert.True(t, flags("/x/..%2fTICKETS", "192.0.2.1", nil), "one reading will do")
	assert.True(t, flags("/%u0074", "192.0.2.1", nil), "so will a path that nobody can tell")
	assert.False(t, flags("/home", "192.0.2.1", nil))
	assert.False(t, flags("/tickets", "198.51.100.1", nil))
	assert.False(t, flags("/tickets", "", nil), "nobody is flagged by an address that is not known")
	assert.True(t, flags("/home", "", http.Header{"User-Agent": {"curl/8"}}))
	assert.False(t, flags("/home", "", http.Header{"User-Agent": {"curl/81"}}))
	assert.False(t, flags("/tickets", "192.0.2.1", http.Header{"Cookie": {"staff=yes"}}), "the first rule that fits decides")
}
