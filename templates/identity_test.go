package templates_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/templates"
)

func TestTextOnAnyAccentCanBeRead(t *testing.T) {
	page, err := templates.Parse([]byte("{{accentText}}"))
	require.NoError(t, err)
	readable := func(t require.TestingT, colour string) {
		require.Empty(t, templates.CheckAccent(colour))
		rendered, err := page.Render(templates.Data{Identity: templates.Identity{Accent: colour}})
		require.NoError(t, err)
		text := string(rendered.AppendTo(nil, templates.Visitor{}))
		require.GreaterOrEqual(t, contrast(t, text, strings.ToLower(colour)), 4.5, "%s on %s", text, colour)
	}
	for _, colour := range []string{"#000", "#fff", "#777777", "#767676", "#1fd3a5", "#F00", "#00f", "#0a7d55"} {
		readable(t, colour)
	}
	rapid.Check(t, func(t *rapid.T) { readable(t, fmt.Sprintf("#%06x", rapid.Uint32Range(0, 1<<24-1).Draw(t, "colour"))) })
}

func TestWhatIdentifiesASiteIsChecked(t *testing.T) {
	for _, wrong := range []string{"", "red", "#12", "#12345", "#1234567", "123456", "#12345g", "#+12345", "#0a7d5é", "#fff}body{}", "#abc;"} {
		assert.NotEmpty(t, templates.CheckAccent(wrong), wrong)
	}
	for _, right := range []string{"https://help.example/", "http://a.example?x=1", "mailto:help@example.com", "tel:+4930123456"} {
		assert.Empty(t, templates.CheckHelpURL(right), right)
	}
	for _, wrong := range []string{"", "/help", "help", "//help.example/", "javascript:alert(1)", "data:text/html,x", "https:", "https:///x", "mailto:", "ftp://a.example/", "http://[", "https://a b/"} {
		assert.NotEmpty(t, templates.CheckHelpURL(wrong), wrong)
	}
	assert.Empty(t, templates.CheckSiteName("Nordlys <& Co>"))
	assert.NotEmpty(t, templates.CheckSiteName("a\nb"))
	assert.NotEmpty(t, templates.CheckSiteName(strings.Repeat("é", 81)))
}

func TestALogoIsAPictureThatBrowsersShow(t *testing.T) {
	for kind, source := range map[string]string{
		"image/png": "\x89PNG\r\n\x1a\n", "image/jpeg": "\xff\xd8\xff\xe0", "image/gif": "GIF89a", "image/webp": "RIFF\x00\x00\x00\x00WEBPVP8 ",
		"image/svg+xml": "\n<?xml version='1.0'?>\n<!-- a --><svg xmlns='http://www.w3.org/2000/svg'/>",
	} {
		logo, err := templates.NewPicture([]byte(source))
		require.NoError(t, err, kind)
		assert.Equal(t, kind, logo.Type)
		assert.Regexp(t, `^[0-9a-f]{16}\.(png|jpg|gif|webp|svg)$`, logo.Name)
	}
	for _, source := range []string{"", "<!doctype html><p>", "svg", "\x00\x00", "BM\x00\x00"} {
		_, err := templates.NewPicture([]byte(source))
		assert.ErrorContains(t, err, "is no picture", "%q", source)
	}
	_, err := templates.NewPicture(append([]byte("GIF89a"), make([]byte, 256<<10)...))
	assert.ErrorContains(t, err, "at most 262144")
}
