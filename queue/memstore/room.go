package memstore

import (
	"cmp"
	"crypto/rand"
	"hash/fnv"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/line"
	"github.com/fairdoor-gate/fairdoor/queue/pacing"
)

// room is one room; mu guards all of it.
type room struct {
	mu       sync.Mutex
	name     string
	slack    time.Duration // how much longer than reported windows count, and sessions that may have been renewed
	epoch    string
	current  queue.Configuration
	settings queue.Settings // of current, with what follows from the stock
	now      queue.Instant

	line       line.Line
	repeatOf   queue.Instant // when the report came before; 0 for a new one
	numbers    numbers
	absent     line.Line // the places of those who said goodbye
	gaps       gaps
	unknown    queue.Instant // when it was last that places in line were not known; 0 for never
	cells      cells
	closed     closure
	boundaries boundaries
	sessions   map[queue.ID]session
	untold     untold
	ends       timeline[int] // active sessions by their end
	checks     endChecks     // with a journal
	active     int
	swept      int // how many sessions were left by the last sweep
	revoked    map[queue.ID]queue.Instant
	unheard    []revocation      // which some nodes may not have heard of
	entered    []queue.Session   // the latest admissions, and when they were
	left       []queue.Departure // the latest goodbyes, and when they were reported
	nodes      nodes
	draws      draws

	clock   sessionClock
	endedBy queue.Instant // up to which the slots of sessions that have ended are open, by the sessions' clock
	looks   queue.Instant // when the nodes are next asked what they have reported
	stock   queue.Stock

	minute   queue.Instant
	admitted int  // in this minute
	idle     bool // nobody waited at some moment of this minute
	rates    rates
	slow     pacing.Slow
	mark     mark

	pacer pacing.Pacer

	journal  *journal // nil without a directory
	ended    int      // sessions that ended since it was written anew
	restored restored
	lost     queue.Instant // when it was found that the journal had lost records; 0 for never
	onLoss   func(room string, reason error)

	seen queue.Instant // at the last report of this process; guarded by the store's mu
}

// session is one that holds a slot until expires, or one that has ended. It is kept
// until no ticket from before its admission is valid any more.
type session struct {
	expires  queue.Instant // by the sessions' clock
	admitted queue.Instant // by this store, or when the session was first reported
}

func newRoom(name string) *room {
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(name))
	return &room{
		name: name, epoch: rand.Text(), pacer: pacing.Pacer{Seed: seed.Sum64()},
		nodes: nodes{known: map[uint64]*node{}}, draws: draws{until: map[queue.ID]queue.Instant{}},
		sessions: map[queue.ID]session{}, revoked: map[queue.ID]queue.Instant{}, untold: untold{admitted: map[queue.ID]queue.Instant{}},
	}
}

// configure makes c what the room goes by.
func (r *room) configure(c queue.Configuration) error {
	if c.Version != r.current.Version+1 {
		return queue.ErrConflict
	}
	numbers, begins := r.numbers, !r.settings.Method.HasExactLine() && c.Settings.Method.HasExactLine()
	if begins {
		numbers = r.begin(c)
	}
	if err := r.journalConfiguration(c, numbers); err != nil {
		return err
	}
	if begins {
		r.numbers = numbers
		if numbers.top > numbers.floor {
			r.unknown = numbers.began
		}
	}
	r.adopt(c)
	return nil
}

// journalConfiguration writes a configuration to the journal, and the numbers of the
// exact line under it.
func (r *room) journalConfiguration(c queue.Configuration, n numbers) error {
	if r.journal == nil {
		return nil
	}
	if err := r.journal.configured(c); err != nil {
		return err
	}
	r.journal.numbers(n)
	if err := r.journal.write(); err != nil {
		return err
	}
	// The journal has no renewals. A restart assumes that no session lasts longer than
	// these settings allow: where some may, the journal has to tell their ends.
	if c.Settings.SessionDuration < r.settings.SessionDuration || c.Settings.FixedSessions() && !r.settings.FixedSessions() ||
		c.Settings.MaxSession != r.settings.MaxSession {
		r.journal.stale = true
	}
	return nil
}

