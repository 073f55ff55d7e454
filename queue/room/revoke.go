package room

import (
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// Revoke ends an accepted visitor's session at now. Tickets that tell of it are
// void from then on.
func (r *Room) Revoke(now time.Time, t queue.Ticket) {
	if t.State != queue.Accepted {
		return
	}
	at := r.storeTime(now)
	until := max(t.Expires, r.sessions.expires(at, t.ID), at.Add(r.SessionLasts()))
	ended := queue.Session{ID: t.ID, Expires: until}
	r.addRevoked(at, []queue.Session{ended})
	r.sessions.remove(at, t.ID)
	r.answers.remove(at, t.ID)
	r.exchange.noted.Lock()
	defer r.exchange.noted.Unlock()
	r.exchange.revoking = append(r.exchange.revoking, ended)

	// On the only node the slot is free at once: whoever asks next is put to the store.
	for asked := false; !asked; {
		known := r.view.Load()
		next := *known
		next.NextOpen = at
		asked = r.view.CompareAndSwap(known, &next)
	}
}

func (r *Room) isRevoked(id queue.ID, now queue.Instant) bool {
	revoked := r.revoked.Load()
	return revoked != nil && (*revoked)[id] > now
}

// takeRevoked learns of sessions that other nodes revoked.
func (r *Room) takeRevoked(known *queue.View) {
	r.addRevoked(known.Now, known.Revoked)
	for _, s := range known.Revoked {
		r.sessions.remove(known.Now, s.ID)
		r.answers.remove(known.Now, s.ID)
	}
}

// addRevoked adds to the revocations that are in force: none is taken back
// before its end, whatever a store has forgotten.
func (r *Room) addRevoked(now queue.Instant, more []queue.Session) {
	r.exchange.noted.Lock()
	defer r.exchange.noted.Unlock()
	known := r.revoked.Load()
	if known == nil && len(more) == 0 {
		return
	}
	revoked := map[queue.ID]queue.Instant{}
	if known != nil {
		for id, until := range *known {
			if until > now {
				revoked[id] = until
			}
		}
	}
	for _, s := range more {
		revoked[s.ID] = max(s.Expires, revoked[s.ID])
	}
	if len(revoked) == 0 {
		r.revoked.Store(nil)
		return
	}
	r.revoked.Store(&revoked)
}
