package simulate

import (
	"math"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// cohorts are how many parts the arrivals are cut into.
const cohorts = 30

// draw tests whether all who wait have the same chance. In each window of a
// minute it compares, as a log-rank test does, the people let in of each cohort
// with as many as its share of those at risk would make. Winners are drawn
// without replacement, so the variances carry (N-M)/(N-1), with N at risk and M
// winners: a plain chi-square would be far too tame.
//
// At risk are those who waited as the window began and had made a check-in by
// then. Spammers are compared with polite people of the same cohort and window,
// which is right in every method.
type draw struct {
	origin queue.Instant
	span   time.Duration // of the arrivals

	window  queue.Instant
	present [cohorts]risk // now
	atRisk  [cohorts]risk // as the window began
	won     [cohorts]risk // of those

	letIn      [cohorts]float64
	expected   [cohorts]float64
	covariance [cohorts][cohorts]float64
	winners    int
	odds       odds
}

// risk is a number of polite people and of spammers.
type risk struct{ polite, spam int }

func (r *risk) count(v *visitor, n int) {
	if v.kind.spams() {
		r.spam += n
	} else {
		r.polite += n
	}
}

func (r risk) all() int { return r.polite + r.spam }

func newDraw(r *run) *draw {
	d := &draw{origin: r.origin(), span: r.Over, window: start}
	if r.Spoofed {
		d.window = start.Add(gathering)
	}
	return d
}

func (d *draw) cohort(v *visitor) int {
	part := int(v.arrived.Sub(d.origin).Seconds() / d.span.Seconds() * cohorts)
	return max(0, min(part, cohorts-1))
}

// joined puts v at risk.
func (d *draw) joined(now queue.Instant, v *visitor) {
	d.advance(now)
	v.atRisk = now
	d.present[d.cohort(v)].count(v, 1)
}

// left notes that v is at risk no longer.
func (d *draw) left(now queue.Instant, v *visitor) {
	d.advance(now)
	d.present[d.cohort(v)].count(v, -1)
}

// wins notes that v is let in.
func (d *draw) wins(now queue.Instant, v *visitor) {
	d.advance(now)
	if v.atRisk != 0 && v.atRisk <= d.window {
		d.won[d.cohort(v)].count(v, 1)
	}
}

// advance closes the windows that have passed.
func (d *draw) advance(now queue.Instant) {
	for next := d.window.Add(time.Minute); next <= now; next = d.window.Add(time.Minute) {
		d.close()
		d.window, d.atRisk, d.won = next, d.present, [cohorts]risk{}
	}
}

func (d *draw) close() {
	people, winners := 0, 0
	for i := range d.atRisk {
		people += d.atRisk[i].all()
		winners += d.won[i].all()
		d.odds.add(d.atRisk[i], d.won[i])
	}
	if winners == 0 || people < 2 {
		return
	}
	d.winners += winners
	n, m := float64(people), float64(winners)
	scale := m * (n - m) / (n - 1)
	for i := range d.atRisk {
		share := float64(d.atRisk[i].all()) / n
		d.letIn[i] += float64(d.won[i].all())
		d.expected[i] += m * share
		d.covariance[i][i] += scale * share
		for j := range d.atRisk {
			d.covariance[i][j] -= scale * share * float64(d.atRisk[j].all()) / n
		}
	}
}

// test returns chi-square over the cohorts, its degrees of freedom, and how
// likely so large a value is where all have the same chance.
func (d *draw) test() (chi2 float64, freedom int, p float64) {
	var surplus [cohorts]float64
	for i := range surplus {
		surplus[i] = d.letIn[i] - d.expected[i]
	}
	chi2, freedom = quadratic(surplus, d.covariance)
	return chi2, freedom, chiSquareTail(chi2, freedom)
}

// odds gathers the Mantel-Haenszel odds ratio of spammers to polite people, and
// its test.
type odds struct {
	up, down          float64
	surplus, variance float64
	spammers          int // who were let in
}

func (o *odds) add(people, won risk) {
	n, m := float64(people.all()), float64(won.all())
	if people.spam == 0 || people.polite == 0 {
		return
	}
	o.spammers += won.spam
	o.up += float64(won.spam*(people.polite-won.polite)) / n
	o.down += float64(won.polite*(people.spam-won.spam)) / n
	share := float64(people.spam) / n
	o.surplus += float64(won.spam) - m*share
	o.variance += m * (n - m) / (n - 1) * share * (1 - share)
}

// ratio is known once both have won and lost.
func (o *odds) ratio() (ratio float64, known bool) {
	return o.up / o.down, o.up > 0 && o.down > 0
}

// test says how likely so large a difference, either way, is by chance.
func (o *odds) test() float64 {
	if o.variance <= 0 {
		return 1
	}
	return math.Erfc(math.Abs(o.surplus) / math.Sqrt(2*o.variance))
}
