package waitlist_test

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/queue/waitlist"
)

func TestAPriorityThatAnOperatorSetsGrowsByWhatReferralsEarnLater(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		ada := w.join(waitlist.SignUp{Email: "ada@example.com"})
		bring := func(i int) waitlist.Place {
			return w.join(waitlist.SignUp{Email: email(i), Referral: ada.ReferralCode})
		}
		first := bring(0)
		require.NoError(t, w.SetPriority(ctx, ada.Number, -10, operator, w.now))
		assert.Equal(t, []int{-10, 2}, []int{w.entry(ada.Number).Priority, w.entry(ada.Number).Rank})
		require.NoError(t, w.Leave(ctx, bring(1).Number, w.now))
		bring(2)
		assert.Equal(t, -5, w.entry(ada.Number).Priority)
		for i := range 20 {
			bring(3 + i)
		}
		assert.Equal(t, []int{35, 1}, []int{w.entry(ada.Number).Priority, w.entry(ada.Number).Rank}, "referrals earn 50 at most, 5 of them before")
		require.NoError(t, w.Leave(ctx, first.Number, w.now))
		assert.Equal(t, 35, w.entry(ada.Number).Priority, "there are others enough")
	})
}

func TestPagesHaveEachEntryOnceInOrderOfRank(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := crowded(t, name, settings(unconfirmed), 1000)
		require.Equal(t, 150, w.release(150))
		for _, s := range []struct {
			search waitlist.Search
			want   int
			rank   int // of the first
		}{
			{waitlist.Search{}, 1000, 0},
			{waitlist.Search{Status: waitlist.Waiting}, 850, 1},
			{waitlist.Search{Status: waitlist.Invited}, 150, 0},
			{waitlist.Search{Text: "9@EXAMPLE"}, 103, 0},
		} {
			seen, rank, search := map[int64]bool{}, s.rank, s.search
			for {
				page := must(w.Entries(ctx, search))
				require.Equal(t, s.want, page.Total)
				require.LessOrEqual(t, len(page.Entries), 100)
				if len(page.Entries) == 0 {
					break
				}
				for _, e := range page.Entries {
					require.False(t, seen[e.Number])
					seen[e.Number] = true
					if s.rank > 0 {
						require.Equal(t, rank, e.Rank)
						rank++
					}
				}
				require.True(t, slices.IsSortedFunc(page.Entries, func(a, b waitlist.Entry) int { return b.Priority - a.Priority }))
				search.After = page.Entries[len(page.Entries)-1].Number
			}
			assert.Len(t, seen, s.want)
		}
		_, err := w.Entries(ctx, waitlist.Search{After: 9999})
		assert.ErrorIs(t, err, waitlist.ErrNotFound)
	})
}

func TestWhatTakesSeveralTransactionsIsOneLineOfTheLog(t *testing.T) {
	w := crowded(t, postgres.Database(t), settings(unconfirmed), 1200)
	var people strings.Builder
	people.WriteString("user_id\n")
	for i := range 1001 {
		fmt.Fprintln(&people, i)
	}
	assert.Equal(t, waitlist.Imported{Added: 1001}, must(w.Import(ctx, strings.NewReader(people.String()), operator, w.now)))
	assert.Equal(t, 1001, w.release(1001))
	once := must(w.Schedule(ctx, waitlist.Plan{Size: 1002, At: w.now}, operator, w.now))
	assert.Equal(t, 1002, w.sweep().Released)
	assert.Empty(t, must(w.Plans(ctx)), "plan %d is done", once)
	assert.Equal(t, 198, w.release(1200))
	var lines []string
	for _, a := range must(w.Log(ctx, 0, 10)) {
		lines = append(lines, a.Action+" "+a.Detail)
	}
	assert.Equal(t, []string{"release 198 of 1200", "schedule 1002 at 2026-11-22T10:00:00Z every 0s", "release 1001 of 1001", "import 1001"}, lines)

	require.NoError(t, w.Pause(ctx, operator, w.now))
	n, err := w.Release(ctx, 5, operator, w.now)
	assert.ErrorIs(t, err, waitlist.ErrPaused)
	assert.Zero(t, n)
}

func TestNumbersTellWhatHasBecomeOfTheSpots(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed, capacity(3)))
		people := w.people(6)
		w.release(3)
		_, err := w.AcceptOwn(ctx, people[0].Number, w.now)
		require.NoError(t, err)
		w.after(48 * time.Hour)
		w.sweep()
		require.NoError(t, w.SetStatus(ctx, people[0].Number, waitlist.Removed, operator, w.now))
		require.NoError(t, w.SetStatus(ctx, people[3].Number, waitlist.Accepted, operator, w.now))
		n := must(w.Numbers(ctx))
		assert.Equal(t, []int{6, 2, 2, 3, 0}, []int{n.Released, n.Accepted, n.Expired, n.Held, n.Owed})
		assert.Equal(t, map[waitlist.Status]int{waitlist.Removed: 1, waitlist.Expired: 2, waitlist.Accepted: 1, waitlist.Invited: 2}, n.Entries)
	})
}

// mover moves somebody to the front as soon as the export has begun.
type mover struct {
	strings.Builder
	move func()
}

func (m *mover) Write(text []byte) (int, error) {
	if m.Len() == 0 {
		m.move()
	}
	return m.Builder.Write(text)
}

func TestAnExportHasEverybodyOnceWhateverTheirRankBecomes(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := crowded(t, name, settings(unconfirmed), 1200)
		out := &mover{move: func() {
			require.NoError(t, w.SetPriority(ctx, 1199, 1000, operator, w.now))
			require.NoError(t, w.SetPriority(ctx, 1, -1000, operator, w.now))
		}}
		require.NoError(t, w.Export(ctx, out, operator, w.now))
		lines, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
		require.NoError(t, err)
		require.Len(t, lines, 1201)
		seen := map[string]bool{}
		for _, line := range lines[1:] {
			assert.NotEmpty(t, line[4], "the rank")
			seen[line[0]] = true
		}
		assert.Len(t, seen, 1200)
	})
}

func TestAnImportTellsOfFaultyLinesAndGoesOn(t *testing.T) {
	w := newWorld(t, sqliteFile(t), settings(unconfirmed))
	text := "Email , priority\nada@example.com,1,2\n\"bo\"b@example.com,1\neve@example.com,high\nzoe@example.com,2\n"
	done := must(w.Import(ctx, strings.NewReader(text), operator, w.now))
	assert.Equal(t, []int{1, 3}, []int{done.Added, done.Faulty})
	assert.Equal(t, []waitlist.LineFault{
		{Line: 2, Problem: "wrong number of fields"}, {Line: 3, Problem: `extraneous or missing " in quoted-field`},
		{Line: 4, Problem: "the priority is not a number from -30000 to 30000"},
	}, done.Faults)
	done = must(w.Import(ctx, strings.NewReader("email\n"+strings.Repeat("nobody\n", 3000)), operator, w.now))
	assert.Equal(t, []int{3000, 1000}, []int{done.Faulty, len(done.Faults)})
	for _, text := range []string{"", "name\nada\n", "email;priority\nada@example.com;1\n", "\"email\nada@example.com\n"} {
		_, err := w.Import(ctx, strings.NewReader(text), operator, w.now)
		assert.ErrorIs(t, err, waitlist.ErrColumns, text)
	}
}
