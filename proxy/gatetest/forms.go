package gatetest

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// SendsForm sends the form of a page, with more fields.
func (v *Visitor) SendsForm(page Answer, more ...string) Answer {
	v.Fixture.T.Helper()
	action, fields := FormOf(v.Fixture.T, page.Body)
	for i := 0; i < len(more); i += 2 {
		fields.Set(more[i], more[i+1])
	}
	return v.PostForm(action, fields)
}

// FormOf is where the form of a page goes, and its fields.
func FormOf(t testing.TB, page string) (action string, fields url.Values) {
	t.Helper()
	_, form, found := strings.Cut(page, `<form method="post" action="`)
	require.True(t, found, page)
	action, form, _ = strings.Cut(form, `"`)
	form, _, _ = strings.Cut(form, "</form>")
	fields = url.Values{}
	for _, input := range strings.Split(form, "<input")[1:] {
		_, name, _ := strings.Cut(input, `name="`)
		name, _, _ = strings.Cut(name, `"`)
		_, value, _ := strings.Cut(input, `value="`)
		value, _, _ = strings.Cut(value, `"`)
		fields.Set(name, html.UnescapeString(value))
	}
	return html.UnescapeString(action), fields
}

// PostJSON sends fields as JSON, and asks for JSON.
func (v *Visitor) PostJSON(path string, sent map[string]string, changes ...func(*http.Request)) Answer {
	v.Fixture.T.Helper()
	text, err := json.Marshal(sent)
	require.NoError(v.Fixture.T, err)
	changes = append([]func(*http.Request){AsJSON, With("Content-Type", "application/json")}, changes...)
	return v.Send(http.MethodPost, path, strings.NewReader(string(text)), changes...)
}

// PostForm sends a form, as a page does.
func (v *Visitor) PostForm(path string, sent url.Values) Answer {
	v.Fixture.T.Helper()
	return v.Send(http.MethodPost, path, strings.NewReader(sent.Encode()), With("Content-Type", "application/x-www-form-urlencoded"))
}

// MovePath is where a place of the room called shop moves.
const MovePath = "/.fairdoor/move?room=shop"

// Link is the path and query of the link by which the visitor's place moves.
func (v *Visitor) Link() string { return v.LinkFrom("") }

// LinkFrom is Link, asked for with more of a query, and changes of the request.
func (v *Visitor) LinkFrom(query string, changes ...func(*http.Request)) string {
	v.Fixture.T.Helper()
	page := v.Get(MovePath+query, changes...)
	require.Equal(v.Fixture.T, http.StatusOK, page.Status, page.Body)
	assert.Contains(v.Fixture.T, page.Body, `src="data:image/svg+xml;base64,`)
	assert.Equal(v.Fixture.T, "strict-origin", page.Header.Get("Referrer-Policy"))
	_, link, found := strings.Cut(page.Body, `readonly dir="ltr" value="`)
	require.True(v.Fixture.T, found)
	link, _, _ = strings.Cut(link, `"`)
	_, link, found = strings.Cut(html.UnescapeString(link), v.Fixture.Public.URL)
	require.True(v.Fixture.T, found)
	return link
}

// Takes has another device take the place of a link.
func (v *Visitor) Takes(link string) {
	v.Fixture.T.Helper()
	require.Equal(v.Fixture.T, http.StatusSeeOther, v.SendsForm(v.Get(link)).Status)
}
