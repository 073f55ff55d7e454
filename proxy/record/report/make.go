package report

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
	"github.com/fairdoor-gate/fairdoor/queue/waits"
)

// Config is what a report is made of.
type Config struct {
	Room     string
	Event    string // that the report is of; "" for another time
	Back     string // the page that a link of the report leads back to; "" for no link
	From, To time.Time
	Now      time.Time        // of the report: what comes after it is not missing
	Zone     *time.Location   // of the page; default UTC
	Gates    []record.Excerpt // what each gate has of the room in that time
}

// Make makes a report.
func Make(c Config) *Report {
	if c.Zone == nil {
		c.Zone = time.UTC
	}
	if c.Now.Before(c.To) {
		c.To = c.Now
	}
	all := record.Merge(c.Gates...)
	sum := record.Sum(all.Minutes)
	return &Report{
		Room: c.Room, Event: c.Event, Back: c.Back, From: c.From.In(c.Zone), To: c.To.In(c.Zone), Timezone: c.Zone.String(), Gates: len(c.Gates), zone: c.Zone,
		Known: known(all.Minutes, c.From, c.To), People: peopleOf(all.Minutes, &sum), Waits: waitsOf(sum.Waits), Told: toldOf(&sum),
		Active: record.PeakOf(all.Minutes, record.Active), Admitted: record.PeakOf(all.Minutes, record.Admitted),
		Queued: record.PeakOf(all.Minutes, record.Queued),
		Slots:  slotsOf(all.Minutes), Queues: queuesOf(all.Minutes), Refused: sum.Refused, Faults: faultsOf(&sum),
		Items:   itemsOf(all.Minutes, c.To),
		Bands:   append([]chart.Band{}, all.Bands()...),
		Changes: append([]record.Change{}, all.Changes...), Minutes: append([]record.Minute{}, all.Minutes...),
	}
}

func peopleOf(minutes []record.Minute, sum *record.Own) People {
	p := People{LetIn: sum.LetIn, FromLine: sum.Waits.Visitors(), GaveUp: sum.GaveUp}
	p.AtOnce = max(0, p.LetIn-p.FromLine)
	for _, m := range minutes {
		if m.Room != nil {
			p.ByStore += m.Room.Admitted
		}
	}
	return p
}

func waitsOf(c waits.Counts) Waits {
	seconds := func(share float64) int { return int(c.Percentile(share).Seconds()) }
	return Waits{Visitors: c.Visitors(), P25: seconds(.25), P50: seconds(.5), P75: seconds(.75), P95: seconds(.95), Longest: seconds(1), Bars: barsOf(c)}
}

// widths are those of the bars of a histogram, in seconds.
var widths = [...]int{5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 4 * 3600, 12 * 3600}

// mostBars is how many bars a histogram has.
const mostBars = 20

// barsOf are the waits as a histogram.
func barsOf(c waits.Counts) []Bar {
	longest, width := int(c.Longest().Seconds()), widths[len(widths)-1]
	for _, w := range widths {
		if longest/w < mostBars {
			width = w
			break
		}
	}
	bars := []Bar{}
	for _, n := range c {
		for n.Seconds >= len(bars)*width {
			bars = append(bars, Bar{From: len(bars) * width, To: (len(bars) + 1) * width})
		}
		bars[n.Seconds/width].Visitors += n.Visitors
	}
	return bars
}

func toldOf(sum *record.Own) *Told {
	s := sum.Score
	if s.Visitors == 0 {
		return nil
	}
	visitors, bias := float64(s.Visitors), float64(s.ToldMinutes-s.WaitedMinutes)
	return &Told{
		Visitors: s.Visitors, P50: wholeMinutes(sum.Told.Percentile(.5)), P95: wholeMinutes(sum.Told.Percentile(.95)),
		InTime: float64(s.InTime) / visitors, Near: float64(s.Near) / visitors,
		BiasMinutes: bias / visitors, BiasShare: bias / max(1, float64(s.WaitedMinutes)),
	}
}

// wholeMinutes is a wait that was told, which are whole minutes.
func wholeMinutes(told time.Duration) int { return int(told.Round(time.Minute) / time.Minute) }

func slotsOf(minutes []record.Minute) *Slots {
	var s Slots
	used, idle := 0.0, 0.0
	for _, m := range minutes {
		if m.Room != nil {
			s.QueueingSeconds += m.Room.QueueingSeconds
			used, idle = used+m.Room.UsedSeconds, idle+m.Room.IdleSeconds
		}
	}
	if used+idle == 0 {
		return nil
	}
	s.UsedShare = used / (used + idle)
	return &s
}

func faultsOf(sum *record.Own) Faults {
	return Faults{
		StoreFailingSeconds: sum.StoreFailingSeconds, StoreErrors: sum.StoreErrors, WithoutStore: sum.WithoutStore,
		OriginFailingSeconds: sum.OriginFailingSeconds, OriginErrors: sum.OriginErrors,
	}
}
