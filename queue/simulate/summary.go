package simulate

import (
	"bytes"
	"fmt"
	"io"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/measure"
)

// String describes the experiment in one line.
func (c Config) String() string {
	s := c.Room.WithDefaults()
	how := ""
	if c.Spoofed {
		how = ", joining at once"
	}
	return fmt.Sprintf("%s%s · %s active, %s a minute, sessions of %s · seed %d",
		c.Crowd(), how, measure.Grouped(s.TotalActiveUsers), measure.Grouped(s.NewUsersPerMinute), measure.Short(s.SessionDuration), c.Seed)
}

// Crowd describes who comes.
func (c Config) Crowd() string {
	return fmt.Sprintf("%s visitors, %s over %s", measure.Grouped(c.Visitors), c.Arrivals, measure.Short(c.Over))
}

// WriteSummary writes the results of one crowd side by side, as a text.
func WriteSummary(w io.Writer, c Config, results []*Result) error {
	t := &table{results: results}
	fmt.Fprintf(&t.text, "%s\n\n", c)
	t.row("", func(r *Result) string { return r.Method.String() })
	t.people(c)
	t.waits()
	t.limits(c.Room)
	t.slots()
	t.sharing(c)
	t.origin(c)
	t.order()
	t.draw()
	t.accuracy("Waits shown to newcomers", func(r *Result) Accuracy { return r.ToldAtFirst })
	t.accuracy("Waits shown while waiting", func(r *Result) Accuracy { return r.ToldLater })
	t.places()
	_, err := w.Write(t.text.Bytes())
	return err
}

// table writes a row for each figure and a column for each result.
type table struct {
	results []*Result
	text    bytes.Buffer
}

func (t *table) head(title string) { fmt.Fprintf(&t.text, "\n%s\n", title) }

func (t *table) row(label string, cell func(*Result) string) {
	fmt.Fprintf(&t.text, "  %-38s", label)
	for _, r := range t.results {
		fmt.Fprintf(&t.text, "%14s", cell(r))
	}
	t.text.WriteByte('\n')
}

// has says whether any of the results has something of this kind.
func (t *table) has(test func(*Result) bool) bool {
	for _, r := range t.results {
		if test(r) {
			return true
		}
	}
	return false
}

func (t *table) people(c Config) {
	t.head("People")
	count := func(label string, always bool, of func(*Result) int) {
		if always || t.has(func(r *Result) bool { return of(r) > 0 }) {
			t.row(label, func(r *Result) string { return measure.Grouped(of(r)) })
		}
	}
	count("let in", true, func(r *Result) int { return r.People.Admitted })
	count("gave up", true, func(r *Result) int { return r.People.GaveUp })
	count("turned away", false, func(r *Result) int { return r.People.Rejected })
	count("lost their session while browsing", false, func(r *Result) int { return r.People.Interrupted })
	count("requests of bots", c.Bots > 0, func(r *Result) int { return r.People.BotRequests })
	count("… that were let in", c.Bots > 0, func(r *Result) int { return r.People.BotAdmissions })
	count("let in while open to all", c.Room.QueueWhen > 0, func(r *Result) int { return r.People.Uncounted })
	count("requests without cookies besides", c.Strays > 0, func(r *Result) int { return r.People.Strays })
	count("… that were let in", c.Strays > 0, func(r *Result) int { return r.People.StraysLetIn })
	t.row("all through after", func(r *Result) string { return measure.Seconds(r.LastedSeconds) })
}

func (t *table) waits() {
	t.head("Wait")
	for _, p := range []struct {
		label string
		of    func(Percentiles) float64
	}{
		{"5 % at most", func(p Percentiles) float64 { return p.P5 }},
		{"25 %", func(p Percentiles) float64 { return p.P25 }},
		{"50 %", func(p Percentiles) float64 { return p.P50 }},
		{"75 %", func(p Percentiles) float64 { return p.P75 }},
		{"95 %", func(p Percentiles) float64 { return p.P95 }},
		{"99 %", func(p Percentiles) float64 { return p.P99 }},
		{"longest", func(p Percentiles) float64 { return p.Max }},
	} {
		t.row(p.label, func(r *Result) string { return measure.Seconds(p.of(r.Wait)) })
	}
}

