package load

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/measure"
)

// Report is what came of a crowd. Its JSON has the fields as tagged here; times are in
// seconds where the name says so, shares from 0 to 1.
type Report struct {
	Crowd      string    `json:"crowd"` // in words
	Gate       string    `json:"gate"`
	Whole      bool      `json:"whole"` // false if it was ended before everybody was through
	Lasted     float64   `json:"lasted_seconds"`
	Passed     bool      `json:"passed"` // all thresholds hold
	Thresholds []Verdict `json:"thresholds"`
	People     People    `json:"people"`

	Wait Percentiles `json:"wait"` // of all who were let in
	Told Told        `json:"told"`

	Origin   *Sights  `json:"origin,omitempty"` // nil if it is not known what the origin saw
	Order    Order    `json:"order"`
	Requests Requests `json:"requests"`
	Machine  Machine  `json:"machine"`
}

// People counts the crowd. All but the visitors are people, who keep their cookies.
type People struct {
	Visitors     int `json:"visitors"` // bots among them
	People       int `json:"people"`
	LetIn        int `json:"let_in"`
	Waited       int `json:"waited"` // whether they were let in or not
	GaveUp       int `json:"gave_up"`
	Refused      int `json:"refused"`
	Interrupted  int `json:"interrupted"` // were let in, and had to wait again before they were through
	StillWaiting int `json:"still_waiting"`
	NotCome      int `json:"not_come"` // when the crowd was stopped
}

// Percentiles are those of durations, by the nearest rank.
type Percentiles struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50_seconds"`
	P95   float64 `json:"p95_seconds"`
	P99   float64 `json:"p99_seconds"`
	Max   float64 `json:"max_seconds"`
}

// Told compares what people were told when they had to wait with how long it took, as far as
// they were told something and were let in.
type Told struct {
	Shown  Percentiles `json:"shown"`
	True   Percentiles `json:"true"`
	InTime float64     `json:"in_time"` // share of those who were in by then
}

// Sights are what the origin saw.
type Sights struct {
	Requests          int `json:"requests"`
	Active            int `json:"active"`              // most at a time
	AdmittedPerMinute int `json:"admitted_per_minute"` // most in a calendar minute
}

// Order compares the order of arrivals with that in which people were let in.
type Order struct {
	Tau       float64 `json:"tau"`       // Kendall's: 1 in perfect order, 0 in none
	Overtaken int     `json:"overtaken"` // how many who had come before somebody still waited when that one was let in, at most
}

// Requests are those of the crowd, and how the gate answered.
type Requests struct {
	Sent    int         `json:"sent"`
	Failed  int         `json:"failed"` // no answer, or an error that is not the room's
	Error   string      `json:"first_error,omitempty"`
	Latency Percentiles `json:"latency"`
}

// Machine is how the crowd itself did.
type Machine struct {
	Lag       Percentiles `json:"lag"`       // how much later than due requests were sent
	Processor float64     `json:"processor"` // share of the machine's processors that the crowd used
	Limited   bool        `json:"limited"`   // the machine, and not the gate, may have been the limit
}

// maxLag is how late one request in a hundred may be sent before the figures are in doubt.
const maxLag = time.Second / 4

func (r *run) report(whole bool) *Report {
	rep := &Report{
		Crowd: r.Crowd.Crowd(), Gate: r.Gate.String(), Whole: whole, Lasted: r.lasted.Seconds(), People: r.stories(),
		Requests: Requests{Sent: r.requests, Failed: r.failed, Latency: percentiles(r.latencies)},
	}
	if r.firstErr != nil {
		rep.Requests.Error = r.firstErr.Error()
	}
	all, promised := r.waits()
	rep.Wait, rep.Told = percentiles(all), compare(promised)
	rep.Order.Tau, rep.Order.Overtaken = r.order()
	rep.Machine.Lag = percentiles(r.lags)
	rep.Machine.Processor = r.processor.Seconds() / max(r.lasted.Seconds(), 1e-9) / float64(runtime.NumCPU())
	rep.Machine.Limited = rep.Machine.Lag.P99 > maxLag.Seconds()
	if r.Origin != nil {
		limits := r.Origin.judge(r.people, r.Crowd.Room.WithDefaults())
		rep.Origin = &Sights{Requests: len(r.Origin.sights), Active: limits.MostActive, AdmittedPerMinute: limits.MostPerMinute}
	}
	rep.judge(r.Thresholds)
	return rep
}

// compare compares what people were told with how long it took.
func compare(waits []told) Told {
	shown, took, inTime := make([]time.Duration, len(waits)), make([]time.Duration, len(waits)), 0
	for i, w := range waits {
		shown[i], took[i] = w.told, w.took
		if w.took <= w.told {
			inTime++
		}
	}
	return Told{Shown: percentiles(shown), True: percentiles(took), InTime: share(inTime, len(waits))}
}

