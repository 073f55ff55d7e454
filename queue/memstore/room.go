package memstore

import (
	"crypto/rand"
	"hash/fnv"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/pacing"
)

// room is one room; mu guards all of it. It puts its parts together, and decides.
type room struct {
	mu sync.Mutex
	clocks
	name     string
	slack    time.Duration // how much longer than reported windows count, and sessions that may have been renewed
	epoch    string
	current  queue.Configuration
	settings queue.Settings // of current, with what follows from the stock
	stock    queue.Stock

	sessions  sessions
	line      exactLine
	cells     cells // of those who wait without an exact line
	allowance allowance

	boundaries boundaries
	draws      draws
	nodes      nodes
	traffic    traffic
	untold     untold
	notes      notes
	revoked    map[queue.ID]queue.Instant
	unheard    []revocation      // which some nodes may not have heard of
	entered    []queue.Session   // the latest admissions, and when they were
	left       []queue.Departure // the latest goodbyes, and when they were reported

	repeatOf queue.Instant // when the report came before; 0 for a new one
	looks    queue.Instant // when the nodes are next asked what they have reported

	journal  *journal // nil without a directory
	restored restored
	closed   closure
	lost     queue.Instant // when it was found that the journal had lost records; 0 for never
	onLoss   func(room string, reason error)

	seen queue.Instant // at the last report of this process; guarded by the store's mu
}

func newRoom(name string, slack time.Duration) *room {
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(name))
	r := &room{
		name: name, slack: slack, epoch: rand.Text(), allowance: allowance{pacer: pacing.Pacer{Seed: seed.Sum64()}},
		nodes: nodes{known: map[uint64]*node{}}, draws: draws{until: map[queue.ID]queue.Instant{}},
		revoked: map[queue.ID]queue.Instant{}, untold: untold{admitted: map[queue.ID]queue.Instant{}},
		notes: notes{said: map[queue.ID]note{}},
	}
	r.sessions = sessions{clocks: &r.clocks, slack: slack, known: map[queue.ID]session{}}
	r.line = exactLine{clocks: &r.clocks, settings: &r.settings}
	r.boundaries = boundaries{clocks: &r.clocks, settings: &r.settings, slack: slack}
	return r
}

// keepIn has the room, which is new, keep a journal, and take up what was found in it.
func (r *room) keepIn(j *journal, found restored, onLoss func(room string, reason error)) {
	r.journal, r.sessions.journal, r.notes.journal, r.restored, r.onLoss = j, j, j, found, onLoss
}

// configure makes c what the room goes by.
func (r *room) configure(c queue.Configuration) error {
	if c.Version != r.current.Version+1 {
		return queue.ErrConflict
	}
	numbers, begins := r.line.numbers, !r.settings.Method.HasExactLine() && c.Settings.Method.HasExactLine()
	if begins {
		numbers = r.line.startingAt(&c, &r.cells, r.lost != 0)
	}
	if err := r.journalConfiguration(c, numbers); err != nil {
		return err
	}
	if begins {
		r.line.start(numbers)
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
		r.journal.lacks()
	}
	return nil
}

// adopt puts a configuration in force.
func (r *room) adopt(c queue.Configuration) {
	old, next := r.current.Settings, c.Settings
	if old.Slots() != next.Slots() || old.Allowance() != next.Allowance() ||
		old.SessionDuration != next.SessionDuration || old.DisableSessionRenewal != next.DisableSessionRenewal {
		r.allowance.rates = rates{} // what fitted under other limits says nothing
	}
	r.current = c
	r.goByStock()
}

// report counts a report, unless it was counted before.
func (r *room) report(p *queue.Report, now queue.Instant) {
	r.restore(now)
	r.advance(now)
	from, before := r.nodes.reported(p, r.now)
	r.allowance.slow.Advance(r.now, r.settings.Allowance(), r.nodes.factor(r.now))
	if r.repeatOf = before; p.Seq > from.seq {
		r.repeatOf, from.seq, from.final = 0, p.Seq, p.Final
		r.count(p)
	}
	r.goByReports()
	r.traffic.follow(&r.settings, r.now, r.present() > 0)
	r.openRevoked()
}

func (r *room) count(p *queue.Report) {
	for _, c := range p.Cells {
		r.change(c.Cell, c.People)
	}
	for _, s := range p.Sessions {
		if r.revoked[s.ID] <= r.now {
			r.sessions.count(s.ID, s.Expires.Add(-r.behind()))
		}
	}
	for _, s := range p.Revoked {
		r.revoke(s, p.Node)
	}
	for _, id := range p.Told {
		r.untold.tell(id, r.sessions.known[id].admitted)
	}
	for _, d := range p.Left {
		r.left = append(r.left, queue.Departure{ID: d.ID, At: r.now})
	}
	for _, n := range p.Notes {
		r.notes.take(n)
	}
	r.line.report(p, func(id queue.ID) bool { return r.revoked[id] > r.now })
	r.traffic.count(&r.settings, p.Newcomers, r.now)
	r.countAdmitted(p.Admitted)
	r.learnStock(p.Stock)
	if p.Configuration.Version > r.current.Version {
		r.adopt(p.Configuration)
		r.standStill()
		r.journal.lacks()
	}
}