// adopt puts a configuration in force.
func (r *room) adopt(c queue.Configuration) {
	old, next := r.current.Settings, c.Settings
	if old.TotalActiveUsers != next.TotalActiveUsers || old.NewUsersPerMinute != next.NewUsersPerMinute ||
		old.SessionDuration != next.SessionDuration || old.DisableSessionRenewal != next.DisableSessionRenewal {
		r.rates = rates{} // what fitted under other limits says nothing
	}
	r.current = c
	r.goByStock()
}

// report counts a report, unless it was counted before.
func (r *room) report(p *queue.Report, now queue.Instant) {
	r.restore(now)
	r.advance(now)
	from, before := r.nodes.reported(p, r.now)
	r.slow.Pass(r.now, r.settings.NewUsersPerMinute, r.nodes.factor(r.now))
	if r.repeatOf = before; p.Seq > from.seq {
		r.repeatOf, from.seq, from.final = 0, p.Seq, p.Final
		r.count(p)
	}
	r.goByReports()
	r.mark.follow(&r.settings, r.now, r.present() > 0)
	r.openRevoked()
}

func (r *room) count(p *queue.Report) {
	for _, c := range p.Cells {
		r.change(c.Cell, c.People)
	}
	for _, s := range p.Sessions {
		if r.revoked[s.ID] <= r.now {
			r.countSession(queue.Session{ID: s.ID, Expires: s.Expires.Add(-r.behind())})
		}
	}
	for _, s := range p.Revoked {
		r.revoke(s, p.Node)
	}
	for _, id := range p.Told {
		r.untold.tell(id, r.sessions[id].admitted)
	}
	for _, d := range p.Left {
		r.left = append(r.left, queue.Departure{ID: d.ID, At: r.now})
	}
	r.countInLine(p)
	r.mark.count(&r.settings, p.Newcomers, r.now)
	r.countAdmitted(p.Admitted)
	r.learnStock(p.Stock)
	if p.Configuration.Version > r.current.Version {
		r.adopt(p.Configuration)
		r.standStill()
		if r.journal != nil {
			r.journal.stale = true
		}
	}
}

// countAdmitted counts the visitors whom a node has let in during this minute without
// asking the store.
func (r *room) countAdmitted(a queue.Admissions) {
	if a.Minute != r.minute || a.Visitors <= 0 {
		return
	}
	r.admitted += a.Visitors
	r.slow.Take(a.Visitors)
	if r.journal != nil {
		r.journal.minute(r.minute, r.admitted)
	}
}

// advance moves the clock, which never goes back.
func (r *room) advance(now queue.Instant) {
	r.now = max(r.now, now)
	r.standStill()
	if m := r.now.Floor(queue.AllowancePeriod); m != r.minute {
		r.rates.close(r.minute, r.admitted, !r.idle)
		r.minute, r.admitted, r.idle = m, 0, false
	}
	r.cells.advance(r.now)
	r.line.Expire(r.now, queue.MaxExpired)
	r.absent.Expire(r.now, queue.MaxExpired)
	r.endSessions(r.sessionsNow().Add(-r.slack))
	r.idle = r.idle || r.present() == 0
	r.forget()
	if len(r.sessions) > 2*r.swept+1024 {
		r.sweep()
	}
}

// endSessions opens the slots of the sessions that had ended by a moment of their clock.
func (r *room) endSessions(by queue.Instant) {
	r.endedBy = max(r.endedBy, by)
	r.ends.pass(r.endedBy, func(n int) { r.active, r.ended = r.active-n, r.ended+n })
	r.journalEnds()
}

