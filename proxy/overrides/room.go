package overrides

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// Room gives a room of the queue its settings: those of this gate's file, with the
// overrides over them. It is made by Open.
type Room struct {
	queue *room.Room
	log   *zap.Logger
	noted noted

	mu   sync.Mutex           // held while the settings are changed
	file atomic.Pointer[File] // nil before the first Reload

	read   atomic.Pointer[reading] // the document as it was read last
	failed queue.ActiveEvent       // the change of events that failed last; guarded by mu
	note   func(draw *event.Draw, entry string)

	outOfDate string // what was logged last of the message; for Follow
}

// File is what a gate's file says of a room.
type File struct {
	Settings queue.Settings
	Events   event.List

	// Misfits returns what is wrong with settings in a room with all else that the file says. nil:
	// nothing is.
	Misfits func(queue.Settings) []queue.SettingFault
}

// Check says what is wrong with settings of the room, by themselves and with the rest of the file.
func (f *File) Check(s queue.Settings) error {
	errs := []error{s.Validate()}
	if f != nil && f.Misfits != nil {
		for _, fault := range f.Misfits(s) {
			errs = append(errs, fault)
		}
	}
	return errors.Join(errs...)
}

// Config is what a Room is made of.
type Config struct {
	room.Config // of the room of the queue. A Room sets OnConfigure, Draw and OnDrawn itself

	Log *zap.Logger

	// OnChange is told each change of the room's settings, whichever gate has made it. nil: nobody
	// is told.
	OnChange func(Change)

	// OnEntry is told each entry of a draw, maybe more than once, when its visitor first comes
	// back, before they can be let in by it. nil: nobody is told.
	OnEntry func(draw *event.Draw, entry string)
}

// Open makes a room of the queue.
func Open(ctx context.Context, now time.Time, c Config) (*Room, error) {
	if c.OnChange == nil {
		c.OnChange = func(Change) {}
	}
	if c.OnEntry == nil {
		c.OnEntry = func(*event.Draw, string) {}
	}
	r := &Room{log: c.Log, note: c.OnEntry}
	c.OnConfigure, c.Draw, c.OnDrawn = r.received, r.draw, r.noteEntry
	var err error
	if r.queue, err = room.New(ctx, now, c.Config); err == nil {
		r.noted.begin(r.queue.Configuration(), c.OnChange)
	}
	return r, err
}

// Queue is the room of the queue.
func (r *Room) Queue() *room.Room { return r.queue }

// ErrNoObject means that a patch is not a JSON object.
var ErrNoObject = errors.New("the body is not a JSON object")

// FaultsError is all that is wrong with a patch.
type FaultsError struct{ Faults []string }

func (e *FaultsError) Error() string { return strings.Join(e.Faults, "; ") }

// Patch puts a JSON object of changes over the room's, on every gate: for so long, or for good if
// lasts is 0. It fails with ErrNoObject or a FaultsError if the patch cannot be used; then it
// changes nothing. Other errors are the store's. The other gates learn of the changes at their next
// sync.
func (r *Room) Patch(ctx context.Context, now time.Time, patch []byte, lasts time.Duration, by string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	author := Author{By: by, At: now.UTC().Truncate(time.Millisecond)}
	if lasts > 0 {
		author.Until = r.at(now).Time().Add(lasts)
	}
	return r.configure(ctx, now, by, func(d Document) (Document, error) { return r.patched(d, now, patch, author) })
}

// Check says what is wrong with a patch that is for good, as Patch does, and changes nothing.
func (r *Room) Check(now time.Time, patch []byte) error {
	_, err := r.patched(r.documentOf(r.queue.Configuration()), now, patch, Author{})
	return err
}

// patched is a document with a patch over its changes.
func (r *Room) patched(d Document, now time.Time, patch []byte, author Author) (Document, error) {
	merged, named, faults, err := d.Changes.merge(patch)
	if err != nil {
		return d, err
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if !author.Until.IsZero() && string(named[name]) == "null" {
			faults = append(faults, fmt.Errorf("%s: null takes a change back for good: it cannot be for some time", name))
		}
	}
	faults = append(faults, r.misfits(merged.over(*d.File), d.Events, r.at(now).Time())...)
	if err := errors.Join(faults...); err != nil {
		return d, &FaultsError{Faults: strings.Split(err.Error(), "\n")}
	}
	return d.signed(merged, named, author).agreed(d, named, r.queue.Numbers().Reason()), nil
}

