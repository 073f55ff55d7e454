//go:build soak

package endtoend_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// phone is how somebody's phone behaves while they wait. The zero phone asks when it is told to.
type phone struct {
	reloads bool // asks once more before it is told to, each time
	loses   bool // one answer of four never arrives, and it asks again soon
	freezes bool // says nothing for a few seconds, once
}

// stay is what the client knows of when a visitor came.
type stay struct {
	asked, answered time.Time // the request that gave them their place, which is somewhere in between
	left            bool      // they were silent for longer than they were told
}

// phones are a crowd of them.
type phones struct {
	*crowd
	mu    sync.Mutex
	stays map[string]stay
}

// ring has n phones of a kind come within a time.
func (p *phones) ring(kind string, n int, within time.Duration, of phone) {
	for i := range n {
		v := &visit{crowd: p.crowd, person: person{delay: upTo(within)}, name: fmt.Sprintf("%s-%d", kind, i)}
		p.people.Go(func() { p.live(v, of) })
	}
}

// live keeps somebody in line until they are in.
func (p *phones) live(v *visit, of phone) {
	var s stay
	for told := v.delay; v.pause(told); {
		sent, before := time.Now(), v.tickets
		a, err := v.ask(sent)
		switch {
		case err != nil:
			told = time.Second
			continue
		case of.loses && rand.IntN(4) == 0:
			v.tickets, told = before, 100*time.Millisecond+upTo(400*time.Millisecond)
			continue
		case s.asked.IsZero():
			s.asked, s.answered = sent, time.Now()
		}
		if a.in {
			break
		}
		told = time.Duration(a.seconds) * time.Second
		switch {
		case of.reloads && told > time.Second/2:
			v.pause(upTo(told))
			if a, err = v.ask(time.Now()); err == nil {
				told = time.Duration(a.seconds) * time.Second
			}
		case of.freezes && !s.left:
			told, s.left = told+4*time.Second+upTo(4*time.Second), true
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stays[v.name] = s
}

// overtaken counts, for each visitor who stayed, who was let in before them and came later.
func (p *phones) overtaken(t *testing.T, log []sight) (most int) {
	t.Helper()
	in := map[string]time.Time{}
	for _, s := range log {
		if _, ok := in[s.visitor]; !ok {
			in[s.visitor] = s.seen
		}
	}
	for name, s := range p.stays {
		require.Contains(t, in, name)
		by := 0
		for other, o := range p.stays {
			if o.asked.After(s.answered) && in[other].Before(in[name]) {
				by++
			}
		}
		if !s.left {
			most = max(most, by)
		}
	}
	return most
}

// However people's phones behave: whoever stays is not overtaken by more people than the room
// admits in a few seconds.
func TestWhoeverStaysIsNotOvertakenInAWaveOfPhones(t *testing.T) {
	const people, perSecond, within = 300, 10, 6 * time.Second
	l := limits{active: 2 * perSecond, perMinute: 100_000, session: 2 * time.Second}
	g, log := serveLimits(t, l)
	p := &phones{crowd: newCrowd(t, g.url, l), stays: map[string]stay{}}
	p.ring("polite", people/4, within, phone{})
	p.ring("reloading", people/4, within, phone{reloads: true})
	p.ring("losing", people/4, within, phone{loses: true})
	p.ring("freezing", people/4, within, phone{freezes: true})
	p.over()
	p.noneLost()
	sights := log.all()
	judgeLimits(t, sights, l)
	require.Len(t, p.stays, people)
	most := p.overtaken(t, sights)
	t.Logf("of those who stayed, nobody was overtaken by more than %d", most)
	assert.LessOrEqual(t, most, 10*perSecond, "ten seconds of admissions")
}
