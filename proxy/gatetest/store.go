package gatetest

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// Fallible is a store that can be told to fail.
type Fallible struct {
	queue.Store
	Failing atomic.Bool
	Unset   string // the name of a room that it does not configure
}

// ErrStore is the error of a store that fails.
var ErrStore = errors.New("the store is away")

// Between puts the store between a gate and its own.
func (s *Fallible) Between(_ *proxy.Config, o *proxy.Options) {
	s.Store = o.Store
	o.Store = s
}

// Roster implements [queue.Store].
func (s *Fallible) Roster(ctx context.Context, name string, ids []queue.ID) (*queue.Roster, error) {
	if s.Failing.Load() {
		return nil, ErrStore
	}
	return s.Store.Roster(ctx, name, ids)
}

// Configure implements [queue.Store].
func (s *Fallible) Configure(ctx context.Context, name string, c queue.Configuration) error {
	if s.Failing.Load() || name == s.Unset {
		return ErrStore
	}
	return s.Store.Configure(ctx, name, c)
}

// Sync implements [queue.Store].
func (s *Fallible) Sync(ctx context.Context, name string, p *queue.Report) (*queue.View, error) {
	if s.Failing.Load() {
		return nil, ErrStore
	}
	return s.Store.Sync(ctx, name, p)
}

// Admit implements [queue.Store].
func (s *Fallible) Admit(ctx context.Context, name string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	if s.Failing.Load() {
		return queue.Status{}, ErrStore
	}
	return s.Store.Admit(ctx, name, p, claims, grants)
}
