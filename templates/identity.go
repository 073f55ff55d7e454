package templates

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Identity is what the pages of a room show of the site that it belongs to. Each field may be
// empty.
type Identity struct {
	// SiteName is the name of the site, as people know it.
	SiteName string
	// Logo is the address of a picture on the gate itself.
	Logo string
	// Hero is the address of a wide one at the head of the page, and HeroAlt what it shows, for those
	// who do not see it: "" says that it shows nothing that they would miss.
	Hero, HeroAlt string
	// Accent is a colour such as "#0a7d55": of buttons and of decoration.
	Accent string
	// Background and Card are the colours of the page and, if it is to be another, of what is
	// behind its text; Font is a list of fonts such as "Georgia, serif". See theme.
	Background, Card, Font string
	// HelpURL is where people find help.
	HelpURL string
}

// variables are the values that a template has of the site.
func (i Identity) variables() map[string]any {
	return map[string]any{"siteName": i.SiteName, "helpUrl": i.HelpURL, "logo": i.Logo, "hero": i.Hero, "heroAlt": i.HeroAlt, "accent": i.Accent, "accentText": i.AccentText(), "theme": i.theme()}
}

const maxSiteName = 80

// CheckSiteName says what is wrong with the name of a site, "" for nothing. It continues a
// sentence that begins with the name.
func CheckSiteName(name string) string {
	switch {
	case utf8.RuneCountInString(name) > maxSiteName:
		return fmt.Sprintf("is too long: at most %d characters", maxSiteName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "holds a control character"
	}
	return ""
}

// CheckAccent says what is wrong with a colour, "" for nothing. It continues a sentence that
// begins with the colour.
func CheckAccent(colour string) string {
	if _, ok := parseColour(colour); !ok {
		return "is not a colour such as #0a7d55"
	}
	return ""
}

// CheckHelpURL says what is wrong with the address of help, "" for nothing. It continues a
// sentence that begins with the address. A path on the same site would lead into the line.
func CheckHelpURL(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil:
	case (u.Scheme == "https" || u.Scheme == "http") && u.Host != "":
		return ""
	case (u.Scheme == "mailto" || u.Scheme == "tel") && u.Opaque != "":
		return ""
	}
	return "is not a URL such as https://help.example.com/ or mailto:help@example.com"
}

// AccentText is the colour of text on the accent, black or white; "" without an accent.
func (i Identity) AccentText() string {
	accent, ok := parseColour(i.Accent)
	switch {
	case !ok:
		return ""
	case accent.opposite() == black:
		return "#000"
	}
	return "#fff"
}
