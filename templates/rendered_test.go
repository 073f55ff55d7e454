package templates_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anteroom-gate/anteroom/templates"
)

// anySource draws a template that Parse accepts.
func anySource() *rapid.Generator[string] {
	names := templates.Variables()
	own := []string{"lastUpdated", "refreshIntervalSeconds", "lastUpdatedTime"}
	name := rapid.OneOf(rapid.SampledFrom(names), rapid.SampledFrom(own))
	var piece func(depth int) *rapid.Generator[string]
	piece = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			n := name.Draw(t, "name")
			switch kind := rapid.IntRange(0, 4).Draw(t, "kind"); {
			case kind == 0:
				return rapid.StringMatching(`[0-9a-z<&"'\n ]{0,8}`).Draw(t, "text")
			case kind >= 3 && depth < 4:
				inner := strings.Join(rapid.SliceOfN(piece(depth+1), 0, 3).Draw(t, "inner"), "")
				sign := rapid.SampledFrom([]string{"#", "^"}).Draw(t, "sign")
				if sign == "#" {
					inner += "{{.}}"
				}
				return fmt.Sprintf("{{%s%s}}%s{{/%s}}", sign, n, inner, n)
			default:
				return "{{" + n + "}}"
			}
		})
	}
	return rapid.Custom(func(t *rapid.T) string {
		return "x" + strings.Join(rapid.SliceOfN(piece(0), 0, 8).Draw(t, "pieces"), "")
	})
}

func anyTime() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		milli := rapid.Int64Range(-62_000_000_000_000, 250_000_000_000_000).Draw(t, "milliseconds")
		zone := time.FixedZone("", rapid.IntRange(-50_000, 50_000).Draw(t, "zone"))
		return time.UnixMilli(milli).In(zone)
	})
}

func TestASplicedPageIsThePageRenderedWithTheVisitorsOwnValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		page, err := templates.Parse([]byte(anySource().Draw(t, "source")))
		require.NoError(t, err)
		data := anyData().Draw(t, "data")
		updated, seconds := anyTime().Draw(t, "updated"), rapid.IntRange(1, 5000).Draw(t, "seconds")
		want, err := page.Direct(data, updated, seconds)
		require.NoError(t, err)
		rendered, err := page.Render(data)
		require.NoError(t, err)
		got := rendered.AppendTo([]byte("before"), updated, seconds)
		require.Equal(t, "before"+string(want), string(got))
		require.Equal(t, len(want), rendered.Len(seconds))
	})
}

func TestSplicedJSONIsTheJSONEncodedWithTheVisitorsOwnValues(t *testing.T) {
	set := newSet(t, templates.Options{})
	rapid.Check(t, func(t *rapid.T) {
		data := anyData().Draw(t, "data")
		updated, seconds := anyTime().Draw(t, "updated"), rapid.IntRange(1, 5000).Draw(t, "seconds")
		want, err := templates.DirectJSON(data, updated, seconds)
		require.NoError(t, err)
		rendered := set.JSON(data)
		require.Equal(t, string(want), string(rendered.AppendTo(nil, updated, seconds)))
		require.Equal(t, len(want), rendered.Len(seconds))
	})
}

func TestAnIntervalBelowASecondIsToldAsOne(t *testing.T) {
	page, err := templates.Parse([]byte("{{refreshIntervalSeconds}}"))
	require.NoError(t, err)
	rendered, err := page.Render(templates.Data{})
	require.NoError(t, err)
	for _, seconds := range []int{1, 0, -5} {
		assert.Equal(t, "1", string(rendered.AppendTo(nil, seen, seconds)))
		assert.Equal(t, 1, rendered.Len(seconds))
	}
}

func TestYearsThatHaveNoFourDigitsAreToldAsTheNearest(t *testing.T) {
	page, err := templates.Parse([]byte("{{lastUpdated}}"))
	require.NoError(t, err)
	rendered, err := page.Render(templates.Data{})
	require.NoError(t, err)
	for want, year := range map[string]int{"0000": -3, "0001": 1, "9999": 12_345} {
		text := rendered.AppendTo(nil, time.Date(year, 2, 3, 4, 5, 6, 7e6, time.UTC), 20)
		assert.Equal(t, want+"-02-03T04:05:06.007Z", string(text))
	}
}

func TestSplicingAllocatesNothing(t *testing.T) {
	set := newSet(t, templates.Options{})
	for name, rendered := range map[string]*templates.Rendered{
		"page": set.Page("en-US", state(t, "fifo")),
		"JSON": set.JSON(state(t, "fifo")),
	} {
		buffer := make([]byte, 0, rendered.Len(20))
		allocated := testing.AllocsPerRun(100, func() { buffer = rendered.AppendTo(buffer[:0], seen, 20) })
		assert.Zero(t, allocated, name)
		assert.Len(t, buffer, rendered.Len(20), name)
	}
}

func BenchmarkAppendTo(b *testing.B) {
	set := newSet(b, templates.Options{})
	for name, rendered := range map[string]*templates.Rendered{
		"page": set.Page("en-US", state(b, "fifo")),
		"json": set.JSON(state(b, "fifo")),
	} {
		b.Run(name, func(b *testing.B) {
			buffer := make([]byte, 0, rendered.Len(20))
			b.ReportAllocs()
			for b.Loop() {
				buffer = rendered.AppendTo(buffer[:0], seen, 20)
			}
		})
	}
}

func BenchmarkRender(b *testing.B) {
	set := newSet(b, templates.Options{})
	data := state(b, "fifo")
	b.Run("page", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			set.Page("en-US", data)
		}
	})
	b.Run("json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			set.JSON(data)
		}
	})
}