func (t *table) limits(s queue.Settings) {
	t.head("Limits")
	t.row(fmt.Sprintf("most active at a time (limit %s)", measure.Grouped(s.TotalActiveUsers)),
		func(r *Result) string { return measure.Grouped(r.Limits.MostActive) })
	t.row(fmt.Sprintf("most let in in a minute (limit %s)", measure.Grouped(s.NewUsersPerMinute)),
		func(r *Result) string { return measure.Grouped(r.Limits.MostPerMinute) })
	t.row("largest overshoot of either limit", func(r *Result) string { return measure.Grouped(max(r.Limits.OverActive, r.Limits.OverPerMinute)) })
	t.row("let in out of turn", func(r *Result) string { return measure.Grouped(r.Limits.OutOfTurn) })
}

func (t *table) slots() {
	t.head("Slots while people waited")
	t.row("slot-time used", func(r *Result) string { return measure.Share(r.Slots.UsedShare) })
	if t.has(func(r *Result) bool { return r.People.Strays > 0 }) {
		t.row("of all that was used, people's", func(r *Result) string { return measure.Share(r.Slots.PeopleShare) })
	}
	t.row("a minute's allowance left over", func(r *Result) string { return measure.Share(r.Slots.LapsedShare) })
	t.row("a minute's allowance is released", func(r *Result) string { return r.Slots.Pacing.String() })
	t.row("let in in its four quarters, %", func(r *Result) string {
		q := r.Slots.ByQuarter
		return fmt.Sprintf("%.0f %.0f %.0f %.0f", 100*q[0], 100*q[1], 100*q[2], 100*q[3])
	})
	t.row("idle until taken, 50 % at most", func(r *Result) string { return measure.Seconds(r.Slots.IdleP50) })
	t.row("95 %", func(r *Result) string { return measure.Seconds(r.Slots.IdleP95) })
	t.row("longest", func(r *Result) string { return measure.Seconds(r.Slots.IdleMax) })
}

// sharing writes of the store that nodes share, where there is one.
func (t *table) sharing(c Config) {
	if !t.has(func(r *Result) bool { return r.Sharing != nil }) {
		return
	}
	t.head(fmt.Sprintf("Calls to the store (nodes: %s, a call takes %s)", measure.Grouped(c.Nodes), c.StoreLatency))
	rate := func(label string, of func(*Sharing) float64) {
		t.row(label, func(r *Result) string { return fmt.Sprintf("%.1f", of(r.Sharing)) })
	}
	count := func(label string, always bool, of func(*Sharing) int) {
		if always || t.has(func(r *Result) bool { return of(r.Sharing) > 0 }) {
			t.row(label, func(r *Result) string { return measure.Grouped(of(r.Sharing)) })
		}
	}
	rate("a second", func(s *Sharing) float64 { return s.Calls.PerSecond })
	count("… most", true, func(s *Sharing) int { return s.Calls.MostPerSecond })
	rate("a second and node", func(s *Sharing) float64 { return s.Calls.PerNode })
	count("… most", true, func(s *Sharing) int { return s.Calls.MostPerNode })
	rate("for newcomers besides, a second", func(s *Sharing) float64 { return s.NewcomersCalls.PerSecond })
	count("… most", true, func(s *Sharing) int { return s.NewcomersCalls.MostPerSecond })
	count("… most of a node", true, func(s *Sharing) int { return s.NewcomersCalls.MostPerNode })
	count("times that the store failed", false, func(s *Sharing) int { return s.StoreFailures })
	count("calls without an answer", false, func(s *Sharing) int { return s.FailedCalls })
	count("nodes that died", false, func(s *Sharing) int { return s.NodeDeaths })
	count("… requests that they had in hand", false, func(s *Sharing) int { return s.LostRequests })
	count("… renewals that they had not reported", false, func(s *Sharing) int { return s.LostRenewals })
}

func (t *table) order() {
	t.head("Order of arrival and admission (Kendall tau)")
	t.row("everyone", func(r *Result) string { return fmt.Sprintf("%.4f", r.Order.Tau) })
	t.row("let in before how many who came earlier", func(r *Result) string { return measure.Grouped(r.Order.MostOvertaken) })
	t.row("… in time of admissions", func(r *Result) string { return measure.Seconds(r.Order.OvertakenSeconds) })
	t.row("let in from the line within a second, at most", func(r *Result) string { return measure.Grouped(r.Order.MostPerSecond) })
	t.row("across buckets", func(r *Result) string { return fmt.Sprintf("%.4f", r.Order.TauBuckets) })
}

