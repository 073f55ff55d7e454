package overrides

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

// mostEvents is how many events operators may have made of a room at a time, and mostPages how many
// bytes the pages of all of a room's events may have together: the gates hand them on through the
// store.
const (
	mostEvents = 200
	mostPages  = 1 << 20
)

// over returns the settings of the file with the overrides over them, and then the active event's
// own.
func (d Document) over(active queue.ActiveEvent) queue.Settings {
	return d.Events.Over(d.base(), active)
}

// reading is a document as it was read from a configuration.
type reading struct {
	version int64
	at      queue.Instant
	by      string
	Document
}

// OverriddenByEvent are the names of the settings in which the event in force goes over what the
// file and operators say: those that it has of its own, and queue_all if its prequeue alone holds
// people.
func (d Document) OverriddenByEvent(active queue.ActiveEvent) []string {
	i := d.Events.Named(active.Name)
	if i < 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(d.Events[i].Overrides))
	if active.HoldsNew {
		names = append(names, "queue_all")
	}
	return names
}

// document is that of the configuration in force. It is read once.
func (r *Room) document() *reading {
	c := r.queue.Configuration()
	if read := r.read.Load(); read != nil && read.version == c.Version && read.at == c.At && read.by == c.By {
		return read
	}
	read := &reading{c.Version, c.At, c.By, r.documentOf(c)}
	r.read.Store(read)
	return read
}

// documentOf is the document of a configuration, with a File.
func (r *Room) documentOf(c queue.Configuration) Document {
	d := Of(c)
	switch file := r.file.Load(); {
	case d.File != nil:
	case len(c.Overrides) == 0 || file == nil: // nothing is over the file's settings
		d.File = &c.Settings
	default: // another version of the program wrote the document
		d.File = &file.Settings
	}
	return d
}

// Events returns the room's events, in the order of their beginnings.
func (r *Room) Events() event.List { return r.document().Events.Sorted() }

// Page returns the source of the page that an event has of its own.
func (r *Room) Page(name string) string {
	events := r.document().Events
	if i := events.Named(name); i >= 0 {
		return events[i].Page
	}
	return ""
}

// Merged returns the settings of the room as they are once one of its events has started.
func (r *Room) Merged(e event.Event) queue.Settings {
	return e.Over(r.document().base())
}

