package templates

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// palette are the colours that page.css has for light or dark paper: its declarations, and of these
// the paper and the text that is the hardest to read.
type palette struct {
	css         string
	paper, soft colour
	other       colour // white for light paper, black for dark: what a paper is mixed with to be read on
}

// palettes are those of page.css.
var palettes = sync.OnceValues(func() (light, dark palette) {
	blocks := regexp.MustCompile(`:root\{(?:color-scheme:[a-z ]+;)?([^}]*)\}`).FindAllStringSubmatch(squeezeStyle(styleSource), 2)
	return paletteOf("light", blocks[0][1], white), paletteOf("dark", blocks[1][1], black)
})

func paletteOf(scheme, declarations string, other colour) palette {
	of := func(name string) colour {
		_, rest, _ := strings.Cut(declarations, "--"+name+":")
		c, _ := parseColour(rest[:len("#000000")])
		return c
	}
	return palette{"color-scheme:" + scheme + ";" + declarations, of("paper"), of("soft"), other}
}

// paletteFor is the palette whose text can be read on a paper, and the nearest paper on which it can
// if that paper is none.
func paletteFor(paper colour) (palette, colour) {
	light, dark := palettes()
	onLight, steps := paper.readableOn(light.soft, light.other)
	onDark, stepsDark := paper.readableOn(dark.soft, dark.other)
	if steps < stepsDark || steps == stepsDark && paper.opposite() == black {
		return light, onLight
	}
	return dark, onDark
}

// CheckPaper says what is wrong with a colour behind text, "" for nothing. It continues a sentence
// that begins with the colour.
func CheckPaper(text string) string {
	paper, ok := parseColour(text)
	if !ok {
		return CheckAccent(text)
	}
	p, nearest := paletteFor(paper)
	if contrast := p.soft.contrast(paper); contrast < readable {
		return fmt.Sprintf("is too near to the colours of the text to read it: their contrast is %.1f, and has to be %.1f; the nearest that has it is %s", contrast, readable, nearest)
	}
	return ""
}

// family is the name of a font as style sheets have it without quotes.
var family = regexp.MustCompile(`^[\pL_][\pL0-9_-]*( [\pL_][\pL0-9_-]*)*$`)

// CheckFont says what is wrong with a list of fonts, "" for nothing. It continues a sentence that
// begins with the list.
func CheckFont(list string) string {
	const most = 200
	for name := range strings.SplitSeq(list, ",") {
		if !family.MatchString(strings.TrimSpace(name)) {
			return "is no list of fonts such as Georgia, Times New Roman, serif"
		}
	}
	if utf8.RuneCountInString(list) > most {
		return fmt.Sprintf("is too long: at most %d characters", most)
	}
	return ""
}

// The styles of a site's pictures. Their space is there before they are, so that nothing moves when
// they come; and where there is little height, the text comes first.
const (
	logoStyle = "main::before{display:none}#logo{display:block;width:100%;height:4.5rem;margin-bottom:2.25rem;object-fit:scale-down;object-position:left}[dir=rtl] #logo{object-position:right}" +
		"@media (max-height:32rem){#logo{height:1.5rem;margin-bottom:.75rem}}"
	heroHeight = "clamp(7rem,26vh,18rem)"
	heroStyle  = "main::before,#hero{display:none}@media screen and (min-height:32.01rem){#hero{display:block;position:absolute;z-index:-1;top:0;left:0;width:100%;height:" + heroHeight + ";object-fit:cover}}"
)

// theme is the style sheet by which a page has the site's own look, after page.css; "" where the site
// has none. A site with a background has one look, by day and by night. On paper, what the printer
// has is enough.
func (i Identity) theme() string {
	var css strings.Builder
	light, dark := palettes()
	if paper, ok := parseColour(cmp.Or(i.Card, i.Background)); ok {
		p, _ := paletteFor(paper)
		light.paper, dark.paper = paper, paper
		fmt.Fprintf(&css, "@media screen{:root{%s;--paper:%s}}", strings.TrimSuffix(p.css, ";"), paper)
	}
	if i.Card != "" {
		css.WriteString("@media screen{html{background:" + i.Background + "}main{max-width:35rem;padding:clamp(1.25rem,6vw,2.5rem);border-radius:1rem;background:var(--paper)}}")
	}
	if accent, ok := parseColour(i.Accent); ok {
		bar := func(paper colour) string {
			nearest, _ := accent.readableOn(paper, paper.opposite())
			return nearest.String()
		}
		css.WriteString(":root{--accent:" + i.Accent + ";--on-accent:" + i.AccentText() + ";--glow:" + i.Accent + ";--bar:" + bar(light.paper) + "}")
		if dark.paper != light.paper {
			css.WriteString("@media (prefers-color-scheme:dark){:root{--bar:" + bar(dark.paper) + "}}")
		}
	}
	if i.Font != "" {
		css.WriteString("html{font-family:" + i.Font + "}")
	}
	if i.Logo != "" {
		css.WriteString(logoStyle)
	}
	if i.Hero != "" {
		below := "2rem"
		if i.Card != "" {
			below = "-3rem" // the card lies on it
		}
		css.WriteString(heroStyle + "@media screen and (min-height:32.01rem){body{padding-top:calc(" + heroHeight + " + " + below + ");align-items:start}}")
	}
	return css.String()
}
