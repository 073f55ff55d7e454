package waitlist_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// reports is how many actions two programs report in TestTwoProgramsReportActionsInAnyOrder.
var reports = flag.Int("reports", 500, "actions that two programs report")

func actions(s *waitlist.Settings) {
	s.ConfirmEmail, s.ActionsMax = false, 12
	s.Actions = []waitlist.Action{{Name: "shared", Points: 5, Most: 10, Title: "Told friends"}, {Name: "bought", Points: 8}}
}

// report reports an action of an entry.
func (w *world) report(number int64, id, action string, points int) error {
	return w.Report(ctx, number, waitlist.Report{ID: id, Action: action, Points: points}, "", w.now)
}

// Invariant W11.
func TestActionsMovePeopleUpOnceByTheirIDsWithinBounds(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(actions))
		people := w.people(3)
		first, last := people[0].Number, people[2].Number
		for range 2 {
			require.NoError(t, w.report(last, "a", "shared", 0))
		}
		require.Equal(t, 5, w.entry(last).Priority)
		require.Equal(t, 1, w.entry(last).Rank)
		require.NoError(t, w.report(first, "b", "shared", 5))
		require.Equal(t, 1, w.entry(first).Rank, "of those who have done the same, who signed up first is first")
		require.NoError(t, w.report(last, "c", "shared", 4))
		require.NoError(t, w.report(last, "d", "shared", 4))
		require.Equal(t, 10, w.entry(last).Priority, "no more than 10 of one action")
		require.NoError(t, w.report(last, "e", "bought", 8))
		require.Equal(t, 12, w.entry(last).Priority, "no more than 12 in all")
		moves, err := w.Moves(ctx, last)
		require.NoError(t, err)
		require.Equal(t, []waitlist.Move{{Action: "bought", Points: 8}, {Action: "shared", Title: "Told friends", Points: 4}}, moves, "which they are told")
		for range 2 {
			require.NoError(t, w.TakeBack(ctx, last, "a", "", w.now))
		}
		require.NoError(t, w.report(last, "a", "shared", 0), "a late repeat")
		require.Equal(t, 12, w.entry(last).Priority, "what was beyond the bounds counts instead: 8 and 8")
		require.NoError(t, w.TakeBack(ctx, last, "e", "", w.now))
		require.Equal(t, 8, w.entry(last).Priority)
		require.NoError(t, w.SetPriority(ctx, last, 100, operator, w.now))
		require.NoError(t, w.TakeBack(ctx, last, "d", "", w.now))
		require.Equal(t, 96, w.entry(last).Priority, "an operator's priority is a base")

		moves, err = w.Moves(ctx, last)
		require.NoError(t, err)
		assert.Equal(t, []waitlist.Move{{Action: "shared", Title: "Told friends", Points: 4}}, moves)
		assert.Equal(t, []string{"joined 1", "joined 2", "joined 3", "moved_up 3", "moved_up 1", "moved_up 3", "moved_up 3", "moved_up 3", "moved_up 3"},
			told(w.events()))
	})
}

func TestReportsThatAreWrongAreRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(actions))
		people := w.people(2)
		one, two := people[0].Number, people[1].Number
		require.NoError(t, w.report(one, "a", "shared", 3))
		for what, err := range map[string]error{
			"an action that there is not": w.report(one, "b", "danced", 1), "more than it is worth": w.report(one, "b", "shared", 6),
			"less than nothing": w.report(one, "b", "shared", -1), "no id": w.report(one, "", "shared", 1), "the id of another entry's": w.report(two, "a", "shared", 3),
			"the id with other points": w.report(one, "a", "shared", 2), "nobody": w.report(17, "b", "shared", 1), "nothing to take back": w.TakeBack(ctx, two, "a", "", w.now),
		} {
			assert.Error(t, err, what)
		}
		assert.Equal(t, 3, w.entry(one).Priority)
		assert.Zero(t, w.entry(two).Priority)
		require.NoError(t, w.Leave(ctx, one, w.now))
		require.ErrorIs(t, w.report(one, "c", "shared", 1), waitlist.ErrNotFound)
		require.Zero(t, w.number(`SELECT COUNT(*) FROM actions`), "what somebody has done is erased with them")
	})
}