// share is a part of a whole, 0 of nothing.
func share(part, whole int) float64 { return float64(part) / float64(max(whole, 1)) }

// Write writes the report as a text: first the thresholds, then the waits, then what the
// origin saw.
func (r *Report) Write(w io.Writer) error {
	t := &text{}
	t.line("%s, at %s", r.Crowd, r.Gate)
	if r.Whole {
		t.line("All through after %s.", measure.Seconds(r.Lasted))
	} else {
		t.line("Stopped after %s, before everybody was through. The figures are of what there was until then.", measure.Seconds(r.Lasted))
	}
	t.thresholds(r)
	t.waits(r)
	t.origin(r)
	t.people(r)
	t.requests(r)
	_, err := w.Write(t.Bytes())
	return err
}

type text struct{ bytes.Buffer }

func (t *text) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

func (t *text) head(title string) { t.line("\n%s", title) }

func (t *text) row(label string, cells ...any) {
	fmt.Fprintf(t, "  %-42s", label)
	for _, cell := range cells {
		fmt.Fprintf(t, "%14v", cell)
	}
	t.line("")
}

func (t *text) thresholds(r *Report) {
	t.head("Thresholds")
	if len(r.Thresholds) == 0 {
		t.line("  none; --threshold sets some")
	}
	for _, v := range r.Thresholds {
		mark := "✓"
		if !v.Passed {
			mark = "✗"
		}
		t.row(mark+" "+v.Threshold, v.written)
	}
}

func (t *text) waits(r *Report) {
	t.head("Waits")
	t.row("", "everybody", "told at first", "… true")
	row := func(label string, of func(Percentiles) float64) {
		cell := func(p Percentiles) string {
			if p.Count == 0 {
				return "–"
			}
			return measure.Seconds(of(p))
		}
		t.row(label, cell(r.Wait), cell(r.Told.Shown), cell(r.Told.True))
	}
	row("50 % at most", func(p Percentiles) float64 { return p.P50 })
	row("95 %", func(p Percentiles) float64 { return p.P95 })
	row("99 %", func(p Percentiles) float64 { return p.P99 })
	row("longest", func(p Percentiles) float64 { return p.Max })
	t.row("people", measure.Grouped(r.Wait.Count), measure.Grouped(r.Told.Shown.Count), measure.Grouped(r.Told.True.Count))
	if r.Told.Shown.Count > 0 {
		t.row("in by when they were told", "", "", measure.Share(r.Told.InTime))
	}
}

func (t *text) origin(r *Report) {
	t.head("What the origin saw")
	if r.Origin == nil {
		t.line("  not known; --origin-listen or --origin-log tells")
	} else {
		t.row("most active at a time", measure.Grouped(r.Origin.Active))
		t.row("most let in in a calendar minute", measure.Grouped(r.Origin.AdmittedPerMinute))
		t.row("requests", measure.Grouped(r.Origin.Requests))
	}
	t.row("order of arrival and admission (Kendall tau)", fmt.Sprintf("%.4f", r.Order.Tau))
	t.row("let in before how many who came earlier", measure.Grouped(r.Order.Overtaken))
}

func (t *text) people(r *Report) {
	t.head("People")
	p := r.People
	t.row("let in", measure.Grouped(p.LetIn))
	t.row("had to wait", measure.Grouped(p.Waited))
	for _, c := range []struct {
		label string
		n     int
	}{
		{"gave up", p.GaveUp},
		{"turned away", p.Refused},
		{"lost their session while browsing", p.Interrupted},
		{"still waiting", p.StillWaiting},
		{"had not come yet", p.NotCome},
		{"besides: bots, which keep no cookies", p.Visitors - p.People},
	} {
		if c.n > 0 {
			t.row(c.label, measure.Grouped(c.n))
		}
	}
}

func (t *text) requests(r *Report) {
	t.head("Requests")
	g := r.Requests
	t.row("sent", measure.Grouped(g.Sent))
	t.row("failed", measure.Grouped(g.Failed))
	if g.Error != "" {
		t.line("    the first: %s", g.Error)
	}
	t.row("answered, 50 % within", measure.Seconds(g.Latency.P50))
	t.row("99 %", measure.Seconds(g.Latency.P99))
	t.row("sent late, 99 % by at most", measure.Seconds(r.Machine.Lag.P99))
	t.row("processors that the crowd used", measure.Share(r.Machine.Processor))
	if r.Machine.Limited {
		t.line("\nThe crowd fell behind its schedule: this machine, or --connections, and not the gate may have been the limit.")
	}
}
