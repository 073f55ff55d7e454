package guestpage_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/templates"
	"github.com/fairdoor-gate/fairdoor/templates/guestpage"
)

var update = flag.Bool("update", false, "write the golden files anew")

func newPages(t testing.TB, i templates.Identity) *guestpage.Pages {
	t.Helper()
	p, err := guestpage.New(guestpage.Options{Identity: i})
	require.NoError(t, err)
	return p
}

func pageOf(t testing.TB, code string, v guestpage.View) string {
	t.Helper()
	return string(newPages(t, templates.Identity{}).AppendTo(nil, code, v))
}

func codes(t testing.TB) []string {
	t.Helper()
	list, err := templates.LanguageCodes()
	require.NoError(t, err)
	return list
}

// inner is what a page says: all between the heading and the script, which all pages share.
func inner(page string) string {
	_, page, _ = strings.Cut(page, "<main")
	page, _, _ = strings.Cut(page, "<script>")
	return "<main" + page
}

// golden compares what is said on pages with the file of this name in testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to record it")
	assert.Equal(t, string(want), text)
}

func TestThePagesAreAsRecorded(t *testing.T) {
	for _, code := range []string{"en-US", "he-IL"} {
		var all strings.Builder
		for _, s := range guestpage.Samples() {
			all.WriteString("<!-- " + s.Name + " -->\n" + inner(pageOf(t, code, s.View)) + "\n")
		}
		golden(t, code+".html", all.String())
	}
	golden(t, "waiting.html", string(newPages(t, templates.Identity{
		SiteName: "Nordlys Festival", Logo: "/.fairdoor/logo/1.svg", Accent: "#1fd3a5", HelpURL: "https://nordlys.example/help",
	}).AppendTo(nil, "en-US", sample(t, "waiting"))))
}

func sample(t testing.TB, name string) guestpage.View {
	t.Helper()
	for _, s := range guestpage.Samples() {
		if s.Name == name {
			return s.View
		}
	}
	require.Fail(t, "no such sample", name)
	return guestpage.View{}
}

func TestEveryPageIsBuiltForEveryoneInEveryLanguage(t *testing.T) {
	p := newPages(t, templates.Identity{})
	said := map[string]string{}
	for _, code := range codes(t) {
		for _, s := range guestpage.Samples() {
			page := string(p.AppendTo(nil, code, s.View))
			assert.Contains(t, page, `<html lang="`+code+`" dir="`)
			assert.NotContains(t, page, "[[", "every string is filled in")
			assert.NotContains(t, page, "{{", "every variable is filled in")
			assert.NotRegexp(t, `(?i)<[^>]* (style|on\w+)=`, page, "the policy forbids it")
			for tag, n := range map[string]int{"<title>": 1, "<main": 1, "<h1>": 1, `id="wait"`: 1} {
				assert.LessOrEqual(t, strings.Count(page, tag), n, "%s %s %s", code, s.Name, tag)
			}
			assert.NotContains(t, page, "<h1></h1>", "%s %s", code, s.Name)
			if before, ok := said[s.Name]; ok {
				assert.NotEqual(t, before, page)
			}
			said[s.Name] = page
		}
	}
}

func TestAnUnknownLanguageIsTheDefault(t *testing.T) {
	assert.Equal(t, pageOf(t, "en-US", guestpage.View{}), pageOf(t, "xx", guestpage.View{}))
	p, err := guestpage.New(guestpage.Options{DefaultLanguage: "de-DE"})
	require.NoError(t, err)
	assert.Equal(t, "de-DE", p.Match("xx"))
	assert.Equal(t, "de-DE", p.Default())
	assert.Equal(t, "he-IL", p.Match("he"))
	_, err = guestpage.New(guestpage.Options{DefaultLanguage: "klingon"})
	assert.ErrorContains(t, err, `unknown language "klingon"`)
}