// draw writes of the chances of those who wait, where there is something to
// compare.
func (t *table) draw() {
	if t.has(func(r *Result) bool { return r.Draw != nil }) {
		t.head("Chances by time of arrival")
		of := func(r *Result, s func(*Draw) string) string {
			if r.Draw == nil {
				return "–"
			}
			return s(r.Draw)
		}
		t.row("chi-square, degrees of freedom", func(r *Result) string {
			return of(r, func(d *Draw) string { return fmt.Sprintf("%.1f, %d", d.ChiSquare, d.Freedom) })
		})
		t.row("p (small: the chances differ)", func(r *Result) string {
			return of(r, func(d *Draw) string { return probability(d.P) })
		})
	}
	if !t.has(func(r *Result) bool { return r.Spammers != nil }) {
		return
	}
	t.head("Chances of spammers")
	of := func(r *Result, s func(*Spam) string) string {
		if r.Spammers == nil {
			return "–"
		}
		return s(r.Spammers)
	}
	t.row("odds, polite people having 1", func(r *Result) string {
		return of(r, func(s *Spam) string { return fmt.Sprintf("%.3f", s.OddsRatio) })
	})
	t.row("p (small: the odds differ)", func(r *Result) string {
		return of(r, func(s *Spam) string { return probability(s.P) })
	})
}

// accuracy writes how the waits that people were shown compare with what they had.
func (t *table) accuracy(title string, of func(*Result) Accuracy) {
	if !t.has(func(r *Result) bool { return of(r).Shown > 0 }) {
		return
	}
	t.head(title)
	t.row("unknown", func(r *Result) string {
		a := of(r)
		return measure.Share(float64(a.Unknown) / float64(max(1, a.Shown+a.Unknown)))
	})
	figure := func(label, format string, value func(Accuracy) float64) {
		t.row(label, func(r *Result) string {
			if a := of(r); a.Shown > 0 {
				return fmt.Sprintf(format, value(a))
			}
			return "–"
		})
	}
	figure("median error, minutes", "%.1f", func(a Accuracy) float64 { return a.MedianErrorMinutes })
	figure("mean of shown less actual, minutes", "%+.1f", func(a Accuracy) float64 { return a.BiasMinutes })
	figure("median error, % of the wait", "%.1f", func(a Accuracy) float64 { return 100 * a.ErrorShare })
	figure("mean of shown less actual, %", "%+.1f", func(a Accuracy) float64 { return 100 * a.BiasShare })
	figure("let in by then, %", "%.1f", func(a Accuracy) float64 { return 100 * a.InTime })
	if t.has(func(r *Result) bool { return of(r).Range != nil }) {
		t.row("let in by 25, 50, 75 percentile, %", func(r *Result) string {
			if a := of(r).Range; a != nil {
				return fmt.Sprintf("%.0f, %.0f, %.0f", 100*a.By25, 100*a.By50, 100*a.By75)
			}
			return "–"
		})
		t.row("let in within the 25–75 range, %", func(r *Result) string {
			if a := of(r).Range; a != nil {
				return fmt.Sprintf("%.1f", 100*a.Within)
			}
			return "–"
		})
	}
}

// places writes how the places that people were shown compare with those that they had.
func (t *table) places() {
	if !t.has(func(r *Result) bool { return r.Places != nil }) {
		return
	}
	t.head("People ahead, as shown (errors in seconds of admissions)")
	figure := func(label string, of func(*PlacesShown) string) {
		t.row(label, func(r *Result) string {
			if r.Places == nil {
				return "–"
			}
			return of(r.Places)
		})
	}
	figure("50 % at most", func(p *PlacesShown) string { return measure.Seconds(p.ErrorP50) })
	figure("95 %", func(p *PlacesShown) string { return measure.Seconds(p.ErrorP95) })
	figure("10 s at most", func(p *PlacesShown) string { return measure.Share(p.Within10s) })
	figure("nobody, when there was somebody", func(p *PlacesShown) string { return measure.Grouped(p.WronglyFirst) })
	figure("… of the first answers", func(p *PlacesShown) string { return measure.Share(p.FirstWithin10s) })
	figure("further back than before", func(p *PlacesShown) string { return measure.Grouped(p.Rose) })
	figure("… by", func(p *PlacesShown) string { return measure.Seconds(p.MostRose) })
}

func probability(p float64) string {
	if p < 1e-4 {
		return fmt.Sprintf("%.0e", p)
	}
	return fmt.Sprintf("%.4f", p)
}
