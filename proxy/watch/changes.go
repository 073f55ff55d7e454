package watch

import (
	"context"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
)

// NoteChange implements [feature.Chronicler]: it has the webhooks told of what operators change. All
// gates note a change, and one tells.
func (f *Feature) NoteChange(room string, c overrides.Change) {
	switch c.By {
	case overrides.ByFile, overrides.ByEvent, overrides.ByTime:
		return
	}
	r := f.gate.Room(room)
	if r == nil {
		return
	}
	w := feature.StateOf[watched](r)
	w.mu.Lock()
	defer w.mu.Unlock()
	f.tell(r, w, webhooks.Event{
		Kind: webhooks.Changed, Room: room, At: f.gate.Now(),
		Details: map[string]any{"what": c.What, "from": c.From, "to": c.To, "by": c.By},
		Key:     strings.Join([]string{string(webhooks.Changed), room, c.At.UTC().Format(time.RFC3339Nano), c.What, c.To}, "\n"),
	})
}

// lookEvery is how often it is looked at what concerns no single room.
const lookEvery = time.Second

// Run implements [feature.Runner]: it has the webhooks told whether the record of waitlists and passes
// answers this gate.
func (f *Feature) Run(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var record switched
	var seen frequency
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now, fails := f.gate.Now(), f.gate.RecordFailing()
		if !record.turned(now, fails, beginsAfter, beginsAfter) {
			continue
		}
		kind := webhooks.RecordBack
		if fails {
			kind = webhooks.RecordLost
		}
		f.hooks.Notify(webhooks.Event{Kind: kind, At: now, Nth: seen.add(now, kind)})
	}
}
