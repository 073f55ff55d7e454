// Package draws keeps the entries of shuffled prequeues: who has come back to this gate with a
// drawn place, by the names that package event gives them. An entry is written to the gate's state
// directory before its visitor can be let in by it, so that no entry is lost when the gate is
// killed.
package draws

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/event"
)

// Book has the entries of all draws of a gate. The zero Book keeps them in memory alone.
type Book struct {
	dir string

	mu    sync.Mutex // not held while a list reads or writes
	lists map[key]*list
}

// key names a list.
type key struct {
	room, event string
	prequeue    int64 // Unix seconds
}

// Open returns the book of a state directory; "" is none.
func Open(dir string) *Book {
	if dir == "" {
		return &Book{}
	}
	return &Book{dir: filepath.Join(dir, "draws")}
}

// Note adds an entry to a draw of a room, if it is not there. If it cannot be written, it is kept
// in memory, and written with the next.
func (b *Book) Note(room string, d *event.Draw, entry string) error {
	if err := b.list(room, d).note(entry); err != nil {
		return fmt.Errorf("noting an entry of the event %s: %w", d.Event, err)
	}
	return nil
}

// Order returns the order of a draw of a room among those who have come to this gate.
func (b *Book) Order(room string, d *event.Draw) (event.Order, error) {
	l := b.list(room, d)
	names, err := l.all()
	if err != nil {
		return event.Order{}, fmt.Errorf("reading the entries of the event %s: %w", d.Event, err)
	}
	o := event.NewOrder(room, d, names)
	l.header.Store(&o.Header)
	return o, nil
}

// Header returns the header of that order. It is computed once for all who ask before another entry
// is added.
func (b *Book) Header(room string, d *event.Draw) (event.Header, error) {
	l := b.list(room, d)
	if h := l.header.Load(); h != nil && h.Entries == l.count() && h.Start.Equal(d.Start) && h.SeedHash == d.SeedHash() {
		return *h, nil
	}
	o, err := b.Order(room, d)
	return o.Header, err
}

// Close closes the files.
func (b *Book) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, l := range b.lists {
		errs = append(errs, l.close())
	}
	b.lists = nil
	return errors.Join(errs...)
}

// Sweep removes the lists to which nothing was added for longer than draws are kept.
func (b *Book) Sweep(now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for k, l := range b.lists {
		if now.Sub(l.lastAdded()) > event.DrawKept {
			delete(b.lists, k)
			errs = append(errs, l.close())
		}
	}
	if b.dir == "" {
		return errors.Join(errs...)
	}
	err := filepath.WalkDir(b.dir, func(path string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		info, err := f.Info()
		if err == nil && now.Sub(info.ModTime()) > event.DrawKept {
			err = os.Remove(path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, fmt.Errorf("removing the entries of old draws: %w", err))
	}
	return errors.Join(errs...)
}

// list returns the entries of a draw.
func (b *Book) list(room string, d *event.Draw) *list {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := key{room, d.Event, d.Prequeue.Unix()}
	l := b.lists[k]
	if l == nil {
		l = &list{known: map[string]bool{}, added: time.Now()}
		if b.dir != "" {
			l.path = filepath.Join(b.dir, k.room, k.event, strconv.FormatInt(k.prequeue, 10))
		}
		if b.lists == nil {
			b.lists = map[key]*list{}
		}
		b.lists[k] = l
	}
	return l
}