// Reload makes the settings and the events those of this gate's file, under the overrides, and
// returns those that the file had before; nil the first time. It fails if the overrides do not
// go with the file; the first time such overrides end instead, as a gate has to start with a
// file that is right by itself.
func (r *Room) Reload(ctx context.Context, now time.Time, file File) (before *File, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before = r.file.Swap(&file)
	var misfit error
	err = r.configure(ctx, now, ByFile, func(d Document) (Document, error) {
		d.File = &file.Settings
		base := d.base()
		misfit = file.Check(base)
		if misfit != nil && before == nil {
			d = d.withoutTimes()
			base = d.base()
		}
		if misfit == nil || before == nil {
			return r.withFile(d, file.Events, base, now, before == nil)
		}
		return d, fmt.Errorf("what operators have changed does not go with it, and has to be taken back first: %w", misfit)
	})
	if err != nil {
		r.file.Store(before)
		return before, err
	}
	if misfit != nil {
		r.log.Warn("what operators changed of the waiting times does not go with the configuration, and ends", zap.Error(misfit))
	}
	return before, nil
}

// configureTries is how often a configuration is tried because another gate was first. Each time
// another has changed the room meanwhile, and so many changes are hardly made at one moment: gates
// that start at once with the same file make one.
const configureTries = 5

// configure edits the overrides, and has all gates go by the result. The caller holds
// mu.
func (r *Room) configure(ctx context.Context, now time.Time, by string, edit func(Document) (Document, error)) error {
	var err error
	for range configureTries {
		if err = r.tryConfigure(ctx, now, by, edit); !errors.Is(err, queue.ErrConflict) {
			break
		}
	}
	return err
}

// tryConfigure is configure, once: it fails with ErrConflict if another gate was first.
// Where the edit changes nothing it asks nobody.
func (r *Room) tryConfigure(ctx context.Context, now time.Time, by string, edit func(Document) (Document, error)) error {
	current := r.queue.Configuration()
	edited, err := edit(r.documentOf(current))
	if err != nil {
		return err
	}
	at := r.at(now)
	next := queue.Configuration{Version: current.Version, Settings: edited.over(edited.Events.ActiveAt(at)), By: by}
	next.Settings.ClosesFrom = closesFrom(next.Settings.OnSoldOut, &current.Settings, at)
	if next.Overrides, err = json.Marshal(edited); err != nil {
		return fmt.Errorf("writing the overrides: %w", err)
	}
	if same(next, current, edited) {
		return nil
	}
	if err := r.queue.Configure(ctx, now, next); err != nil {
		return err
	}
	r.noted.follow(r.queue.Configuration())
	// Visitors hear of the change with their next answer then. A store that fails just
	// now is noticed by the next sync.
	_ = r.queue.Sync(ctx, now)
	return nil
}

// closesFrom is the moment from which on a room with the policy closes when nothing is left, after
// it had the settings.
func closesFrom(policy queue.SoldOutPolicy, before *queue.Settings, at queue.Instant) queue.Instant {
	switch {
	case policy != queue.CloseToAll:
		return 0
	case before.OnSoldOut == queue.CloseToAll:
		return before.ClosesFrom
	}
	return at
}

// same says whether the next configuration, with the overrides d, changes nothing of
// the current one. A room without overrides may have no document.
func same(next, current queue.Configuration, d Document) bool {
	if next.Settings != current.Settings {
		return false
	}
	return bytes.Equal(next.Overrides, current.Overrides) || len(current.Overrides) == 0 && len(d.Changes)+len(d.Events)+len(d.Ahead)+len(d.Favours) == 0
}

// received takes in a configuration that another gate gave the room.
func (r *Room) received(c queue.Configuration) {
	r.noted.follow(c)
	r.logReceived(c)
}

// logReceived logs a configuration that another gate gave the room. The room goes by it
// already. Where it differs from this gate's file, it is in force, and the file is not.
func (r *Room) logReceived(c queue.Configuration) {
	file := r.file.Load()
	if file == nil {
		return
	}
	d := r.documentOf(c)
	r.log.Info("room was changed through another gate", zap.String("by", c.By), zap.Any("overrides", d.Changes), zap.String("event", c.Settings.Event.Name))
	if d.File.WithDefaults() != file.Settings.WithDefaults() {
		r.log.Warn("another gate has read another file; the limits and switches of that file are in force")
	}
}
