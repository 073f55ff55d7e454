// Package admissions keeps what became of each visitor of a gate: when they came, what they were told
// first and last, when they were let in or turned away and why, and when they had gone. It is what
// operators are told of somebody who complains.
//
//	admissions.go  what the gate tells the log, and what the API is told
//	story.go       what became of those who are there
//	line.go        a line of the log, and the sentences that tell it
//
// What is decided about visitors is handed over to one goroutine, which follows everybody who waits or
// is in, and writes a line when that changes. In the state directory, the folder admissions has a file
// of JSON lines for each day of UTC. Each gate keeps what it has decided itself.
package admissions

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/days"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/handover"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

const (
	// mostBytes is how much the files may take in all; the oldest go first.
	mostBytes = 1 << 30
	// mostStories is how many visitors are followed at once; of more, nothing is kept.
	mostStories = 500_000
	// mostPending is how many lines wait at most for a disk that takes nothing.
	mostPending = 20_000
	// writeEvery is how often lines are written, and it is looked who has gone.
	writeEvery = time.Second
	oneDay     = 24 * time.Hour
)

// Feature keeps the admissions log of a gate.
type Feature struct {
	gate  feature.Gate
	keep  time.Duration
	seen  *handover.Queue[moment]
	files *days.Files[line]

	mu      sync.Mutex // never held while a request is answered
	stories map[key]*story
	looked  time.Time // who has gone
	pending []line    // that are not written yet
	closed  bool      // lines are written as they come
}

// key is a visitor of a room.
type key struct {
	room string
	id   queue.ID
}

// moment is what has become of a visitor, with what the room told then.
type moment struct {
	of      *feature.Room
	id      queue.ID
	numbers *estimate.Numbers
	feature.Sight
	gone feature.Going // "" where the sight says it
}

// NewFeature returns what keeps the admissions log of a gate for a time.
func NewFeature(g feature.Gate, keep time.Duration) *Feature {
	f := &Feature{gate: g, keep: keep, stories: map[key]*story{}, looked: g.Now()}
	f.seen = handover.New(f.takeOrWrite)
	f.files = days.New(days.Config[line]{
		Folder: g.StateDir("admissions"), Of: "the admissions log", At: func(l *line) time.Time { return l.At },
		Keep: int((keep+oneDay-1)/oneDay) + 1, Most: mostBytes, Log: g.Log(),
	})
	f.files.Tidy(g.Now())
	return f
}

// Part implements [feature.Feature]: every room is in the log.
func (*Feature) Part(context.Context, *feature.Setup) (feature.Part, error) { return nil, nil }

// Decided implements [feature.Observer].
func (f *Feature) Decided(r *feature.Room, s feature.Sight) {
	id := s.Decision.Ticket.ID
	if id == (queue.ID{}) {
		id = s.Brought
	}
	if id != (queue.ID{}) {
		f.seen.Give(moment{of: r, id: id, numbers: r.Queue.Numbers(), Sight: s})
	}
}

// Gone implements [feature.Observer].
func (f *Feature) Gone(r *feature.Room, at time.Time, id queue.ID, why feature.Going) {
	f.seen.Give(moment{of: r, id: id, Sight: feature.Sight{At: at}, gone: why})
}

// Run implements [feature.Runner]: it follows visitors, and writes the lines.
func (f *Feature) Run(ctx context.Context) {
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		f.seen.Run(ctx, f.gate.Now, func(lost int64) {
			f.gate.Log().Warn("the admissions log is not whole: more happens than it can keep", zap.Int64("moments", lost))
		})
	}()
	ticker := time.NewTicker(writeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			<-taken
			return
		case <-ticker.C:
			f.write()
		}
	}
}