// goByReports opens the slots of the sessions that no node has renewed, as all have reported. A look at all nodes costs the more
// the more there are: so it is taken once in a tenth as many milliseconds. A seat is kept for the slack in any case, which is a
// part of LineGrace.
func (r *room) goByReports() {
	if r.slack == 0 || r.now < r.looks || r.settings.Occupancy != queue.BySession {
		return
	}
	final, nodes := r.nodes.final(r.now)
	r.looks = r.now.Add(time.Duration(nodes/10) * time.Millisecond)
	r.endSessions(min(r.sessionsNow(), final.Add(-r.behind())))
}

// forget drops admissions and goodbyes that are no longer among the latest, and draws
// of the past.
func (r *room) forget() {
	past := r.now.Add(-queue.Lately)
	n := 0
	for n < len(r.entered) && r.entered[n].Expires < past {
		n++
	}
	r.entered = slices.Delete(r.entered, 0, n)
	n = max(0, len(r.left)-queue.MaxLeft)
	for n < len(r.left) && r.left[n].At <= past {
		n++
	}
	r.left = slices.Delete(r.left, 0, n)
	r.draws.forget(r.now)
}

// sweep forgets sessions and revocations that no longer matter.
func (r *room) sweep() {
	for id, s := range r.sessions {
		if !r.matters(s) {
			delete(r.sessions, id)
		}
	}
	r.swept = len(r.sessions)
	for id, until := range r.revoked {
		if until <= r.now {
			delete(r.revoked, id)
		}
	}
	r.untold.forget(r.ago(r.current.Remembers()))
}

// matters reports whether a session holds its slot, or a ticket from before it may
// still be brought.
func (r *room) matters(s session) bool {
	return r.lasts(s) || s.admitted > r.ago(r.current.Remembers())
}

// change counts so many people more in a cell, or fewer.
func (r *room) change(c queue.Cell, people int) {
	c.Until = c.Until.Add(r.slack)
	r.cells.change(c, people, r.now)
}

// lasts reports whether a session holds its slot.
func (r *room) lasts(s session) bool { return s.expires > r.endedBy }

// end is how many sessions that hold their slots expire then.
func (r *room) end(expires queue.Instant) *int { return r.ends.get(expires) }

// countSession counts a session that a node reports, whose end is by the sessions' clock. The journal gets those that it
// does not know to be active.
func (r *room) countSession(s queue.Session) {
	known := r.sessions[s.ID]
	r.extend(s.ID, s.Expires, cmp.Or(known.admitted, r.sessionsStand()))
	if r.journal != nil && !r.lasts(known) && r.lasts(r.sessions[s.ID]) {
		r.journal.session(s.ID, r.sessions[s.ID])
	}
}

// extend makes the session of id last until expires at least, by the sessions' clock.
func (r *room) extend(id queue.ID, expires, admitted queue.Instant) {
	s := r.sessions[id]
	lasted := r.lasts(s)
	if lasted {
		if expires <= s.expires {
			return
		}
		*r.end(s.expires)--
		r.active--
	}
	next := session{expires: expires, admitted: admitted}
	r.sessions[id] = next
	if r.lasts(next) {
		if !lasted && r.journal != nil {
			r.checks.add(id, expires.Add(r.slack), r.sessionsNow())
		}
		*r.end(expires)++
		r.active++
	}
}

// status is the room's state as nodes are told it.
func (r *room) status() queue.Status {
	released, more := r.pacer.Released(r.settings, r.now, r.present() > 0)
	allowance, more := r.slow.Limit(released-r.allowanceUsed(), r.nextRelease(released, more))
	return queue.Status{
		Now: r.now, Epoch: r.epoch, Active: r.active, Admitted: r.admitted, Present: r.present(),
		Open: r.open(), Untold: r.untold.latest > r.ago(r.current.Remembers()), Settling: r.settlesAt() != 0, Recovering: r.recoversAt() != 0,
		NextOpen: r.nextOpen(allowance, more),
		Factor:   r.nodes.factor(r.now), OpenToAll: r.mark.open,
	}
}

// nextRelease is when more of the allowance is there than what is released now: at
// more, by the pacing, or once nobody waits, because then all of it is there.
func (r *room) nextRelease(released int, more queue.Instant) queue.Instant {
	if released < r.settings.NewUsersPerMinute {
		return min(more, r.empties())
	}
	return more
}

