package chart_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// requireSound fails the test unless the text is well-formed XML without numbers that are none.
func requireSound(t require.TestingT, text string) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = true
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, text)
	}
	require.NotContains(t, regexp.MustCompile(`<title>.*?</title>|<text[^>]*>.*?</text>|<t[hd].*?</t[hd]>|<figcaption>.*?</figcaption>|aria-label="[^"]*"`).ReplaceAllString(text, ""), "NaN")
	require.NotContains(t, text, "Inf\"")
	require.NotRegexp(t, `[dxyV"]="[^"]*(NaN|Inf|e\+)`, text)
}

var values = rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 2000), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1, math.MaxFloat64}))

// Whatever the numbers, names and times: the output is well-formed, and has no NaN.
func TestChartsAreWellFormedWhateverTheNumbers(t *testing.T) {
	zones := []*time.Location{nil, time.UTC, time.FixedZone("", 5*3600+45*60)}
	for _, name := range []string{"Europe/Berlin", "America/St_Johns", "Pacific/Apia"} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		zones = append(zones, zone)
	}
	rapid.Check(t, func(t *rapid.T) {
		title := rapid.String().Draw(t, "title")
		l := chart.Lines{Title: title, Zone: rapid.SampledFrom(zones).Draw(t, "zone"), Step: time.Duration(rapid.Int64Range(-1e9, 3600e9).Draw(t, "step"))}
		at := noon.Add(time.Duration(rapid.Int64Range(-1e17, 1e17).Draw(t, "start")))
		for range rapid.IntRange(0, 40).Draw(t, "moments") {
			l.Moments = append(l.Moments, at)
			at = at.Add(time.Duration(rapid.Int64Range(0, 3600e9).Draw(t, "apart")))
		}
		if rapid.Bool().Draw(t, "ends") {
			l.From, l.To = noon.Add(time.Duration(rapid.Int64Range(-1e16, 1e16).Draw(t, "from"))), noon.Add(time.Duration(rapid.Int64Range(-1e16, 1e16).Draw(t, "to")))
		}
		for range rapid.IntRange(0, 4).Draw(t, "lines") {
			l.Lines = append(l.Lines, chart.Line{Name: rapid.String().Draw(t, "name"), Limit: rapid.Bool().Draw(t, "limit"), Filled: rapid.Bool().Draw(t, "filled"), Values: rapid.SliceOfN(values, 0, 45).Draw(t, "values")})
		}
		for range rapid.IntRange(0, 5).Draw(t, "bands") {
			from := noon.Add(time.Duration(rapid.Int64Range(-1e16, 1e16).Draw(t, "band")))
			l.Bands = append(l.Bands, chart.Band{Name: rapid.String().Draw(t, "of"), From: from, To: from.Add(time.Duration(rapid.Int64Range(-1e12, 1e16).Draw(t, "lasts")))})
		}
		b := chart.Bars{Title: title}
		for range rapid.IntRange(0, 30).Draw(t, "bars") {
			b.Bars = append(b.Bars, chart.Bar{Name: rapid.String().Draw(t, "name"), Value: values.Draw(t, "value")})
		}
		for _, text := range []string{l.Figure(), b.Figure()} {
			requireSound(t, text)
		}
	})
}

// lines are those of ten minutes with the values.
func lines(values ...float64) chart.Lines {
	l := chart.Lines{Title: "Queued", Lines: []chart.Line{{Name: "queued", Values: values}}}
	for i := range values {
		l.Moments = append(l.Moments, noon.Add(time.Duration(i)*time.Minute))
	}
	return l
}

// wide is the picture for wide pages.
func wide(l chart.Lines) string {
	return regexp.MustCompile(`<svg .*?</svg>`).FindString(l.Figure())
}

// paths are the parts of a line.
func paths(svg string) int {
	d := regexp.MustCompile(`class="series" d="([^"]*)"`).FindStringSubmatch(svg)
	if d == nil {
		return 0
	}
	return strings.Count(d[1], "M")
}

func TestWhatIsUnknownIsAGap(t *testing.T) {
	assert.Equal(t, 1, paths(wide(lines(1, 2, 3, 4))))
	assert.Equal(t, 2, paths(wide(lines(1, 2, math.NaN(), 4, 5))))
	assert.Zero(t, paths(wide(lines(math.NaN(), math.NaN()))))
	missing := lines(1, 2, 3, 4)
	missing.Moments[2], missing.Moments[3] = noon.Add(time.Hour), noon.Add(61*time.Minute)
	assert.Equal(t, 2, paths(wide(missing)), "minutes that the record does not have")
	assert.Contains(t, lines(1, math.NaN(), 3).Figure(), "<td>unknown</td>")
}

