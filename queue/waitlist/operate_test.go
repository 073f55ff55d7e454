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

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
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

func TestAPageBeginsAfterASignUpThatWasErasedMeanwhile(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings())
		people := w.people(6)
		numbers := make([]int64, len(people))
		for i, e := range must(w.Entries(ctx, waitlist.Search{})).Entries {
			numbers[i] = e.Number
		}
		ids := func(after int64) (list []int64) {
			for _, e := range must(w.Entries(ctx, waitlist.Search{After: after})).Entries {
				list = append(list, e.Number)
			}
			return list
		}
		for i, priority := range []int{9, 7, 5} {
			require.NoError(t, w.SetPriority(ctx, numbers[i], priority+1, operator, w.now))
			require.NoError(t, w.SetPriority(ctx, numbers[i], priority, operator, w.now))
		}
		for _, i := range []int{0, 2, 3, 5} {
			require.NoError(t, w.SetStatus(ctx, numbers[i], waitlist.Waiting, operator, w.now))
		}
		want := numbers[2:]
		assert.Equal(t, want, ids(numbers[1]))
		w.after(8 * 24 * time.Hour)
		require.Equal(t, 2, w.sweep().Erased)
		assert.Equal(t, []int64{numbers[2], numbers[3], numbers[5]}, ids(numbers[1]))
		assert.Equal(t, []int64{numbers[5]}, ids(numbers[4]))
	})
}

func TestASearchFindsLettersOfAllKinds(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		w.join(waitlist.SignUp{Email: "Ada@bücher.example"})
		w.join(waitlist.SignUp{Email: "ben@BÜCHER.example"})
		w.join(waitlist.SignUp{UserID: "ÄB_1"})
		w.join(waitlist.SignUp{UserID: "other"})
		for text, want := range map[string]int{
			"bücher.example": 1, "BÜCHER.example": 1, "ada@bücher.example": 1, "ben@bücher.example": 1, "ADA@": 1,
			"xn--bcher-kva": 2, "ÄB_1": 1, "ÄB": 1, "b_1": 1, "%": 0, "OTHER": 1,
		} {
			assert.GreaterOrEqual(t, must(w.Entries(ctx, waitlist.Search{Text: text})).Total, want, text)
		}
		assert.Zero(t, must(w.Entries(ctx, waitlist.Search{Text: "%"})).Total)
		for _, text := range []string{"a\x00", "\xff"} {
			_, err := w.Entries(ctx, waitlist.Search{Text: text})
			assert.ErrorIs(t, err, waitlist.ErrText)
		}
	})
}

func TestStatusAndRankGoTogetherOnEveryNode(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		other := w.node(settings(unconfirmed))
		people := w.people(3)
		e, err := other.Entry(ctx, people[2].Number, w.now)
		require.NoError(t, err)
		assert.Equal(t, []any{waitlist.Waiting, 3, 3}, []any{e.Status, e.Rank, e.Total})
		w.release(1)
		e, err = other.Entry(ctx, people[0].Number, w.now)
		require.NoError(t, err)
		assert.Equal(t, []any{waitlist.Invited, 0}, []any{e.Status, e.Rank})
		w.release(1)
		var ranks []int
		for _, e := range must(other.Entries(ctx, waitlist.Search{})).Entries {
			ranks = append(ranks, e.Rank)
		}
		assert.Equal(t, []int{0, 0, 1}, ranks)
	})
}

func TestANodeGoesByTheRecordAlsoIfThatHasLostTransactions(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed, capacity(1)))
		ada := w.people(1)[0]
		w.release(1)
		_, err := w.AcceptOwn(ctx, ada.Number, w.now)
		require.NoError(t, err)
		require.True(t, has(w.Guest(ada.Number, ada.JoinedAt)))
		for _, statement := range []string{
			`UPDATE entries SET status = 'waiting', spot = NULL, version = 1`, `UPDATE waitlists SET version = 1, held = 0`, `DELETE FROM spots`,
		} {
			_, err := w.raw.ExecContext(ctx, statement)
			require.NoError(t, err)
		}
		w.sweep()
		assert.False(t, has(w.Guest(ada.Number, ada.JoinedAt)))
		assert.False(t, w.IsFull())
		assert.Equal(t, 1, w.entry(ada.Number).Rank)
	})
}

func TestWhatTakesSeveralTransactionsIsOneLineOfTheLog(t *testing.T) {
	w := crowded(t, postgres.Database(t), settings(unconfirmed), 1200)
	var people strings.Builder
	people.WriteString("user_id\n")
	for i := range 1001 {
		fmt.Fprintln(&people, i)
	}
	assert.Equal(t, waitlist.Imported{Added: 1001}, must(w.Import(ctx, strings.NewReader(people.String()), nil, operator, w.now)))
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
	done := must(w.Import(ctx, strings.NewReader(text), nil, operator, w.now))
	assert.Equal(t, []int{1, 3}, []int{done.Added, done.Faulty})
	assert.Equal(t, []waitlist.LineFault{
		{Line: 2, Problem: "wrong number of fields"}, {Line: 3, Problem: `extraneous or missing " in quoted-field`},
		{Line: 4, Problem: "the priority is not a number from -32767 to 32767"},
	}, done.Faults)
	done = must(w.Import(ctx, strings.NewReader("email\n"+strings.Repeat("nobody\n", 3000)), nil, operator, w.now))
	assert.Equal(t, []int{3000, 1000}, []int{done.Faulty, len(done.Faults)})
	for _, text := range []string{"", "name\nada\n", "email;priority\nada@example.com;1\n", "\"email\nada@example.com\n"} {
		_, err := w.Import(ctx, strings.NewReader(text), nil, operator, w.now)
		assert.ErrorIs(t, err, waitlist.ErrColumns, text)
	}
}

func TestTextThatNoDatabaseTakesIsAFaultOfItsLine(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		text := "user_id,referral_code,language,note\nada,,,caf\xe9\nb\xe9n,,,\ncem,c\x00,,\ndee,,d\xe9,\n" + strings.Repeat("e", 3000) + ",,,\nfay,,,\n"
		assert.Equal(t, waitlist.Imported{Added: 2, Faulty: 4, Ignored: []string{"note"}, Faults: []waitlist.LineFault{
			{Line: 3, Problem: "user_id is not UTF-8"}, {Line: 4, Problem: "referral_code is not UTF-8"}, {Line: 5, Problem: "language is not UTF-8"},
			{Line: 6, Problem: "user_id has more than 1000 bytes"},
		}}, must(w.Import(ctx, strings.NewReader(text), nil, operator, w.now)))
	})
}

func TestAPriorityThatReferralsHaveEarnedIsImported(t *testing.T) {
	earning := func(s *waitlist.Settings) { s.ReferralBoost, s.ReferralMax = 1000, 1000 }
	w := newWorld(t, sqliteFile(t), settings(unconfirmed, earning))
	_, err := w.Import(ctx, strings.NewReader("user_id,referral_code,priority\nada,ada,32000\nben,ben,-32000\n"), nil, operator, w.now)
	require.NoError(t, err)
	w.join(waitlist.SignUp{Email: email(1), Referral: "ada"})
	for i, want := range []int{32000, 0, -31000} {
		e := must(w.Entries(ctx, waitlist.Search{})).Entries[i]
		assert.Equal(t, []int{want, i + 1}, []int{e.Priority, e.Rank})
	}
}