// insists does what a program does whose request a busy database does not take in time: it sends the
// request again.
func insists(send func() error) (err error) {
	for range 3 {
		if err = send(); err == nil {
			return nil
		}
	}
	return err
}

// TestTwoProgramsReportActionsInAnyOrder has two programs, each with a gate of its own, report the
// same actions, and take some back, in orders of their own; and reads ranks meanwhile, from memory
// and with all that the database has of the entry. The whole of it, on a machine that does nothing
// else: go test -run TestTwoPrograms -reports 100000 -v ./queue/waitlist
func TestTwoProgramsReportActionsInAnyOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		s := settings(actions)
		s.ActionsMax = 1000
		s.Actions[0].Most = 1000
		w := newWorld(t, name, s)
		nobody := *reports / 100
		w.crowd(nobody)
		w.List = w.node(s)
		second := w.node(s)
		want := make([]int, nobody+1)
		type report struct {
			number int64
			waitlist.Report
			back bool
		}
		var all []report
		for i := range *reports {
			r := report{int64(1 + rand.IntN(nobody)), waitlist.Report{ID: fmt.Sprint("r", i), Action: "shared", Points: 1 + rand.IntN(5)}, i%10 == 0}
			if all = append(all, r); !r.back {
				want[r.number] += r.Points
			}
		}
		for number := range want {
			require.Less(t, want[number], 1000)
			if number%10 == 0 && number > 0 {
				want[number] += number % 50 // as crowd has it
			}
		}
		reading, stop := context.WithCancel(ctx)
		var ranks, entries []time.Duration
		timed := func(times *[]time.Duration, read func()) {
			began := time.Now()
			read()
			*times = append(*times, time.Since(began))
		}
		var reader, programs sync.WaitGroup
		reader.Go(func() {
			for reading.Err() == nil {
				number := 1 + rand.Int64N(int64(nobody))
				timed(&ranks, func() { w.Rank(number) })
				timed(&entries, func() { _, err := w.Entry(ctx, number, w.now); assert.NoError(t, err) })
			}
		})
		began := time.Now()
		var repeats atomic.Int64
		for _, l := range []*waitlist.List{w.List, second} {
			order := make(chan report, len(all)+len(all)/4)
			mine := slices.Clone(all)
			mine = append(mine, all[:len(all)/4]...) // retries
			rand.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
			for _, r := range mine {
				order <- r
			}
			close(order)
			for range 128 {
				programs.Go(func() {
					for r := range order {
						repeats.Add(1)
						sends := func() error { return l.Report(ctx, r.number, r.Report, "", w.now) }
						takesBack := func() error { return l.TakeBack(ctx, r.number, r.ID, "", w.now) }
						if !assert.NoError(t, insists(sends)) || r.back && !assert.NoError(t, insists(takesBack)) {
							return
						}
					}
				})
			}
		}
		programs.Wait()
		took := time.Since(began)
		stop()
		reader.Wait()
		require.NoError(t, w.Follow(ctx))
		taken := make([]bool, nobody+1)
		for number := int64(1); number <= int64(nobody); number++ {
			require.Equal(t, want[number], w.number(`SELECT priority FROM entries WHERE number = $1`, number), "points of %d", number)
			rank, total := w.Rank(number)
			require.Equal(t, nobody, total)
			require.False(t, taken[rank], "rank %d twice", rank)
			taken[rank] = true
			ahead := 0
			for other := 1; other <= nobody; other++ {
				if want[other] > want[number] || want[other] == want[number] && int64(other) < number {
					ahead++
				}
			}
			require.Equal(t, ahead+1, rank, "of %d", number)
		}
		require.False(t, taken[0])
		slices.Sort(ranks)
		slices.Sort(entries)
		p99 := func(times []time.Duration) time.Duration { return times[len(times)*99/100] }
		t.Logf("%d actions by two programs in %d reports: %s, %.0f a second; p99 of %d ranks %s, of entries with their rank %s", *reports, repeats.Load(),
			took.Round(time.Millisecond), float64(repeats.Load())/took.Seconds(), len(ranks), p99(ranks), p99(entries))
		assert.LessOrEqual(t, p99(ranks), 5*time.Millisecond)
		assert.LessOrEqual(t, entries[len(entries)/2], 5*time.Millisecond)
		if *reports >= 100_000 {
			assert.LessOrEqual(t, p99(entries), 5*time.Millisecond)
		}
	})
}
