//go:build !race

package world_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/world"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// In worlds of fixed seeds in which slots are raced for all the time, nobody has a better chance
// than others because they came early, or late, or because they ask more often.
func TestInRandomEverybodyHasTheSameChance(t *testing.T) {
	var all world.Pool
	for seed := range uint64(3) {
		p := world.Draw(seed + 1)
		p.Gates, p.Redis, p.Sale, p.Faults, p.Waitlist, p.Passes, p.Calls, p.People = 1, false, world.Sale{}, nil, nil, nil, nil, nil
		p.Lasts = 8 * time.Minute
		p.Settings = queue.Settings{
			Method: queue.Random, TotalActiveUsers: 60, NewUsersPerMinute: 100_000, SessionDuration: 4 * time.Second, RefreshInterval: 5 * time.Second,
		}.WithDefaults()
		for i := range 2400 {
			p.People = append(p.People, someone(i, i%10 == 0))
			p.People[i].Joins, p.People[i].Browse = time.Duration(i)*190*time.Millisecond, time.Duration(1+i*7919%16)*time.Second
		}
		all.Add(world.Run(t, p))
	}
	t.Log(&all)
	for _, broken := range all.Check() {
		t.Error(broken)
	}
}

// someone is an app, which asks when it is told to or more often.
func someone(i int, often bool) world.Person {
	p := world.Person{Name: fmt.Sprint("visitor ", i), Number: i, Kind: "app"}
	if often {
		p.Kind = "impatient"
	}
	return p
}

// line is a history of people who all come at once, the first before the next, and of whom one is
// let in every ten seconds from the second minute on: the one whom next picks of those who wait, by
// who has come when. Every fifth asks often. All are told to wait for so many minutes.
func line(method queue.Method, told int, next func(r *rand.Rand, waiting []int) int, seed uint64) *world.History {
	plan := &world.Plan{Seed: seed, Gates: 1, Lasts: time.Hour}
	plan.Settings = queue.Settings{Method: method, TotalActiveUsers: 100, NewUsersPerMinute: 1000, RefreshInterval: 5 * time.Second}.WithDefaults()
	h, r := &world.History{Plan: plan, Ends: plan.Lasts}, rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // no secret
	var waiting []int
	for i := range 20 {
		plan.People, waiting = append(plan.People, someone(i, often(i))), append(waiting, i)
	}
	for turn := range plan.People {
		at := next(r, waiting)
		who, in := waiting[at], time.Minute+time.Duration(turn)*10*time.Second
		waiting = slices.Delete(waiting, at, at+1)
		every, came := plan.Settings.RefreshInterval, time.Duration(who)*100*time.Millisecond
		if often(who) {
			every = 2 * time.Second
		}
		h.Events = append(h.Events, world.Event{What: world.Came, Who: who, At: came}, world.Event{What: world.Seen, Who: who, Gate: 1, Sent: in - time.Millisecond, At: in})
		for asks := came + time.Millisecond; asks < in; asks += every {
			told := world.Room{InWaitingRoom: true, WaitTimeKnown: true, WaitTime: told}
			h.Events = append(h.Events, world.Event{What: world.Waits, Who: who, Gate: 1, Sent: asks, At: asks, Room: told})
		}
	}
	slices.SortStableFunc(h.Events, func(a, b world.Event) int { return cmp.Compare(a.At, b.At) })
	return h
}

// often says whether somebody of a line asks often.
func often(who int) bool { return who%5 == 2 }