func TestWhatThePagesCarryIsWhatTheirPolicyAllows(t *testing.T) {
	p := newPages(t, templates.Identity{Logo: "/logo.png", Accent: "#0a7d55"})
	page, policy := string(p.AppendTo(nil, "en-US", sample(t, "waiting"))), p.ContentSecurityPolicy()
	for element, directive := range map[string]string{"script": "script-src", "style": "style-src"} {
		_, allowed, _ := strings.Cut(policy, directive+" ")
		allowed, _, _ = strings.Cut(allowed, ";")
		carried := regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllStringSubmatch(page, -1)
		require.NotEmpty(t, carried)
		var hashes []string
		for _, match := range carried {
			sum := sha256.Sum256([]byte(match[1]))
			hashes = append(hashes, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		}
		assert.ElementsMatch(t, hashes, strings.Fields(allowed), element)
	}
	for _, rule := range []string{"default-src 'none'", "connect-src 'self'", "img-src data: 'self'", "base-uri 'none'", "form-action 'self'"} {
		assert.Contains(t, policy, rule)
	}
}

// forms are the forms of a page: for each the address that it posts to, and its fields.
func forms(t testing.TB, page string) map[string]map[string]string {
	t.Helper()
	found, action := map[string]map[string]string{}, ""
	for z := html.NewTokenizer(strings.NewReader(page)); z.Next() != html.ErrorToken; {
		token := z.Token()
		attributes := map[string]string{}
		for _, a := range token.Attr {
			attributes[a.Key] = a.Val
		}
		switch {
		case token.Data == "form" && token.Type == html.StartTagToken:
			require.Equal(t, "post", attributes["method"])
			action = attributes["action"]
			if found[action] == nil {
				found[action] = map[string]string{}
			}
		case token.Data == "input" && attributes["name"] != "":
			found[action][attributes["name"]] = attributes["value"]
		}
	}
	return found
}

func TestTheFormsSendWhatTheGateAsksFor(t *testing.T) {
	type fields = map[string]string
	const path = "/.fairdoor/waitlist/beta"
	cases := map[string]struct {
		view guestpage.View
		want map[string]fields
	}{
		"somebody new":                {guestpage.View{}, map[string]fields{path: {"email": ""}}},
		"by a friend's link":          {guestpage.View{Referral: "abc"}, map[string]fields{path: {"email": "", "referral": "abc"}}},
		"a form that comes back":      {guestpage.View{Problem: guestpage.NoAddress, Email: "a@"}, map[string]fields{path: {"email": "a@"}}},
		"a user of the site":          {guestpage.View{Named: true, Referral: "abc"}, map[string]fields{path: {"referral": "abc"}}},
		"after an invite has expired": {guestpage.View{State: guestpage.Expired, Once: true}, map[string]fields{path: {"email": ""}}},
		"an address to confirm":       {guestpage.View{State: guestpage.Confirm, Token: "t"}, map[string]fields{path + "/confirm": {"token": "t"}}},
		"an invite by link":           {guestpage.View{State: guestpage.Invited, Token: "t"}, map[string]fields{path + "/invite": {"token": "t"}}},
		"an invite by cookie":         {guestpage.View{State: guestpage.Invited}, map[string]fields{path + "/invite": {}, path: {"leave": "yes"}}},
		"one who waits":               {guestpage.View{State: guestpage.Waiting}, map[string]fields{path: {"leave": "yes"}}},
		"one who waits, once":         {guestpage.View{State: guestpage.Waiting, Once: true}, map[string]fields{}},
		"one who has accepted":        {guestpage.View{State: guestpage.Accepted, Enter: "/"}, map[string]fields{path: {"leave": "yes"}}},
		"a link that is used":         {guestpage.View{State: guestpage.Gone, Token: "t"}, map[string]fields{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.view.Path = path
			assert.Equal(t, c.want, forms(t, pageOf(t, "en-US", c.view)))
		})
	}
}

func TestAFormThatComesBackSaysWhatIsWrongWhereTheFocusIs(t *testing.T) {
	focused := regexp.MustCompile(`<(?:input|button)[^>]* autofocus>`)
	wrong := pageOf(t, "en-US", guestpage.View{Problem: guestpage.NoAddress})
	assert.Contains(t, wrong, `<p id="problem" role="alert">This is not an e-mail address.`)
	assert.Regexp(t, `<input id="email".* aria-describedby="problem about" aria-invalid="true" autofocus>`, wrong)
	many := pageOf(t, "en-US", guestpage.View{Problem: guestpage.TooMany})
	assert.Contains(t, many, `<p id="problem" role="alert">Too many people have signed up`)
	assert.NotContains(t, many, "aria-invalid=", "nothing is wrong with the address")
	for _, page := range []string{wrong, many, pageOf(t, "en-US", guestpage.View{Problem: guestpage.TooMany, Named: true})} {
		require.Len(t, focused.FindAllString(page, -1), 1)
		assert.Contains(t, focused.FindString(page), `aria-describedby="problem`)
	}
	assert.NotContains(t, inner(pageOf(t, "en-US", guestpage.View{})), "problem")
}

func TestAPageSaysWhatHoldsForItsReaderOnly(t *testing.T) {
	waiting := func(change func(*guestpage.View)) string {
		v := sample(t, "waiting")
		change(&v)
		return inner(pageOf(t, "en-US", v))
	}
	assert.NotContains(t, waiting(func(v *guestpage.View) { v.Boosts = false }), "friend")
	assert.NotContains(t, waiting(func(v *guestpage.View) { v.Rank = 0 }), "Your place in line")
	assert.NotContains(t, waiting(func(v *guestpage.View) { v.Named = true }), "We will write to you")
	assert.NotContains(t, waiting(func(v *guestpage.View) { v.Once = true }), "data-refresh")
	direct := inner(pageOf(t, "en-US", guestpage.View{Direct: true}))
	assert.NotContains(t, direct, "confirm", "no mail is sent to confirm it")
	assert.NotContains(t, direct, "Already on the list?", "no link is sent")
	assert.Contains(t, direct, "your data is erased")
}

func TestTheEndOfAnInviteHasItsDateAndZone(t *testing.T) {
	at := time.Date(2026, 11, 24, 19, 42, 0, 0, time.FixedZone("CET", 3600))
	page := pageOf(t, "en-US", guestpage.View{State: guestpage.Invited, ExpiresAt: at})
	assert.Contains(t, page, `datetime="2026-11-24T18:42:00Z">2026-11-24 18:42 UTC</time>`)
}

func TestOnlyThePageOfThoseWhoWaitRefreshesItself(t *testing.T) {
	for _, s := range guestpage.Samples() {
		refreshes := strings.Contains(pageOf(t, "en-US", s.View), `<noscript><meta http-equiv="refresh" content="120; url=/.fairdoor/waitlist/beta"></noscript>`)
		assert.Equal(t, s.View.State == guestpage.Waiting && !s.View.Once, refreshes, s.Name)
	}
}

// views are any that a gate may hand over, with texts of strangers.
func views() *rapid.Generator[guestpage.View] {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", `"><i>`, "{{token}}{{#full}}", "[[signUp]]", "\xff\xfe<", "&lt;", "</main>", "\x00", "\u202e"}))
	states := rapid.SampledFrom([]guestpage.State{
		"", "else", guestpage.SignUp, guestpage.Sent, guestpage.Waiting, guestpage.Confirm, guestpage.Invited, guestpage.Accepted, guestpage.Expired,
		guestpage.Gone, guestpage.Left, guestpage.Unavailable,
	})
	return rapid.Custom(func(t *rapid.T) guestpage.View {
		return guestpage.View{
			State: states.Draw(t, "state"), Path: text.Draw(t, "path"), Problem: guestpage.Problem(text.Draw(t, "problem")), Email: text.Draw(t, "email"),
			Referral: text.Draw(t, "referral"), Named: rapid.Bool().Draw(t, "named"), Direct: rapid.Bool().Draw(t, "direct"), Token: text.Draw(t, "token"),
			Rank: rapid.Int().Draw(t, "rank"), Total: rapid.Int().Draw(t, "total"), ReferralLink: text.Draw(t, "link"),
			ReferralsMade: rapid.Int().Draw(t, "made"), Boosts: rapid.Bool().Draw(t, "boosts"),
			Moves: rapid.SliceOf(rapid.Custom(func(t *rapid.T) guestpage.Move {
				return guestpage.Move{Title: text.Draw(t, "title"), Points: rapid.Int().Draw(t, "points")}
			})).Draw(t, "moves"),
			Once: rapid.Bool().Draw(t, "once"), ExpiresAt: time.Unix(rapid.Int64Range(0, 1<<34).Draw(t, "expires"), 0),
			Enter: text.Draw(t, "enter"), Full: rapid.Bool().Draw(t, "full"), Message: text.Draw(t, "message"),
		}
	})
}

// elements counts the elements of a page, and the attributes of each kind of element.
func elements(page string) map[string]bool {
	found := map[string]bool{}
	for z := html.NewTokenizer(strings.NewReader(page)); z.Next() != html.ErrorToken; {
		token := z.Token()
		if token.Type == html.TextToken {
			continue
		}
		found[token.Data] = true
		for _, a := range token.Attr {
			found[token.Data+" "+a.Key] = true
		}
	}
	return found
}

func TestWhatStrangersSendStaysText(t *testing.T) {
	const breakingOut = `"><i onclick='x'></title></h1>{{token}}[[signUp]]`
	const hostile = breakingOut + "\xff"
	p := newPages(t, templates.Identity{SiteName: breakingOut, HelpURL: breakingOut})
	plain := elements(pageWithEverything(t))
	for _, s := range guestpage.Samples() {
		v := s.View
		v.Path, v.Email, v.Referral, v.Token, v.ReferralLink, v.Enter, v.Message = hostile, hostile, hostile, hostile, hostile, hostile, hostile
		page := string(p.AppendTo(nil, "en-US", v))
		for element := range elements(page) {
			assert.True(t, plain[element], "%s: %q is no element or attribute of the pages'", s.Name, element)
		}
		assert.True(t, utf8.ValidString(page), s.Name)
	}
}

func TestNoTextSpoilsAPage(t *testing.T) {
	p := newPages(t, templates.Identity{SiteName: "x", HelpURL: "https://x/"})
	plain := elements(pageWithEverything(t))
	rapid.Check(t, func(t *rapid.T) {
		page := string(p.AppendTo([]byte("before "), "en-US", views().Draw(t, "view")))
		require.True(t, strings.HasPrefix(page, "before <!doctype html>"))
		require.True(t, strings.HasSuffix(page, "</html>\n"))
		for element := range elements(page) {
			require.True(t, plain[element], "%q is no element or attribute of the pages'", element)
		}
	})
}

// pageWithEverything has all elements and attributes that pages have.
func pageWithEverything(t testing.TB) string {
	p := newPages(t, templates.Identity{SiteName: "x", HelpURL: "https://x/"})
	all := "before "
	for _, s := range guestpage.Samples() {
		for _, named := range []bool{false, true} {
			s.View.Named, s.View.Message = named, "x"
			all += string(p.AppendTo(nil, "en-US", s.View))
		}
	}
	return all
}

// Nobody learns from the page, or from its size, whether an address is on the list.
func TestThePageAfterASignUpHasNothingOfTheEntry(t *testing.T) {
	p := newPages(t, templates.Identity{})
	rapid.Check(t, func(t *rapid.T) {
		v := views().Draw(t, "view")
		v.State = guestpage.Sent
		same := guestpage.View{State: guestpage.Sent, Path: v.Path, Email: v.Email, Message: v.Message}
		require.Equal(t, string(p.AppendTo(nil, "en-US", same)), string(p.AppendTo(nil, "en-US", v)))
	})
}

func TestEveryStringOfTheSectionIsSaid(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("page", "page.html"))
	require.NoError(t, err)
	english, err := os.ReadFile(filepath.Join("..", "lang", "en-US.json"))
	require.NoError(t, err)
	var file struct{ Guests map[string]string }
	require.NoError(t, json.Unmarshal(english, &file))
	require.NotEmpty(t, file.Guests)
	headings := map[string]bool{}
	for _, s := range guestpage.Samples() {
		headings[string(s.View.State)] = true
	}
	for key := range file.Guests {
		assert.True(t, headings[key] || strings.Contains(string(source), "[["+key+"]]"), key)
	}
}
