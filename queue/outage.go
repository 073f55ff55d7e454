package queue

// ErrorPolicy says who enters while the store does not answer. People who are
// in already are never affected.
type ErrorPolicy uint8

// The policies; the zero value is Hold.
const (
	Hold  ErrorPolicy = iota // nobody new
	Share                    // as many as were open to this node when it last knew
	Let                      // everyone
)

var policyNames = []string{"hold", "share", "open"}

// Choices returns the names of all policies.
func (ErrorPolicy) Choices() []string { return policyNames }

// String returns the policy's name as configuration files spell it.
func (p ErrorPolicy) String() string { return nameOf(policyNames, int(p)) }

// MarshalText returns the policy's name.
func (p ErrorPolicy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText accepts the names that String returns.
func (p *ErrorPolicy) UnmarshalText(text []byte) error {
	i, err := indexOf(policyNames, "on_store_error", string(text))
	if err == nil {
		*p = ErrorPolicy(i)
	}
	return err
}

// storeAnswered tells of the store's going and coming back, once each, and
// returns err. The caller holds talk.mu.
func (r *Room) storeAnswered(err error) error {
	if err != nil {
		r.errors.Add(1)
		if !r.failing.Load() {
			r.doubtNumbers()
		}
	}
	if failing := err != nil; r.failing.Swap(failing) != failing && r.onChange != nil {
		r.onChange(err)
	}
	return err
}

// StoreFailing reports whether the store left the last call unanswered.
func (r *Room) StoreFailing() bool { return r.failing.Load() }

// StoreErrors counts the calls that the store has left unanswered, and the
// visitors who were let in meanwhile by the room's policy.
func (r *Room) StoreErrors() (calls, letIn uint64) { return r.errors.Load(), r.blind.Load() }

// withoutStore decides a claim by the room's policy.
func (r *Room) withoutStore(now Instant, c Claim) Grant {
	s := r.settings.Load()
	if s.OnStoreError == Hold || !r.worthAsking(now, s, c.Cell, c.Number) || s.OnStoreError == Share && r.spare.Add(-1) < 0 {
		return Grant{}
	}
	r.blind.Add(1)
	expires := now.Add(s.SessionLasts(r.slack))
	r.sessions.note(now, c.ID, expires, false)
	r.talk.noted.Lock()
	r.talk.alone.add(Admissions{Minute: now.Floor(minute), Visitors: 1})
	r.talk.noted.Unlock()
	if !c.Newcomer() {
		sh := r.waiters.shard(c.ID)
		sh.mu.Lock()
		sh.change(c.Cell.Bucket, c.Cell.Until.ticks(r.start), -1)
		sh.mu.Unlock()
	}
	return Grant{Verdict: Granted, AcceptedAt: now, Expires: expires}
}