// countAdmitted counts the visitors whom a node has let in during this minute without
// asking the store.
func (r *room) countAdmitted(a queue.Admissions) {
	if a.Minute == r.allowance.minute && a.Visitors > 0 {
		r.allowance.take(a.Visitors)
		r.journal.minute(a.Minute, r.allowance.admitted)
	}
}

// advance moves the clock, which never goes back.
func (r *room) advance(now queue.Instant) {
	r.now = max(r.now, now)
	r.standStill()
	r.allowance.begin(r.now.Floor(queue.AllowancePeriod))
	r.cells.advance(r.now)
	r.line.advance()
	r.sessions.end(r.sessionsNow().Add(-r.slack))
	r.noteIdle()
	r.forget()
	if len(r.sessions.known) > 2*r.sessions.swept+1024 {
		r.sweep()
	}
}

// standStill has sessions stand still, or go on, as the configuration wants it.
func (r *room) standStill() {
	if r.ofSessions.follow(r.current.Settings.HoldsActive(), r.now) {
		r.journal.sessionClock(&r.ofSessions)
	}
}

// noteIdle takes in whether nobody waits just now.
func (r *room) noteIdle() { r.allowance.idle = r.allowance.idle || r.present() == 0 }

// goByReports opens the slots of the sessions that no node has renewed, as all have reported. A
// look at all nodes costs the more the more there are: so it is taken once in a tenth as many
// milliseconds. A seat is kept for the slack in any case, which is a part of LineGrace.
func (r *room) goByReports() {
	if r.slack == 0 || r.now < r.looks || r.settings.Occupancy != queue.BySession {
		return
	}
	final, nodes := r.nodes.final(r.now)
	r.looks = r.now.Add(time.Duration(nodes/10) * time.Millisecond)
	r.sessions.end(min(r.sessionsNow(), final.Add(-r.behind())))
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
	r.sessions.sweep(r.remembersFrom())
	for id, until := range r.revoked {
		if until <= r.now {
			delete(r.revoked, id)
		}
	}
	r.untold.forget(r.remembersFrom())
}

// sweepNotes forgets what was said of visitors who are neither in nor in line. While the room does
// not know all of these, it forgets nothing.
func (r *room) sweepNotes() {
	if r.current.Version > 0 && r.recoversAt() == 0 && r.line.settlesAt() == 0 {
		r.notes.sweep(func(id queue.ID) bool { return r.sessions.lasts(r.sessions.known[id]) || r.line.has(id) })
	}
}

// remembersFrom is when somebody was admitted at the earliest whose ticket from before may still be
// brought.
func (r *room) remembersFrom() queue.Instant { return r.ago(r.current.Remembers()) }

// change counts so many people more in a cell, or fewer.
func (r *room) change(c queue.Cell, people int) {
	c.Until = c.Until.Add(r.slack)
	r.cells.change(c, people, r.now)
}

// status is the room's state as nodes are told it.
func (r *room) status() queue.Status {
	allowance, more := r.allowance.left(&r.settings, r.allowanceUsed(), r.now, r.present() > 0, r.empties)
	return queue.Status{
		Now: r.now, Epoch: r.epoch, Active: r.sessions.active, Admitted: r.allowance.admitted, Present: r.present(),
		Open: r.open(), Untold: r.untold.latest > r.remembersFrom(), Settling: r.line.settlesAt() != 0, Recovering: r.recoversAt() != 0,
		NextOpen: r.nextOpen(allowance, more),
		Factor:   r.nodes.factor(r.now), OpenToAll: r.traffic.open,
	}
}

// allowanceUsed is how much of this minute's allowance counts as used.
func (r *room) allowanceUsed() int { return r.allowance.used(&r.settings, r.lost, r.slack) }

// empties is when nobody waits any more if nobody checks in, or a moment before that;
// only meaningful while people wait.
func (r *room) empties() queue.Instant {
	if r.settings.Method.HasExactLine() {
		return r.line.empties()
	}
	return r.cells.empties()
}

// nextOpen is when there may be more open slots than now, with so much allowance left
// and more of it at the moment more; zero for never.
func (r *room) nextOpen(allowance int, more queue.Instant) queue.Instant {
	free, end := r.settings.Slots()-r.sessions.active, r.sessions.nextEnd(r.settings.Occupancy)
	switch {
	case r.recoversAt() != 0:
		return r.recoversAt()
	case r.line.settlesAt() != 0 && !r.settings.HoldsNew():
		return r.line.settlesAt()
	case r.settings.AdmitsNobody() || free <= allowance && end == 0:
		return 0
	case free < allowance:
		return end
	case free == allowance:
		return max(end, more)
	}
	return more
}

// view is the room as the node that reports is told it.
func (r *room) view(p *queue.Report) *queue.View {
	v := &queue.View{Status: r.status(), Buckets: slices.Clone(r.cells.buckets), Nodes: r.nodes.list(r.now), Stock: r.stock, Configuration: r.current,
		Kept: r.ago(r.current.PlacesLast())}
	lasts := r.settings.SessionLasts(r.slack)
	v.Rate, v.RateKnown = r.allowance.rate(lasts)
	r.boundaries.cut(r.cells.buckets, r.allowance.expected(&r.settings, lasts))
	v.Boundaries = r.boundaries.list
	if r.present() > 0 && r.settings.Method.KeepsOrder() {
		v.Ends = r.sessions.endsWithin()
	}
	r.line.view(v)
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
		if s := r.sessions.known[e.ID]; r.sessions.lasts(s) {
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
