package load

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/measure"
	"github.com/fairdoor-gate/fairdoor/templates/spelling"
)

// kind is what a metric counts in.
type kind uint8

const (
	count    kind = iota
	portion       // of a whole, from 0 to 1
	duration      // in seconds
	number
)

// metric is something that a threshold can be set to.
type metric struct {
	name   string
	about  string
	kind   kind
	origin bool // needs to know what the origin saw
	of     func(*Report) (value float64, known bool)
}

func metrics() []metric {
	always := func(of func(*Report) float64) func(*Report) (float64, bool) {
		return func(r *Report) (float64, bool) { return of(r), true }
	}
	all := []metric{
		{name: "active", about: "most who were active at a time, as the origin saw them", kind: count, origin: true,
			of: always(func(r *Report) float64 { return float64(r.Origin.Active) })},
		{name: "admitted_per_minute", about: "most who were let in in a calendar minute, as the origin saw them", kind: count, origin: true,
			of: always(func(r *Report) float64 { return float64(r.Origin.AdmittedPerMinute) })},
		{name: "errors", about: "share of requests without an answer, or with an error that is not the room's", kind: portion,
			of: always(func(r *Report) float64 { return share(r.Requests.Failed, r.Requests.Sent) })},
		{name: "let_in", about: "share of people who were let in", kind: portion,
			of: always(func(r *Report) float64 { return share(r.People.LetIn, r.People.People) })},
		{name: "gave_up", about: "share of people who gave up", kind: portion,
			of: always(func(r *Report) float64 { return share(r.People.GaveUp, r.People.People) })},
		{name: "interrupted", about: "share of those who were let in who had to wait again before they were through", kind: portion,
			of: always(func(r *Report) float64 { return share(r.People.Interrupted, r.People.LetIn) })},
		{name: "in_time", about: "share of those who were told a wait and were in by then", kind: portion,
			of: func(r *Report) (float64, bool) { return r.Told.InTime, r.Told.Shown.Count > 0 }},
		{name: "tau", about: "Kendall tau of the orders of arrival and admission", kind: number,
			of: always(func(r *Report) float64 { return r.Order.Tau })},
		{name: "overtaken", about: "most who still waited and had come before somebody who was let in", kind: count,
			of: always(func(r *Report) float64 { return float64(r.Order.Overtaken) })},
	}
	for _, of := range []struct {
		name, about string
		percentiles func(*Report) Percentiles
	}{
		{"wait", "wait of those who were let in", func(r *Report) Percentiles { return r.Wait }},
		{"told", "wait that was told at first to those who had to wait", func(r *Report) Percentiles { return r.Told.Shown }},
		{"latency", "time until an answer", func(r *Report) Percentiles { return r.Requests.Latency }},
		{"lag", "delay by which the crowd itself was behind its schedule", func(r *Report) Percentiles { return r.Machine.Lag }},
	} {
		for suffix, value := range map[string]func(Percentiles) float64{
			"p50": func(p Percentiles) float64 { return p.P50 }, "p95": func(p Percentiles) float64 { return p.P95 },
			"p99": func(p Percentiles) float64 { return p.P99 }, "max": func(p Percentiles) float64 { return p.Max },
		} {
			all = append(all, metric{name: of.name + "_" + suffix, about: of.about, kind: duration, of: func(r *Report) (float64, bool) {
				p := of.percentiles(r)
				return value(p), p.Count > 0
			}})
		}
	}
	return all
}

// Metrics are the names of what a threshold can be set to.
func Metrics() []string {
	var names []string
	for _, m := range metrics() {
		names = append(names, m.name)
	}
	slices.Sort(names)
	return names
}

// Threshold is something that has to hold of a report.
type Threshold struct {
	metric metric
	sign   string
	bound  float64
	text   string // of the bound
}

// String writes the threshold as UnmarshalText reads it.
func (t Threshold) String() string { return t.metric.name + t.sign + t.text }

var thresholdForm = regexp.MustCompile(`^\s*([a-z0-9_]+)\s*(<=|>=|==|<|>)\s*([^\s<>=]+)\s*$`)

// UnmarshalText reads a threshold such as active<=200, wait_p95<2m or errors<0.1%.
func (t *Threshold) UnmarshalText(text []byte) error {
	parts := thresholdForm.FindStringSubmatch(string(text))
	if parts == nil {
		return fmt.Errorf("%q is not of the form active<=200; the signs are < <= > >= ==", text)
	}
	all := metrics()
	i := slices.IndexFunc(all, func(m metric) bool { return m.name == parts[1] })
	if i < 0 {
		hint := ""
		if near := spelling.Nearest(parts[1], Metrics()); near != "" {
			hint = fmt.Sprintf(" (did you mean %q?)", near)
		}
		return fmt.Errorf("there is no metric %q%s; there are %s", parts[1], hint, strings.Join(Metrics(), ", "))
	}
	bound, err := all[i].kind.parse(parts[3])
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	*t = Threshold{metric: all[i], sign: parts[2], bound: bound, text: parts[3]}
	return nil
}

// parse reads a bound.
func (k kind) parse(text string) (float64, error) {
	if k == duration {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, fmt.Errorf("%s is no time such as 90s or 2m", text)
		}
		return d.Seconds(), nil
	}
	digits, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(digits, 64)
	switch {
	case err != nil || value != value || percent && k != portion:
		return 0, fmt.Errorf("%s is no number", text)
	case percent:
		value /= 100
	}
	return value, nil
}

// write writes a value.
func (k kind) write(value float64) string {
	switch k {
	case duration:
		return measure.Seconds(value)
	case portion:
		return measure.Share(value)
	case count:
		return measure.Grouped(int(value))
	default:
		return fmt.Sprintf("%.4f", value)
	}
}

// Verdict is a threshold, and whether it holds.
type Verdict struct {
	Threshold string   `json:"threshold"`
	Value     *float64 `json:"value"` // nil if there is none, which passes no threshold
	Passed    bool     `json:"passed"`
	written   string
}

// judge notes which thresholds hold.
func (r *Report) judge(thresholds []Threshold) {
	r.Passed, r.Thresholds = true, make([]Verdict, 0, len(thresholds))
	for _, t := range thresholds {
		v := Verdict{Threshold: t.String(), written: "of nobody"}
		if value, known := t.metric.of(r); known {
			v.Value, v.Passed, v.written = &value, t.holds(value), t.metric.kind.write(value)
		}
		r.Passed = r.Passed && v.Passed
		r.Thresholds = append(r.Thresholds, v)
	}
}

func (t *Threshold) holds(value float64) bool {
	switch t.sign {
	case "<":
		return value < t.bound
	case "<=":
		return value <= t.bound
	case ">":
		return value > t.bound
	case ">=":
		return value >= t.bound
	default:
		return value == t.bound
	}
}