// The first waits for a minute, the last for four: who is told two is told the truth on average.
func TestPromisesAboutAveragesAreChecked(t *testing.T) {
	anyone := func(r *rand.Rand, waiting []int) int { return r.IntN(len(waiting)) }
	first := func(*rand.Rand, []int) int { return 0 }
	last := func(_ *rand.Rand, waiting []int) int { return len(waiting) - 1 }
	hasty := func(_ *rand.Rand, waiting []int) int { return max(0, slices.IndexFunc(waiting, often)) }
	for _, c := range []struct {
		name   string
		method queue.Method
		told   int
		next   func(*rand.Rand, []int) int
		broken []string
	}{
		{"a fair draw", queue.Random, 2, anyone, nil},
		{"a draw in which the first win", queue.Random, 2, first, []string{"not more for who came early"}},
		{"a draw in which the last win", queue.Random, 2, last, []string{"not more for who came late"}},
		{"a draw in which those win who ask often", queue.Random, 2, func(r *rand.Rand, waiting []int) int {
			if at := slices.IndexFunc(waiting, often); at >= 0 {
				return at
			}
			return anyone(r, waiting)
		}, []string{"random: asking more often"}},
		{"a line in order", queue.FIFO, 3, first, nil},
		{"a line in which those go before who ask often", queue.FIFO, 3, hasty, []string{"fifo and line: asking more often"}},
		{"waits that are too short", queue.FIFO, 1, first, []string{"not too short"}},
		{"waits that are too long", queue.FIFO, 9, first, []string{"not too long"}},
	} {
		var all world.Pool
		for seed := range uint64(100) {
			all.Add(line(c.method, c.told, c.next, seed))
		}
		broken := all.Check()
		if len(broken) != len(c.broken) || len(broken) > 0 && !strings.Contains(broken[0], c.broken[0]) {
			t.Errorf("%s: %q are broken, in\n%s", c.name, broken, &all)
		}
	}
}

// The checkers notice waits that are told as known while nobody can know them.
func TestUnknownWaitsAreChecked(t *testing.T) {
	for _, c := range []struct {
		name    string
		sale    world.Sale
		active  int           // total_active_users, all taken in the first second
		at      time.Duration // when somebody who has waited for half a minute is told a wait; 0 for never
		noticed bool
	}{
		{"nothing is known", world.Sale{}, 2, 0, false},
		{"slots may have come free", world.Sale{}, 2, 2 * time.Minute, false},
		{"nobody has left", world.Sale{}, 2, 35 * time.Second, true},
		{"there are slots", world.Sale{}, 20, 35 * time.Second, false},
		{"the line has just begun", world.Sale{}, 20, 31 * time.Second, true},
		{"everyone new is held", world.Sale{Prequeue: time.Minute, Start: 5 * time.Minute, End: time.Hour}, 20, 2 * time.Minute, true},
		{"the sale goes on", world.Sale{Prequeue: time.Minute, Start: 5 * time.Minute, End: time.Hour}, 20, 6 * time.Minute, false},
	} {
		plan := &world.Plan{Gates: 1, Lasts: time.Hour, Sale: c.sale}
		plan.Settings = queue.Settings{Method: queue.FIFO, TotalActiveUsers: c.active, NewUsersPerMinute: 1000, SessionDuration: 90 * time.Second, ConfirmWithin: time.Minute}.WithDefaults()
		h := &world.History{Plan: plan, Ends: plan.Lasts}
		for who := range 3 {
			plan.People = append(plan.People, someone(who, false))
			h.Events = append(h.Events, world.Event{What: world.Came, Who: who, At: time.Second})
		}
		for who := range 2 {
			h.Events = append(h.Events, world.Event{What: world.Seen, Who: who, Gate: 1, Sent: time.Second, At: time.Second})
		}
		waits := func(at time.Duration, known bool) {
			h.Events = append(h.Events, world.Event{What: world.Waits, Who: 2, Gate: 1, Sent: at, At: at, Room: world.Room{InWaitingRoom: true, WaitTimeKnown: known, WaitTime: 1}})
		}
		waits(30*time.Second, false)
		if c.at > 0 {
			waits(c.at, true)
		}
		noticed := slices.ContainsFunc(world.Check(h), func(b world.Breach) bool { return b.Promise == "waits that are not known are said to be unknown" })
		if noticed != c.noticed {
			t.Errorf("%s: a wait that is told is noticed: %v", c.name, noticed)
		}
	}
}
