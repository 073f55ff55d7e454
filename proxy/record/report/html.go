package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
)

//go:embed report.html
var source string

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"seconds": Seconds, "percent": percent, "number": number, "plain": record.SettingInWords, "author": record.AuthorInWords, "signed": signed, "minutes": minutes,
	"round": func(s float64) int { return int(math.Round(s)) },
}).Parse(source))

// WriteHTML writes the report as a page that needs nothing else.
func (r *Report) WriteHTML(w io.Writer) error {
	err := page.Execute(w, struct {
		*Report
		Style    template.CSS
		Pictures []Pictures
	}{r, template.CSS(chart.Style), r.pictures()})
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// Time writes a moment by the clock on the wall, with the day where the report has several.
func (r *Report) Time(at time.Time) string {
	at = at.In(r.zone)
	if y, m, d := r.From.In(r.zone).Date(); at.Equal(time.Date(y, m, d+1, 0, 0, 0, 0, r.zone)) && !r.To.After(at) {
		return "24:00"
	}
	if r.severalDays() {
		return at.Format("2 Jan 15:04")
	}
	return at.Format("15:04")
}

// Second is Time, to the second.
func (r *Report) Second(at time.Time) string {
	if text := r.Time(at); text == "24:00" {
		return text
	}
	if r.severalDays() {
		return at.In(r.zone).Format("2 Jan 15:04:05")
	}
	return at.In(r.zone).Format("15:04:05")
}

// Words are a text with its moments by the clock on the wall.
func (r *Report) Words(text string) string {
	return record.WithMoments(text, func(at time.Time) string { return at.In(r.zone).Format("2 Jan 2006 15:04") })
}

// severalDays says whether the report has more than a day.
func (r *Report) severalDays() bool {
	return r.From.In(r.zone).Format(time.DateOnly) != r.To.Add(-time.Nanosecond).In(r.zone).Format(time.DateOnly)
}

// Day writes the time that the report is of.
func (r *Report) Day() string {
	if r.severalDays() {
		return r.From.In(r.zone).Format("2 January 2006, 15:04") + " to " + r.To.In(r.zone).Format("2 January 2006, 15:04")
	}
	return r.From.In(r.zone).Format("Monday, 2 January 2006") + ", " + r.Time(r.From) + " to " + r.Time(r.To)
}

// Seconds writes a time in words: 45 s, 3 min 20 s, 2 h 5 min.
func Seconds(s int) string {
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 600 && s%60 != 0:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	case s < 3570:
		return fmt.Sprintf("%d min", (s+30)/60)
	case (s+30)/60%60 == 0:
		return fmt.Sprintf("%d h", (s+30)/3600)
	}
	return fmt.Sprintf("%d h %d min", (s+30)/3600, (s+30)/60%60)
}

func minutes(m int) string { return Seconds(60 * m) }

// percent writes a share.
func percent(share float64) string {
	text := fmt.Sprintf("%.1f", 100*share)
	if text == "100.0" && share < 1 {
		text = "99.9"
	}
	return strings.TrimSuffix(text, ".0") + " %"
}

func signed(v float64) string { return strings.Replace(fmt.Sprintf("%+.1f", v), "-", "−", 1) }

// number writes a number with its thousands apart.
func number(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return text
}
