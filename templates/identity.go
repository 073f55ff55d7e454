package templates

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
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
	// Accent is a colour such as "#0a7d55": of buttons and of decoration.
	Accent string
	// HelpURL is where people find help.
	HelpURL string
}

// variables are the values that a template has of the site.
func (i Identity) variables() map[string]any {
	return map[string]any{"siteName": i.SiteName, "helpUrl": i.HelpURL, "logo": i.Logo, "accent": i.Accent, "accentText": i.AccentText(), "accentLight": i.accentOn(lightPaper), "accentDark": i.accentOn(darkPaper)}
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
	if _, ok := channels(colour); !ok {
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

// channels are the red, green and blue of a colour such as "#0a7d55" or "#0a7".
func channels(colour string) (rgb [3]uint8, ok bool) {
	digits, found := strings.CutPrefix(colour, "#")
	if len(digits) == 3 {
		digits = strings.Join([]string{"", digits[:1], digits[:1], digits[1:2], digits[1:2], digits[2:], digits[2:]}, "")
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	return [3]uint8{uint8(n >> 16), uint8(n >> 8), uint8(n)}, found && len(digits) == 6 && err == nil
}

// AccentText is the colour of text on the accent, black or white, whichever is easier to read.
// One of them has a contrast of at least 4.58 to every colour, and WCAG 2.2 AA asks for 4.5.
func (i Identity) AccentText() string {
	rgb, ok := channels(i.Accent)
	switch light := luminance(rgb); {
	case !ok:
		return ""
	case (light+0.05)*(light+0.05) > 1.05*0.05:
		return "#000"
	}
	return "#fff"
}

// The papers of the built-in pages, as page.css has them.
var lightPaper, darkPaper = [3]uint8{0xfa, 0xf8, 0xf4}, [3]uint8{0x16, 0x17, 0x1a}

// accentOn is the colour nearest to the accent, by black or white that is mixed into it, that WCAG 2.2
// AA lets text have on a paper; "" without an accent.
func (i Identity) accentOn(paper [3]uint8) string {
	rgb, ok := channels(i.Accent)
	if !ok {
		return ""
	}
	const steps = 64
	ink := 0
	if luminance(paper) < 0.5 {
		ink = 255
	}
	mixed := rgb
	for step := 0; contrast(mixed, paper) < 4.5; step++ {
		for c := range rgb {
			mixed[c] = uint8((int(rgb[c])*(steps-step) + ink*step) / steps)
		}
	}
	return fmt.Sprintf("#%02x%02x%02x", mixed[0], mixed[1], mixed[2])
}

// contrast is the contrast of two colours by WCAG 2.2.
func contrast(a, b [3]uint8) float64 {
	light, dark := luminance(a), luminance(b)
	return (max(light, dark) + 0.05) / (min(light, dark) + 0.05)
}

// luminance is the relative luminance of a colour by WCAG 2.2.
func luminance(rgb [3]uint8) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(rgb[i]) / 255
		if c <= 0.04045 {
			sum += weight * c / 12.92
		} else {
			sum += weight * math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return sum
}

// accentStyle is the style sheet that has the accent, as the pages write it; "" without
// one.
func (i Identity) accentStyle() string {
	if i.Accent == "" {
		return ""
	}
	return ":root{--accent:" + i.Accent + ";--on-accent:" + i.AccentText() + ";--glow:" + i.Accent + ";--bar:" + i.accentOn(lightPaper) + "}" +
		"@media (prefers-color-scheme:dark){:root{--bar:" + i.accentOn(darkPaper) + "}}"
}
