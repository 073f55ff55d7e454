// Package redisstore is the [queue.Store] for several nodes: a Redis or Valkey, single,
// behind Sentinel, or as a Cluster. Each method of the store is one Lua script, so that
// it is atomic, and all keys of a room share one hash tag. The room goes by Redis's
// clock.
package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Slack is how much longer than reported the store counts people in line, because nodes may not
// have reported a check-in yet; and sessions, until every node has reported that it has not renewed
// them. Nodes sync once a second.
const Slack = 2 * time.Second

// Gather is how long nodes gather the claims of people who wait for one call, which costs much beside
// what each claim costs.
const Gather = 50 * time.Millisecond

// Budget is how long one call may take before it is given up.
const Budget = 100 * time.Millisecond

// Store keeps rooms in Redis. Its methods may be called concurrently.
type Store struct {
	client redis.UniversalClient
	slack  time.Duration
	budget time.Duration
}

// Configure implements [queue.Store].
func (s *Store) Configure(ctx context.Context, room string, c queue.Configuration) error {
	args, err := s.configurationArgs(nil, c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime) // no visitor waits for it
	defer cancel()
	done, err := configureScript.Run(ctx, s.client, keys(room), args...).Int()
	if err != nil {
		return fmt.Errorf("running configure: %w", err)
	}
	if done == 0 {
		return queue.ErrConflict
	}
	return nil
}

// Admit implements [queue.Store].
func (s *Store) Admit(ctx context.Context, room string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	args := s.reportArgs(p)
	for i := range claims {
		args = append(args, packedClaim(&claims[i]))
	}
	ctx, cancel := context.WithTimeout(ctx, s.budget)
	defer cancel()
	reply, err := admitScript.Run(ctx, s.client, keys(room), args...).Slice()
	if err != nil {
		return queue.Status{}, fmt.Errorf("running admit: %w", err)
	}
	r := reader{list: reply}
	for i := range claims {
		grants[i] = r.grant()
	}
	status := r.status()
	return status, r.failure("admit")
}

// Sync implements [queue.Store].
func (s *Store) Sync(ctx context.Context, room string, p *queue.Report) (*queue.View, error) {
	args, err := s.configurationArgs(s.reportArgs(p), p.Configuration)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.budget)
	defer cancel()
	reply, err := syncScript.Run(ctx, s.client, keys(room), args...).Slice()
	if err != nil {
		return nil, fmt.Errorf("running sync: %w", err)
	}
	return readView(reply)
}

// Roster implements [queue.Store].
func (s *Store) Roster(ctx context.Context, room string, ids []queue.ID) (*queue.Roster, error) {
	args := append(s.headArgs(&queue.Report{}), len(ids))
	for _, id := range ids {
		args = append(args, string(id[:]))
	}
	ctx, cancel := context.WithTimeout(ctx, s.budget)
	defer cancel()
	reply, err := rosterScript.Run(ctx, s.client, keys(room), args...).Slice()
	if err != nil {
		return nil, fmt.Errorf("running roster: %w", err)
	}
	return readRoster(reply)
}

// Close closes the connections.
func (s *Store) Close() error {
	if err := s.client.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("closing the connections to Redis: %w", err)
	}
	return nil
}
