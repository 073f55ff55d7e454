package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// told is a store that takes down how many cells it is told of, and of which calls.
type told struct {
	queue.Store
	cells, claims, behind int // behind are those of calls with claims that are in later buckets than the claimants
}

func (s *told) Admit(ctx context.Context, name string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	s.claims++
	last := queue.Instant(0)
	for _, c := range claims {
		last = max(last, c.Cell.Bucket)
	}
	for _, c := range p.Cells {
		if c.Bucket > last.Add(time.Minute) {
			s.behind++
		}
	}
	s.cells += len(p.Cells)
	return s.Store.Admit(ctx, name, p, claims, grants)
}

func (s *told) Sync(ctx context.Context, name string, p *queue.Report) (*queue.View, error) {
	s.cells += len(p.Cells)
	return s.Store.Sync(ctx, name, p)
}

// openSharedLine is a long line at one of several gates that may share the store.
func openSharedLine(t *testing.T, s queue.Settings, people int) (*longLine, *told) {
	const slack = 2 * time.Second
	store := &told{Store: memstore.NewShared(slack)}
	l := &longLine{door: openWith(t, room.Config{Settings: s, Store: store, Slack: slack})}
	for range s.TotalActiveUsers {
		l.enter()
	}
	for range people {
		l.line = append(l.line, l.join())
		l.goesOn(3 * time.Minute / time.Duration(people))
	}
	return l, store
}

func TestTheStoreIsToldOfTheCrowdAtLongIntervalsAndNobodyIsMissing(t *testing.T) {
	s := settings(1, 200)
	s.SessionDuration = time.Hour
	l, store := openSharedLine(t, s, 3000)
	l.goesOn(2 * time.Minute)
	before, moves := store.cells, 0
	for range 60 {
		for _, ticket := range l.line {
			if ticket.Due() <= l.now.Add(time.Second) {
				moves += 2
			}
		}
		l.goesOn(time.Second)
		require.Equal(t, len(l.line), l.stand().Waiting)
	}
	assert.Less(t, store.cells-before, moves/3)
}

func TestClaimsBringNothingOfThoseWhoAreBehind(t *testing.T) {
	s := settings(1, 20)
	s.SessionDuration = time.Hour
	l, store := openSharedLine(t, s, 300)
	s.TotalActiveUsers, s.NewUsersPerMinute = 100, 20
	l.configure(s)
	store.claims = 0
	l.goesOn(2 * time.Minute)
	assert.Greater(t, store.claims, 20)
	assert.Zero(t, store.behind)
	assert.Equal(t, len(l.line), l.stand().Waiting)
}
