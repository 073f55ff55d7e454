package world

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
)

// openStore opens the store of a process, and returns it with how often a gate calls such a store:
// as the program does.
func (w *world) openStore(ctx context.Context, p *process, own string) (proxy.Options, error) {
	if w.redis == nil {
		store, err := w.openJournal(p)
		links := map[string]*link{}
		for _, room := range []string{roomName, clubName} { // which call at the same time
			links[room] = newLink(w.plan.Seed, own+" store"+strings.TrimPrefix(room, roomName), 10*time.Microsecond, 80*time.Microsecond)
		}
		return proxy.Options{Store: &storeOf{Store: store, process: p, links: links}}, err
	}
	store, _, err := redisstore.OpenOver(ctx, "redis://redis:6379", p.on.wire.dial(p, own))
	return proxy.Options{Store: store, SyncInterval: time.Second, Gather: redisstore.Gather, Slack: redisstore.Slack}, err
}

// openJournal opens a store that keeps a journal.
func (w *world) openJournal(p *process) (queue.Store, error) {
	return memstore.Config{Dir: "/var/lib/fairdoor", Files: p.mount, SinceBoot: p.on.sinceBoot, OnLoss: func(room string, reason error) {
		w.history.add(Event{What: Said, Gate: p.on.number, Who: nobody, Text: fmt.Sprintf("the journal of %s is damaged: %v", room, reason)})
	}}.Open()
}

// storeOf is a process's way to its store.
type storeOf struct {
	queue.Store
	process *process
	links   map[string]*link // by room
}

func (s *storeOf) pass(room string) error {
	s.links[room].pass()
	s.process.on.stall()
	s.process.run()
	if s.process.dead.Load() {
		return errDead
	}
	return nil
}

// Configure implements queue.Store.
func (s *storeOf) Configure(ctx context.Context, room string, c queue.Configuration) error {
	if err := s.pass(room); err != nil {
		return err
	}
	return s.Store.Configure(ctx, room, c)
}

// Admit implements queue.Store.
func (s *storeOf) Admit(ctx context.Context, room string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	if err := s.pass(room); err != nil {
		return queue.Status{}, err
	}
	defer s.process.on.stall()
	return s.Store.Admit(ctx, room, p, claims, grants)
}

// Sync implements queue.Store.
func (s *storeOf) Sync(ctx context.Context, room string, p *queue.Report) (*queue.View, error) {
	if err := s.pass(room); err != nil {
		return nil, err
	}
	defer s.process.on.stall()
	return s.Store.Sync(ctx, room, p)
}

// Roster implements queue.Store.
func (s *storeOf) Roster(ctx context.Context, room string, ids []queue.ID) (*queue.Roster, error) {
	if err := s.pass(room); err != nil {
		return nil, err
	}
	return s.Store.Roster(ctx, room, ids)
}
