package templates_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/templates"
)

// anySource draws a template that Parse accepts.
func anySource() *rapid.Generator[string] {
	names := slices.DeleteFunc(templates.Variables(), func(name string) bool { return name == "client" })
	own := []string{"lastUpdated", "refreshIntervalSeconds", "lastUpdatedTime", "address", "position", "usersAhead", "usersQueued",
		"ticketNumber", "waitTime", "waitTimeHours", "waitTimeHourMinutes", "waitTimeIsLong", "waitTimeFormatted", "placedAt", "shuffleEntry"}
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

// anyVisitor draws one whose place has the shape of p.
func anyVisitor(p templates.Place) *rapid.Generator[templates.Visitor] {
	return rapid.Custom(func(t *rapid.T) templates.Visitor {
		return templates.Visitor{
			Address:     rapid.StringMatching(`/[a-z'&"<;,]{0,9}`).Draw(t, "address"),
			LastUpdated: anyTime().Draw(t, "updated"), RefreshSeconds: rapid.IntRange(1, 5000).Draw(t, "seconds"),
			LeftSeconds: rapid.IntRange(1, 5000).Draw(t, "left"), Entry: rapid.StringMatching(`[0-9A-Z]{0,9}`).Draw(t, "entry"), PlacedAt: anyTime().Draw(t, "placed"), BucketID: anyTime().Draw(t, "bucket"),
			Place: anyAlike(p).Draw(t, "place"), SupportCode: templates.SupportCode([]byte(rapid.StringMatching(`[0-9A-Z]{4}-[0-9A-Z]{4}`).Draw(t, "support"))),
		}
	})
}

func TestASplicedPageIsThePageRenderedWithTheVisitorsOwnValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		page, err := templates.Parse([]byte(anySource().Draw(t, "source")))
		require.NoError(t, err)
		data := anyData().Draw(t, "data")
		v := anyVisitor(data.Place).Draw(t, "visitor")
		want, err := page.Direct(data, v)
		require.NoError(t, err)
		rendered, err := page.Render(data)
		require.NoError(t, err)
		got := rendered.AppendTo([]byte("before"), v)
		require.Equal(t, "before"+string(want), string(got))
	})
}

func TestSplicedJSONIsTheJSONEncodedWithTheVisitorsOwnValues(t *testing.T) {
	set := newSet(t, templates.Options{})
	rapid.Check(t, func(t *rapid.T) {
		data := anyData().Draw(t, "data")
		v := anyVisitor(data.Place).Draw(t, "visitor")
		want, err := templates.DirectJSON(data, v)
		require.NoError(t, err)
		rendered := set.JSON(data)
		require.Equal(t, string(want), string(rendered.AppendTo(nil, v)))
	})
}

func TestAnIntervalBelowASecondIsToldAsOne(t *testing.T) {
	page, err := templates.Parse([]byte("{{refreshIntervalSeconds}}"))
	require.NoError(t, err)
	rendered, err := page.Render(templates.Data{})
	require.NoError(t, err)
	for _, seconds := range []int{1, 0, -5} {
		assert.Equal(t, "1", string(rendered.AppendTo(nil, by(seen, seconds))))
	}
}

func TestYearsThatHaveNoFourDigitsAreToldAsTheNearest(t *testing.T) {
	page, err := templates.Parse([]byte("{{lastUpdated}}"))
	require.NoError(t, err)
	rendered, err := page.Render(templates.Data{})
	require.NoError(t, err)
	for want, year := range map[string]int{"0000": -3, "0001": 1, "9999": 12_345} {
		text := rendered.AppendTo(nil, by(time.Date(year, 2, 3, 4, 5, 6, 7e6, time.UTC), 20))
		assert.Equal(t, want+"-02-03T04:05:06.007Z", string(text))
	}
}

func TestSplicingAllocatesNothing(t *testing.T) {
	set := newSet(t, templates.Options{})
	for _, name := range []string{"fifo", "line"} {
		d := state(t, name)
		v := at(d.Place)
		for kind, rendered := range map[string]*templates.Rendered{"page": set.Page("en-US", d), "JSON": set.JSON(d)} {
			buffer := make([]byte, 0, 32<<10)
			allocated := testing.AllocsPerRun(100, func() { buffer = rendered.AppendTo(buffer[:0], v) })
			assert.Zero(t, allocated, "%s, %s", name, kind)
			assert.NotEmpty(t, buffer, "%s, %s", name, kind)
		}
	}
}

func BenchmarkAppendTo(b *testing.B) {
	set := newSet(b, templates.Options{})
	for _, name := range []string{"fifo", "line"} {
		d := state(b, name)
		v := at(d.Place)
		for kind, rendered := range map[string]*templates.Rendered{"page": set.Page("en-US", d), "json": set.JSON(d)} {
			b.Run(name+"-"+kind, func(b *testing.B) {
				buffer := make([]byte, 0, 32<<10)
				b.ReportAllocs()
				for b.Loop() {
					buffer = rendered.AppendTo(buffer[:0], v)
				}
			})
		}
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