// takeOrWrite takes in what has become of a visitor. If the log is closed by then, it writes the line:
// requests may outlive the gate's hand-over.
func (f *Feature) takeOrWrite(m moment) error {
	err := f.take(m)
	f.mu.Lock()
	var late []line
	if f.closed {
		late, f.pending = f.pending, nil
	}
	f.mu.Unlock()
	if len(late) > 0 {
		f.files.Append(f.gate.Now(), late) // it logs what it cannot write
		f.files.Close()
	}
	return err
}

// Close implements [feature.Closer]: it notes what those were told last who are still there.
func (f *Feature) Close() {
	f.write()
	f.mu.Lock()
	f.closed = true
	for k, s := range f.stories {
		if l := s.line(k.room, s.seen, noted); l.Told != nil {
			f.pending = append(f.pending, l)
		}
	}
	f.mu.Unlock()
	f.write()
	f.files.Close()
}

// write writes the lines that wait, and those of visitors who have gone meanwhile.
func (f *Feature) write() {
	defer f.gate.Survive("admissions log")
	now := f.gate.Now()
	f.mu.Lock()
	f.forget(now)
	lines := f.pending
	f.pending = nil
	f.mu.Unlock()
	left := f.files.Append(now, lines)
	f.mu.Lock()
	defer f.mu.Unlock()
	left = append(left, f.pending...)
	f.pending = left[max(0, len(left)-mostPending):]
}

// Admin implements [feature.Administered].
func (f *Feature) Admin(admin.API) admin.Part { return admin.Part{Past: f.past} }

// past returns the visitors of a room whose support code a text is, or whose label has it.
func (f *Feature) past(ctx context.Context, of admin.Room, text string) []admin.FoundVisitor {
	f.write()
	code, isCode := admin.CodeIn(text)
	text = strings.ToLower(text)
	is := func(l *line) bool {
		return l.Room == of.Queue().Name() && (isCode && l.Code == code || l.Label != "" && strings.Contains(strings.ToLower(l.Label), text))
	}
	found := found{at: map[string]int{}, told: map[string]*told{}}
	if err := f.read(ctx, code, func(l *line) {
		if is(l) {
			found.add(l)
		}
	}); err != nil {
		f.gate.Log().Warn("the admissions log cannot be read, or not all of it", zap.Error(err))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.pending { // the disk takes nothing
		if is(&f.pending[i]) {
			found.add(&f.pending[i])
		}
	}
	for k, s := range f.stories {
		if l := s.line(k.room, s.seen, waiting); l.Told != nil && is(&l) {
			l.Told = nil // which the gate knows of those who are there
			found.add(&l)
		}
	}
	return found.list
}

// read reads the lines of the files; those without the code need not be looked at, if there is one.
func (f *Feature) read(ctx context.Context, code string, each func(*line)) error {
	from := f.gate.Now().Add(-f.keep)
	names, err := days.List(f.files.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		err = errors.Join(err, days.Read(filepath.Join(f.files.Folder, name), func(text []byte) {
			var l line
			if (code == "" || bytes.Contains(text, []byte(code))) && json.Unmarshal(text, &l) == nil && !l.At.Before(from) {
				each(&l)
			}
		}))
	}
	return err
}

// found are the visitors whom a search has found, with their stories.
type found struct {
	list []admin.FoundVisitor
	at   map[string]int   // in the list, by support code
	told map[string]*told // what they were told last
}

// add adds a line to the story of its visitor. Lines come in the order in which they were written;
// the last one of somebody who is followed says that. Of more visitors than a search finds there are
// no stories.
func (f *found) add(l *line) {
	at, known := f.at[l.Code]
	switch {
	case !known && len(f.list) == admin.MaxFound:
		return
	case !known:
		at = len(f.list)
		f.at[l.Code], f.list = at, append(f.list, admin.FoundVisitor{Room: l.Room, SupportCode: l.Code, Status: admin.StatusGone})
	}
	v := &f.list[at]
	v.Label, v.Story = cmp.Or(l.Label, v.Label), append(v.Story, l.sentences(f.told[l.Code])...)
	f.told[l.Code] = cmp.Or(l.Told, f.told[l.Code])
}
