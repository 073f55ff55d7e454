package simulate

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// pace is how fast people who wait are let in.
type pace struct {
	at      queue.Instant
	waiting bool // since then
	waited  time.Duration
	letIn   int

	quarters [4]int // of letIn, by the quarter of the calendar minute

	latest []queue.Instant // when those were let in who were in the last second
	most   int             // in a second
}

// look notes how many people wait.
func (p *pace) look(now queue.Instant, people int) {
	if p.waiting {
		p.waited += now.Sub(p.at)
	}
	p.at, p.waiting = now, people > 0
}

// admitted notes that somebody was let in from the line.
func (p *pace) admitted(now queue.Instant) {
	p.letIn++
	p.quarters[now.Sub(now.Floor(time.Minute))/(time.Minute/4)]++
	for len(p.latest) > 0 && now.Sub(p.latest[0]) >= time.Second {
		p.latest = p.latest[1:]
	}
	p.latest = append(p.latest, now)
	p.most = max(p.most, len(p.latest))
}

// byQuarter is which share was let in in each quarter of a minute.
func (p *pace) byQuarter() (shares [4]float64) {
	for i, letIn := range p.quarters {
		shares[i] = float64(letIn) / float64(max(1, p.letIn))
	}
	return shares
}

// perSecond is how many were let in from the line in a second in which people waited.
func (p *pace) perSecond() float64 {
	return float64(max(1, p.letIn)) / max(p.waited, time.Second).Seconds()
}
