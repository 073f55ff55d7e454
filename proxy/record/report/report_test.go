package report_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/recordtest"
	"github.com/fairdoor-gate/fairdoor/proxy/record/report"
	"github.com/fairdoor-gate/fairdoor/queue/waits"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sale is the report of the day of the sale.
func sale(t *testing.T, gates ...record.Excerpt) *report.Report {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	from := time.Date(2026, 11, 22, 0, 0, 0, 0, berlin)
	return report.Make(report.Config{Room: "shop", From: from, To: from.AddDate(0, 0, 1), Now: recordtest.Day.Add(22*time.Hour + 30*time.Minute), Zone: berlin, Gates: gates})
}

// text is what a page says, without its pictures.
func text(t *testing.T, page string) string {
	root, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err)
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch n.Data {
		case "style", "svg", "details":
			return
		case "h1", "h2", "tr", "p", "li", "figcaption":
			b.WriteString("\n")
		}
		if n.Type == html.TextNode {
			b.WriteString(strings.Join(strings.Fields(n.Data), " ") + " ")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	var lines []string
	for line := range strings.SplitSeq(b.String(), "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func pageOf(t require.TestingT, r *report.Report) string {
	var page strings.Builder
	require.NoError(t, r.WriteHTML(&page))
	return page.String()
}

func TestThePageSaysWhatItShould(t *testing.T) {
	page := pageOf(t, sale(t, recordtest.Sale()))
	golden := filepath.Join("testdata", "sale.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(text(t, page)), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), text(t, page))
	assert.Equal(t, 16, strings.Count(page, "<svg "), "each chart for wide and for narrow pages")
	assert.NotRegexp(t, `(src|href)=`, page, "nothing comes from outside")
	assert.NotContains(t, page, "<script")
	assert.NotContains(t, page, "ZgotmplZ")
}

func TestJSONHasTheNumbersOfThePage(t *testing.T) {
	r := sale(t, recordtest.Sale())
	var text strings.Builder
	require.NoError(t, r.WriteJSON(&text))
	var told struct {
		Timezone string `json:"timezone"`
		People   struct{ LetIn, AtOnce, FromLine int }
		Waits    struct {
			P50, P95, Longest int
			Bars              []struct{ Visitors int }
		}
		Told   struct{ InTimeShare, BiasMinutes float64 }
		Queues []struct{ From, To time.Time }
		Known  struct {
			Gaps []struct{ From, To time.Time }
		}
		Changes []record.Change
		Minutes []record.Minute
	}
	require.NoError(t, json.Unmarshal([]byte(text.String()), &told))
	assert.Equal(t, "Europe/Berlin", told.Timezone)
	assert.Equal(t, r.People.LetIn, told.People.LetIn)
	assert.Equal(t, r.People.LetIn, told.People.AtOnce+told.People.FromLine)
	assert.Equal(t, []int{r.Waits.P50, r.Waits.P95, r.Waits.Longest}, []int{told.Waits.P50, told.Waits.P95, told.Waits.Longest})
	sum := 0
	for _, bar := range told.Waits.Bars {
		sum += bar.Visitors
	}
	assert.Equal(t, told.People.FromLine, sum)
	assert.Len(t, told.Queues, 1, "a gap does not end a queue that is there after it")
	assert.Len(t, told.Known.Gaps, 3, "the hour before the day of UTC, the gate that was away, and the store that did not answer")
	assert.Equal(t, r.Changes, told.Changes)
	assert.Len(t, told.Minutes, len(r.Minutes))
}

func TestTheReportOfNothingSaysThatNothingIsKnown(t *testing.T) {
	r := sale(t)
	assert.Zero(t, r.Known.Share)
	page := pageOf(t, r)
	assert.Contains(t, page, "of 0 % of the time it is known")
	assert.Contains(t, page, "Nobody changed anything.")
	assert.Nil(t, r.Active)
	assert.NotContains(t, page, "NaN")
}

func TestTheTimesOfAnEventThatWasChangedAreThoseOfTheReport(t *testing.T) {
	e := recordtest.Sale()
	e.Changes = append(e.Changes, record.Change{At: recordtest.Day.Add(time.Hour), By: "ada", What: "event sale", To: "2026-11-23T09:00:00Z to 2026-11-23T10:00:00Z"})
	assert.Contains(t, pageOf(t, sale(t, e)), ">23 Nov 2026 10:00 to 23 Nov 2026 11:00<")
}

func TestSeveralGatesAreAddedUpAndTheRoomIsNot(t *testing.T) {
	one, two := sale(t, recordtest.Sale()), sale(t, recordtest.Sale(), recordtest.Sale())
	assert.Equal(t, 2*one.People.LetIn, two.People.LetIn)
	assert.Equal(t, 2*one.Refused.Sum(), two.Refused.Sum())
	assert.Equal(t, one.People.ByStore, two.People.ByStore)
	assert.Equal(t, one.Active, two.Active)
	assert.Equal(t, one.Waits.P50, two.Waits.P50)
	assert.Equal(t, one.Told.InTime, two.Told.InTime)
	assert.Equal(t, one.Slots, two.Slots)
	assert.Equal(t, one.Changes, two.Changes)
	assert.Equal(t, one.Known, two.Known)
	assert.Nil(t, two.People.GaveUp, "nobody knows who went on waiting at the other")
	assert.Contains(t, pageOf(t, two), "How many gave up waiting is not known")
}

// Each of two gates knows a part of the day: together they know it all.
func TestWhatOneGateMissesAnotherMayKnow(t *testing.T) {
	day := recordtest.Day
	minutes := func(from, to int) (e record.Excerpt) {
		for n := from; n < to; n++ {
			e.Minutes = append(e.Minutes, record.Minute{At: day.Add(time.Duration(n) * time.Minute), Seconds: 60, Room: &record.Standing{Active: n}})
		}
		return e
	}
	reportOf := func(gates ...record.Excerpt) *report.Report {
		return report.Make(report.Config{Room: "shop", From: day, To: day.Add(20 * time.Minute), Now: day.Add(time.Hour), Gates: gates})
	}
	assert.InDelta(t, .6, reportOf(minutes(0, 12)).Known.Share, 1e-9)
	both := reportOf(minutes(0, 12), minutes(10, 20))
	assert.InDelta(t, 1, both.Known.Share, 1e-9)
	assert.Empty(t, both.Known.Gaps)
	assert.Len(t, both.Minutes, 20)
}

func TestQueuesBeginAndEnd(t *testing.T) {
	day := recordtest.Day
	for _, c := range []struct {
		name   string
		queued string // by minute: a digit, or ? where nothing is known
		want   string // of each queue: from-to, with < and > where it is there before or after what is known
	}{
		{"one", "0011200", "2-5"},
		{"two, with five minutes between", "0100000100", "1-2 7-8"},
		{"one, with four minutes between", "010000100", "1-7"},
		{"from the begin", "110", "<0-2"},
		{"to the end", "011", "1-3>"},
		{"unknown in its middle", "01??10", "1-5"},
		{"unknown before it", "0??10", "<3-4"},
		{"unknown to the end", "011??", "1-3>"},
		{"none", "000", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e record.Excerpt
			for n, queued := range c.queued {
				if queued != '?' {
					e.Minutes = append(e.Minutes, record.Minute{At: day.Add(time.Duration(n) * time.Minute), Seconds: 60, Room: &record.Standing{QueuedMost: int(queued - '0')}})
				}
			}
			r := report.Make(report.Config{From: day, To: day.Add(time.Hour), Now: day.Add(time.Hour), Gates: []record.Excerpt{e}})
			var got []string
			for _, q := range r.Queues {
				text := itoa(q.From.Sub(day)) + "-" + itoa(q.To.Sub(day))
				if q.OpenBegin {
					text = "<" + text
				}
				if q.OpenEnd {
					text += ">"
				}
				got = append(got, text)
			}
			assert.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

func itoa(d time.Duration) string { return string(rune('0' + d/time.Minute)) }

// Whatever a record says: a page and JSON come of it, and no number that is none.
func TestEveryRecordMakesAReport(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(0, 1<<40)
		var e record.Excerpt
		at := recordtest.Day
		for range rapid.IntRange(0, 30).Draw(t, "minutes") {
			at = at.Add(time.Duration(rapid.IntRange(1, 300).Draw(t, "apart")) * time.Minute)
			m := record.Minute{At: at, Seconds: rapid.Float64Range(0, 60).Draw(t, "seconds")}
			if rapid.Bool().Draw(t, "known") {
				m.Room = &record.Standing{ActiveMost: number.Draw(t, "active"), QueuedMost: number.Draw(t, "queued"), Admitted: number.Draw(t, "admitted"), TotalActiveUsers: number.Draw(t, "limit"), UsedSeconds: rapid.Float64Range(0, 1e9).Draw(t, "used")}
			}
			for range rapid.IntRange(0, 3).Draw(t, "waits") {
				m.Waits = m.Waits.Plus(waits.Counts{{Seconds: rapid.IntRange(0, 600_000).Draw(t, "wait"), Visitors: 1}})
			}
			m.LetIn, m.Score.Visitors = number.Draw(t, "let in"), number.Draw(t, "visitors")
			e.Minutes = append(e.Minutes, m)
		}
		e.Changes = append(e.Changes, record.Change{At: at, By: rapid.String().Draw(t, "by"), What: "message", To: "<script>" + rapid.String().Draw(t, "to")})
		r := report.Make(report.Config{Room: rapid.String().Draw(t, "room"), From: recordtest.Day, To: at.Add(time.Hour), Now: at.Add(time.Hour), Gates: []record.Excerpt{e}})
		page := pageOf(t, r)
		require.NotContains(t, page, "NaN")
		require.NotContains(t, page, "<script>")
		require.NoError(t, r.WriteJSON(&strings.Builder{}))
	})
}

func TestTimesAreShort(t *testing.T) {
	for seconds, want := range map[int]string{0: "0 s", 59: "59 s", 60: "1 min", 200: "3 min 20 s", 630: "11 min", 3569: "59 min", 3599: "1 h", 3600: "1 h", 7500: "2 h 5 min"} {
		assert.Equal(t, want, report.Seconds(seconds))
	}
}