// empties is when nobody waits any more if nobody checks in, or a moment before that;
// only meaningful while people wait.
func (r *room) empties() queue.Instant {
	if r.settings.Method.HasExactLine() {
		return r.line.Last().Until()
	}
	return r.cells.empties()
}

// nextOpen is when there may be more open slots than now, with so much allowance left
// and more of it at the moment more; zero for never.
func (r *room) nextOpen(allowance int, more queue.Instant) queue.Instant {
	free, end := r.settings.TotalActiveUsers-r.active, r.nextEnd()
	switch {
	case r.recoversAt() != 0:
		return r.recoversAt()
	case r.settlesAt() != 0 && !r.settings.HoldsNew():
		return r.settlesAt()
	case r.settings.AdmitsNobody() || free <= allowance && end == 0:
		return 0
	case free < allowance:
		return end
	case free == allowance:
		return max(end, more)
	}
	return more
}

// nextEnd is when the next slot may come free: when its session ends, or once all nodes may have reported that it has; zero without
// any.
func (r *room) nextEnd() queue.Instant {
	for _, e := range r.ends.entries {
		at := e.at.Add(r.behind())
		switch {
		case e.value == 0:
			continue
		case r.settings.Occupancy != queue.BySession:
			return at.Add(r.slack)
		case e.at > r.sessionsNow():
			return at
		}
		return min(at.Add(r.slack), r.now.Add(queue.ReportTime))
	}
	return 0
}

// endsWithin counts the sessions that end within each of EndSteps, while people wait in order.
func (r *room) endsWithin() (ends [len(queue.EndSteps)]int) {
	if r.present() == 0 || !r.settings.Method.KeepsOrder() {
		return ends
	}
	n, step := 0, 0
	for _, e := range r.ends.entries {
		for e.at > r.sessionsNow().Add(queue.EndSteps[step]) {
			ends[step] = n
			if step++; step == len(ends) {
				return ends
			}
		}
		n += e.value
	}
	for ; step < len(ends); step++ {
		ends[step] = n
	}
	return ends
}

// view is the room as the node that reports is told it.
func (r *room) view(p *queue.Report) *queue.View {
	v := &queue.View{Status: r.status(), Buckets: slices.Clone(r.cells.buckets), Nodes: r.nodes.list(r.now), Stock: r.stock, Configuration: r.current,
		Kept: r.ago(r.current.PlacesLast())}
	v.Rate, v.RateKnown = r.rates.mean(r.minute, r.settings.SessionLasts(r.slack))
	r.cutBuckets()
	v.Boundaries, v.Ends = r.boundaries.list, r.endsWithin()
	r.viewLine(v)
	for id, until := range r.revoked {
		if until > r.now {
			v.Revoked = append(v.Revoked, queue.Session{ID: id, Expires: until})
		}
	}
	v.Entered, v.Left = r.enteredSince(p.Since), r.leftSince(p.Since)
	return v
}

// enteredSince returns the sessions of those who were let in since then, as far as
// they last.
func (r *room) enteredSince(since queue.Instant) []queue.Session {
	first := sort.Search(len(r.entered), func(i int) bool { return r.entered[i].Expires >= since })
	sessions := make([]queue.Session, 0, len(r.entered)-first)
	for _, e := range r.entered[first:] {
		if s := r.sessions[e.ID]; r.lasts(s) {
			sessions = append(sessions, queue.Session{ID: e.ID, Expires: min(s.expires, r.settings.LastMoment(r.began(s))).Add(r.behind())})
		}
	}
	return sessions
}

// leftSince returns the latest of those who have said goodbye since then.
func (r *room) leftSince(since queue.Instant) (ids []queue.ID) {
	first := sort.Search(len(r.left), func(i int) bool { return r.left[i].At >= since })
	for _, d := range r.left[max(first, len(r.left)-queue.MaxLeft):] {
		ids = append(ids, d.ID)
	}
	return ids
}
