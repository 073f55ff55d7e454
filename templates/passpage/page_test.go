package passpage_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/templates"
	"github.com/fairdoor-gate/fairdoor/templates/passpage"
)

var views = map[string]passpage.View{
	"a code":       {State: passpage.Code, Only: true, Path: "/.fairdoor/pass/shop", Once: "x"},
	"a wrong code": {State: passpage.Code, Only: true, Wrong: true},
	"a link":       {State: passpage.Link, Token: "t0k3n"},
	"carry":        {State: passpage.Carry, Link: "https://shop.test/x", Picture: "data:image/svg+xml;base64,x"},
	"take":         {State: passpage.Take, Token: "t0k3n"},
	"moved":        {State: passpage.Moved, Enter: "/"},
	"gone":         {State: passpage.Gone},
	"unavailable":  {State: passpage.Unavailable},
}

func TestEveryPageIsThereInEveryLanguage(t *testing.T) {
	codes, err := templates.LanguageCodes()
	require.NoError(t, err)
	p, err := passpage.New("", templates.Identity{SiteName: "Nordlys"})
	require.NoError(t, err)
	for _, code := range codes {
		for name, v := range views {
			page := string(p.AppendTo(nil, code, v))
			assert.Contains(t, page, `<html lang="`+code+`" dir="`)
			assert.NotContains(t, page, "[[", name)
			assert.NotContains(t, page, "{{", name)
			assert.NotContains(t, page, "<h1></h1>", name)
			assert.NotContains(t, page, "<script", name)
		}
	}
}

func TestAPageSaysWhatItsStateIs(t *testing.T) {
	p, err := passpage.New("", templates.Identity{})
	require.NoError(t, err)
	page := func(name string) string { return string(p.AppendTo(nil, "en-US", views[name])) }
	assert.Contains(t, page("a code"), "Only people with a link or a code can come in right now.")
	assert.Contains(t, page("a code"), `action="/.fairdoor/pass/shop"`)
	assert.Contains(t, page("a wrong code"), `role="alert">This code does not work.`)
	assert.Contains(t, page("a link"), `name="token" value="t0k3n"`)
	assert.NotContains(t, page("a link"), `name="code"`)
	assert.NotContains(t, page("gone"), "<form")
	assert.Contains(t, page("carry"), `readonly dir="ltr" value="https://shop.test/x"`)
	assert.Contains(t, page("take"), "Your place moves to this device.")
	assert.Contains(t, page("moved"), "<h1>Your place is on another device</h1>")
	hostile := string(p.AppendTo(nil, "en-US", passpage.View{State: passpage.Link, Token: `"><script>`, Message: "\xff<b>"}))
	assert.False(t, strings.Contains(hostile, "<script>") || strings.Contains(hostile, "<b>"))
}