// EditEvents changes the room's events, on every gate. It fails with a FaultsError if the events
// that edit returns cannot be used together, and with edit's error if it has one; then it changes
// nothing. Other errors are the store's.
func (r *Room) EditEvents(ctx context.Context, now time.Time, by string, edit func(event.List) (event.List, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.configure(ctx, now, by, func(d Document) (Document, error) {
		events, err := edit(slices.Clone(d.Events))
		if err != nil {
			return d, err
		}
		at := r.at(now).Time()
		faults := append(eventFaults(events, d.base(), at), d.settled(events, at)...)
		if len(faults) > 0 {
			return d, faultsError(faults)
		}
		return d.withEvents(events, at), nil
	})
}

// eventFaults returns what is wrong with the events of a room that has the settings without them.
func eventFaults(events event.List, base queue.Settings, at time.Time) []event.Fault {
	faults := append(events.Faults(), events.FaultsIn(base, at)...)
	made, pages := 0, 0
	for i := range events {
		if pages += len(events[i].Page); !events[i].FromFile {
			made++
		}
	}
	if made > mostEvents {
		faults = append(faults, event.Fault{Field: "name", Problem: fmt.Sprintf("is one too many: at most %d events of a room; delete some that are over", mostEvents)})
	}
	if pages > mostPages {
		faults = append(faults, event.Fault{Field: "custom_page_html", Problem: fmt.Sprintf("is too long: the pages of all events of a room have at most %d bytes", mostPages)})
	}
	return faults
}

// settled returns what the next events would change of what is settled: once a prequeue has begun,
// its start and its shuffle; and once the order of a draw is known, the start of its event, also if
// that was suspended or deleted meanwhile.
func (d Document) settled(next event.List, at time.Time) []event.Fault {
	var faults []event.Fault
	for i := range next {
		n := &next[i]
		if e := d.begun(n.Name, at); e != nil && !n.Prequeue.Equal(e.Prequeue) {
			faults = append(faults, event.Fault{Event: n.Name, At: i, Field: "prequeue_start_time", Problem: "cannot change any more: the prequeue has begun"})
		}
		if e := d.begun(n.Name, at); e != nil && n.Shuffle != e.Shuffle {
			faults = append(faults, event.Fault{Event: n.Name, At: i, Field: "shuffle_at_event_start", Problem: "cannot change any more: the prequeue has begun"})
		}
		if o := d.known(n, at); o != nil && !n.Start.Equal(o.Start) {
			faults = append(faults, event.Fault{Event: n.Name, At: i, Field: "event_start_time",
				Problem: "cannot change any more: the event has started, and its order is known. Another prequeue_start_time has an order of its own"})
		}
	}
	return faults
}

// begun is the event that has the name, if its prequeue has begun and it goes on; otherwise nil.
func (d Document) begun(name string, at time.Time) *event.Event {
	i := d.Events.Named(name)
	if i < 0 {
		return nil
	}
	e := &d.Events[i]
	if e.Prequeue.IsZero() || e.Suspended || at.Before(e.Prequeue) || !at.Before(e.End) {
		return nil
	}
	return e
}

// known is the draw of a shuffled event that is not over, if its order is known already; otherwise
// nil.
func (d Document) known(e *event.Event, at time.Time) *event.Draw {
	if o := d.drawOf(e); e.Shuffle && at.Before(e.End) && o != nil && o.Over(at) {
		return o
	}
	return nil
}

func faultsError(faults []event.Fault) error {
	texts := make([]string, len(faults))
	for i, f := range faults {
		texts[i] = f.Error()
	}
	return &FaultsError{Faults: texts}
}

// withFile returns the document with the events of this gate's file in the place of those of
// another file. What operators have made stays. Where that does not go with the file it is an
// error; at a gate's start, such events of operators are suspended instead.
func (r *Room) withFile(d Document, file event.List, base queue.Settings, now time.Time, starts bool) (Document, error) {
	at := r.at(now).Time()
	next := slices.Clone(file)
	for i := range next {
		next[i].FromFile = true
	}
	made := d.madeBeside(next, at)
	if starts {
		r.keepSettled(d, next, at)
		next = append(next, r.renamed(made, next)...)
		r.suspendMisfits(next, len(made), base, at)
		return d.withEvents(next, at), nil
	}
	faults := doubles(made, next)
	if next = append(next, made...); len(faults) == 0 {
		faults = append(eventFaults(next, base, at), d.settled(next, at)...)
	}
	if len(faults) > 0 {
		return d, fmt.Errorf("the events: %w", faultsError(faults))
	}
	return d.withEvents(next, at), nil
}

// madeBeside are the events that operators have made, without those in whose place events of a file
// come: the file has the same, or they are over.
func (d Document) madeBeside(file event.List, at time.Time) event.List {
	return slices.DeleteFunc(slices.Clone(d.Events), func(e event.Event) bool {
		i := file.Named(e.Name)
		return e.FromFile || i >= 0 && (Plan(&e) == Plan(&file[i]) || !at.Before(e.End))
	})
}

// doubles are the faults of a file whose events have the names of other events, which operators
// have made.
func doubles(made, file event.List) []event.Fault {
	var faults []event.Fault
	for _, e := range made {
		if i := file.Named(e.Name); i >= 0 {
			faults = append(faults, event.Fault{Event: e.Name, At: i, Field: e.Name, Problem: fmt.Sprintf(
				"is in the file (%s), and operators have made another event of this name (%s): delete theirs, or give the file's another name", Plan(&file[i]), Plan(&e))})
		}
	}
	return faults
}

// renamed returns the events that operators have made, those whose names are taken by a file's
// under other names, and suspended.
func (r *Room) renamed(made, file event.List) event.List {
	for i := range made {
		e := &made[i]
		at := file.Named(e.Name)
		if at < 0 {
			continue
		}
		was := *e
		e.Name, e.Suspended = freeName(e.Name, slices.Concat(file, made)), true
		if note := strings.TrimSpace("Made by operators as " + was.Name + ", a name that an event of a file has. " + e.Description); len(note) <= event.MaxDescription {
			e.Description = note
		}
		r.log.Warn("operators have made an event of the name that one of the file has; the file's counts, and theirs is kept under another name, suspended",
			zap.String("event", was.Name), zap.String("file", Plan(&file[at])), zap.String("made", Plan(&was)), zap.String("kept_as", e.Name))
	}
	return made
}

// freeName is a name like another that none of the events has.
func freeName(like string, events event.List) string {
	like = like[:min(len(like), 50)] + "-made"
	name := like
	for n := 2; events.Named(name) >= 0; n++ {
		name = fmt.Sprintf("%s-%d", like, n)
	}
	return name
}

// keepSettled gives events of a file what cannot change of them any more.
func (r *Room) keepSettled(d Document, file event.List, at time.Time) {
	for _, f := range d.settled(file, at) {
		r.log.Warn("an event is other than in the file", zap.String("event", f.Event), zap.Error(f))
	}
	for i := range file {
		is := &file[i]
		if was := d.begun(is.Name, at); was != nil {
			is.Prequeue, is.Shuffle = was.Prequeue, was.Shuffle
		}
		if o := d.known(is, at); o != nil {
			is.Start = o.Start
		}
	}
}

// suspendMisfits suspends those of the last events, which operators have made, that do not go with
// the others.
func (r *Room) suspendMisfits(events event.List, made int, base queue.Settings, at time.Time) {
	for i := len(events) - made; i < len(events); i++ {
		e := &events[i]
		if faults := append(events[:i+1].Faults(), events[i:i+1].FaultsIn(base, at)...); len(faults) > 0 && !e.Suspended {
			r.log.Warn("an event does not go with the configuration, and is suspended", zap.String("event", e.Name), zap.Error(faults[0]))
			e.Suspended = true
		}
	}
}

// ended returns d without what has ended by itself at a moment. What was before a change may not go
// with what was changed since: then the change goes on, for good.
func (r *Room) ended(d Document, at time.Time) Document {
	d.Ahead = d.aheadAt(at)
	all, over := d, []string{}
	for name, by := range d.By {
		if by.endedAt(at) {
			all, over = all.without(name), append(over, name)
		}
	}
	if len(r.misfits(all.base(), d.Events, at)) == 0 {
		return all
	}
	slices.Sort(over)
	for _, name := range over {
		next := d.without(name)
		if faults := r.misfits(next.base(), d.Events, at); len(faults) > 0 {
			r.log.Error("a change that was made for some time goes on: what was before does not go with what was changed since", zap.String("setting", name), zap.Errors("faults", faults))
			next = d.forGood(name)
		}
		d = next
	}
	return d
}

// misfits are what is wrong with settings, an event's aside, and with the events over them.
func (r *Room) misfits(base queue.Settings, events event.List, at time.Time) (faults []error) {
	if err := r.file.Load().Check(base); err != nil {
		faults = append(faults, err)
	}
	for _, f := range events.FaultsIn(base, at) {
		faults = append(faults, fmt.Errorf("the event %s: %w", f.Event, f))
	}
	return faults
}

// Follow has the room go by the event that is in force at now, on every gate, or by none, and ends
// the changes of operators that were made for some time. Gates do so about once a second. The first
// makes the change, and the others learn of it. It is not called twice at a time.
func (r *Room) Follow(ctx context.Context, now time.Time) error {
	r.lookAtMessage()
	if r.file.Load() == nil || !r.changes(now) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.at(now)
	active := r.document().Events.ActiveAt(at)
	by := ByEvent
	if r.document().hasEnded(at.Time()) {
		by = ByTime
	}
	err := r.configure(ctx, now, by, func(d Document) (Document, error) {
		d = r.ended(d, at.Time())
		return d.withEvents(d.Events, at.Time()), nil
	})
	if err != nil && !errors.Is(err, queue.ErrConflict) && r.failed != active {
		r.failed = active
		r.log.Error("an event cannot be put in force; it is tried again", zap.String("event", active.Name), zap.Error(err))
	}
	switch {
	case err != nil:
	case by == ByTime:
		r.log.Info("what was changed for some time is as it was before")
	default:
		r.failed = queue.ActiveEvent{}
		s := r.queue.Settings()
		r.log.Info("event", zap.String("event", s.Event.Name), zap.Bool("prequeueing", s.Event.Prequeueing))
	}
	return err
}

// HoldForPrequeue has this gate hold everyone new by its own clock while a prequeue goes on that is
// not in force: where the store does not answer, nobody can put it in force. Gates do so before
// they sync.
func (r *Room) HoldForPrequeue(now time.Time) {
	s := r.queue.Settings()
	active := r.document().Events.ActiveAt(r.at(now))
	r.queue.Hold(active.Prequeueing && !s.Suspended && !s.Event.Prequeueing)
}

// at is the store's time at now. It is not before the last change of the room that another gate has
// made, whose clock may be a little ahead: no event goes back.
func (r *Room) at(now time.Time) queue.Instant {
	const ahead = 10 * time.Second // more than any two gates differ, but for a fault
	at := r.queue.StoreTime(now)
	if last := r.queue.Configuration().At; at < last && last.Sub(at) < ahead {
		return last
	}
	return at
}

// changes says whether another event, or another phase of it, is in force at now than the room goes
// by, or a change of operators has ended.
func (r *Room) changes(now time.Time) bool {
	s := r.queue.Settings()
	d := r.document()
	if d.hasEnded(r.at(now).Time()) {
		return true
	}
	if s.Suspended || len(d.Events) == 0 {
		return s.Event != queue.ActiveEvent{}
	}
	is := s.Event
	is.HoldsNew = false
	return is != d.Events.ActiveAt(r.at(now))
}
