package demo

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/crowd"
)

// Range is a span of time that something takes, drawn evenly.
type Range struct{ Min, Max time.Duration }

func (r Range) draw() time.Duration { return r.Min + rand.N(r.Max-r.Min+1) }

// Crowd is a number of visitors, each with cookies of their own, who want into
// the sample site, wait as long as the room says, stay for a while and come again.
// Half of them leave by the site's button; the others just go, and are new visitors
// when they come again.
type Crowd struct {
	URL  string // of the gate, as http://127.0.0.1:8080
	Size int
	Page string // that they come for, and look at again; default the site's first, with its places

	Stay Range         // in the site; default 5 s to 20 s
	Away Range         // between two stays, and before the first a part of it; default 2 s to 10 s
	Ask  time.Duration // between two requests of those who are in; default 2 s
}

// Run sends the crowd until ctx ends, and waits until everyone has gone.
func (c Crowd) Run(ctx context.Context) {
	setDefault(&c.Stay, Range{5 * time.Second, 20 * time.Second})
	setDefault(&c.Away, Range{2 * time.Second, 10 * time.Second})
	setDefault(&c.Ask, 2*time.Second)
	transport := &http.Transport{MaxIdleConnsPerHost: c.Size}
	defer transport.CloseIdleConnections()
	var members sync.WaitGroup
	defer members.Wait()
	for range c.Size {
		m := &member{Crowd: c, visitor: crowd.New(transport, c.URL, "fairdoor-demo-crowd")}
		members.Go(func() { m.run(ctx) })
	}
}

func setDefault[T comparable](v *T, value T) {
	if zero := *new(T); *v == zero {
		*v = value
	}
}

// member is one of a crowd.
type member struct {
	Crowd
	visitor *crowd.Visitor
}

func (m *member) run(ctx context.Context) {
	pause := rand.N(m.Away.Min + 1)
	for m.visitor.Forget(); wait(ctx, pause); pause = m.Away.draw() {
		if m.enter(ctx) {
			m.stay(ctx)
		}
	}
}

// enter asks for the site until it is there. It returns false if there is no
// point in asking again soon.
func (m *member) enter(ctx context.Context) bool {
	for {
		in, again := m.ask(ctx, http.MethodGet, cmp.Or(m.Page, "/"))
		if in {
			return true
		}
		if again == 0 || !wait(ctx, again) {
			return false
		}
	}
}

// stay uses the site for as long as a stay takes, or until the place is lost.
func (m *member) stay(ctx context.Context) {
	ends := time.Now().Add(m.Stay.draw())
	for time.Now().Before(ends) {
		if !wait(ctx, m.Ask) {
			return
		}
		if in, _ := m.ask(ctx, http.MethodGet, cmp.Or(m.Page, "/seats")); !in {
			return
		}
	}
	if m.Page == "" && rand.N(2) == 0 {
		m.ask(ctx, http.MethodPost, "/leave")
	} else {
		m.visitor.Forget()
	}
}

// ask sends a request. It returns whether the site answered, and else how long
// the room wants the visitor to wait: 0 for not at all, or if there was no
// sensible answer.
func (m *member) ask(ctx context.Context, method, path string) (in bool, again time.Duration) {
	answer, err := m.visitor.Ask(ctx, method, path, nil)
	if err != nil {
		return false, 0
	}
	return answer.In, answer.Again
}

// wait waits, and returns false if ctx ends first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
