package templates_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/templates"
)

// themeOf is the style sheet of a site's own look.
func themeOf(t require.TestingT, i templates.Identity) string {
	page, err := templates.Parse([]byte("{{theme}}"))
	require.NoError(t, err)
	rendered, err := page.Render(templates.Data{Identity: i})
	require.NoError(t, err)
	return string(rendered.AppendTo(nil, templates.Visitor{}))
}

// declared are the values that a style sheet gives a variable.
func declared(css, variable string) (values []string) {
	for _, found := range regexp.MustCompile(`--`+variable+`:(#[0-9a-f]+)`).FindAllStringSubmatch(css, -1) {
		values = append(values, found[1])
	}
	return values
}

var anyColour = rapid.Map(rapid.Uint32Range(0, 1<<24-1), func(n uint32) string { return fmt.Sprintf("#%06x", n) })

func TestAnyAccentIsSeenOnThePaperOfThePage(t *testing.T) {
	papers := declared(templates.Style(), "paper")[:2] // by day, by night
	seen := func(t require.TestingT, accent string) []string {
		bars := declared(themeOf(t, templates.Identity{Accent: accent}), "bar")
		require.Len(t, bars, 2)
		for n, bar := range bars {
			require.GreaterOrEqual(t, contrast(t, bar, papers[n]), 4.5, "%s on %s", bar, papers[n])
		}
		return bars
	}
	bars := seen(t, "#5b3fd6")
	assert.Equal(t, "#5b3fd6", bars[0], "it can be seen as it is")
	assert.NotEqual(t, "#5b3fd6", bars[1])
	rapid.Check(t, func(t *rapid.T) { seen(t, anyColour.Draw(t, "accent")) })
}

func TestTextCanBeReadOnAnyBackgroundThatIsTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		paper, accent := anyColour.Draw(t, "paper"), anyColour.Draw(t, "accent")
		if problem := templates.CheckPaper(paper); problem != "" {
			nearest := problem[strings.LastIndex(problem, "#"):]
			require.Empty(t, templates.CheckPaper(nearest), "what is offered in the place of %s", paper)
			paper = nearest
		}
		for _, i := range []templates.Identity{{Background: paper, Accent: accent}, {Background: "#777", Card: paper, Accent: accent}} {
			css := themeOf(t, i)
			papers := declared(css, "paper")
			require.Equal(t, paper, papers[len(papers)-1])
			for _, text := range []string{"ink", "soft", "bar"} {
				values := declared(css, text)
				require.Len(t, values, 1, "one look, by day and by night")
				require.GreaterOrEqual(t, contrast(t, values[0], paper), 4.5, "%s on %s", text, paper)
			}
		}
	})
}

func TestAThemeIsChecked(t *testing.T) {
	for _, right := range []string{"#fff", "#000", "#fff4e0", "#0b1f3a"} {
		assert.Empty(t, templates.CheckPaper(right), right)
	}
	assert.Equal(t, "is not a colour such as #0a7d55", templates.CheckPaper("red"))
	assert.Contains(t, templates.CheckPaper("#808080"), "the nearest that has it is #")
	for _, right := range []string{"Georgia", "Georgia, Times New Roman,serif", "system-ui", "Noto Sans CJK"} {
		assert.Empty(t, templates.CheckFont(right), right)
	}
	for _, wrong := range []string{"", ",", "Georgia,", `"Georgia"`, "a;}body{", "url(x)", "a/b", "1st", "a  b", strings.Repeat("a", 201)} {
		assert.NotEmpty(t, templates.CheckFont(wrong), wrong)
	}
	assert.Empty(t, themeOf(t, templates.Identity{SiteName: "Shop"}), "a site without a look of its own has none")
	assert.Contains(t, themeOf(t, templates.Identity{Font: "Georgia, serif"}), "html{font-family:Georgia, serif}")
	assert.Contains(t, themeOf(t, templates.Identity{Background: "#0b1f3a", Card: "#fff"}), "html{background:#0b1f3a}")
}