func TestAPeakIsDrawnHoweverManyMomentsThereAre(t *testing.T) {
	many := make([]float64, 1440)
	many[777] = 1000
	svg := wide(lines(many...))
	top := regexp.MustCompile(`class="tick" x="\d+" y="([\d.]+)" text-anchor="end">1k<`).FindStringSubmatch(svg)
	require.NotNil(t, top, svg)
	assert.Contains(t, svg, " 26L", "the line reaches the top of the plot")
}

func TestTheAxisHasRoundLocalTimes(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	l := lines(1)
	l.Zone, l.From, l.To = berlin, time.Date(2026, 10, 25, 0, 0, 0, 0, berlin), time.Date(2026, 10, 26, 0, 0, 0, 0, berlin)
	svg := wide(l)
	for _, label := range []string{"00:00", "03:00", "06:00", "21:00"} {
		assert.Contains(t, svg, ">"+label+"<", "on the day on which clocks go back")
	}
	assert.NotContains(t, svg, ":30<")
}

func TestAChartSaysWhatItShows(t *testing.T) {
	svg := wide(lines(1, 2))
	assert.Contains(t, svg, `role="img"`)
	assert.Contains(t, svg, "<title>Queued</title>")
	l := lines(1, 2)
	l.Lines = append(l.Lines, chart.Line{Name: "limit", Limit: true, Values: []float64{5, 5}})
	assert.Regexp(t, `class="limit"[^>]*stroke-dasharray`, wide(l))
}

func TestWhatWasInForceIsMarkedAndTold(t *testing.T) {
	l := lines(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	l.Bands = []chart.Band{
		{Name: "prequeue of sale", From: at(2), To: at(4)}, {Name: "event <sale>", From: at(4), To: at(8)},
		{Name: "held by operators", From: at(5), To: at(7)}, {Name: "yesterday", From: at(-90), To: at(-60)},
	}
	svg := wide(l)
	assert.Contains(t, svg, "<title>Queued. Marked: prequeue of sale, 12:02 to 12:04; event &lt;sale&gt;, 12:04 to 12:08; held by operators, 12:05 to 12:07</title>")
	assert.Equal(t, 3, strings.Count(svg, `class="band"`))
	assert.NotContains(t, svg, "yesterday")
	bars := regexp.MustCompile(`<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="3"`).FindAllStringSubmatch(svg, -1)
	require.Len(t, bars, 3)
	assert.Equal(t, bars[0][2], bars[1][2], "they follow each other")
	assert.NotEqual(t, bars[1][2], bars[2][2], "what goes on at the same time is below")
	figure := l.Figure()
	assert.Contains(t, figure, `<th scope="col">In force</th>`)
	assert.Regexp(t, `<td>12:05</td><td>6</td><td>event &lt;sale&gt;, held by operators</td>`, figure)
	assert.NotContains(t, lines(1, 2).Figure(), "In force")
}

func TestATimelineMarksNowWhileItIsInIt(t *testing.T) {
	parts := []chart.Band{{Name: "prequeue", From: noon, To: noon.Add(time.Hour)}, {Name: "<event>", From: noon.Add(time.Hour), To: noon.Add(3 * time.Hour)}}
	bar := chart.Timeline(parts, noon.Add(90*time.Minute), "The <sale>")
	requireSound(t, bar)
	assert.Contains(t, bar, `<title>The &lt;sale&gt;</title>`)
	assert.Contains(t, bar, `<rect x="120" y="4" width="240"`, "a third is the prequeue's")
	assert.Contains(t, bar, `class="now" d="M180 0V24"`, "the half of it is over")
	for _, outside := range []time.Time{noon.Add(-time.Second), noon.Add(3 * time.Hour)} {
		assert.NotContains(t, chart.Timeline(parts, outside, ""), `class="now"`)
	}
	assert.Empty(t, chart.Timeline(nil, noon, ""))
}

func TestAScriptCanTellTheTimesOfATable(t *testing.T) {
	l := lines(1, 2)
	assert.NotContains(t, l.Figure(), "<td data-at", "a page without one tells them in its zone")
	l.Live = true
	assert.Contains(t, l.Figure(), `<th scope="col">Time, <span class="zone">UTC</span></th><th scope="col">queued</th>`)
	assert.Contains(t, l.Figure(), fmt.Sprintf(`<td data-at="%d">12:01</td><td>2</td>`, noon.Add(time.Minute).UnixMilli()))
}

func TestValuesAreShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 950: "950", 1200: "1.2k", 3e6: "3M", 2.5: "2.5", 5e12: "5T", 1e9: "1G", -1500: "-1.5k", 4e20: "4e+20"} {
		assert.Contains(t, lines(v).Figure(), "<td>12:00</td><td>"+want+"</td>")
	}
}
