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
// answers this gate, and that a certificate ends soon.
func (f *Feature) Run(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var record switched
	var seen frequency
	var told map[string]bool
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now, fails := f.gate.Now(), f.gate.RecordFailing()
		told = f.tellOfCertificates(now, told)
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

// soon is how long before its end it is told that a certificate ends, and lastPart that this is in the
// last part of the time for which it holds at the earliest: what renews itself should be new by then.
const (
	soon     = 14 * 24 * time.Hour
	lastPart = 6
)

// tellOfCertificates has the webhooks told of certificates that end soon, of each once, and returns
// the keys of what they are told. All gates that have a certificate tell by one id.
func (f *Feature) tellOfCertificates(now time.Time, told map[string]bool) map[string]bool {
	if f.certificates == nil {
		return nil
	}
	next := map[string]bool{}
	for _, c := range f.certificates() {
		if left := c.NotAfter.Sub(now); left > min(soon, c.NotAfter.Sub(c.NotBefore)/lastPart) {
			continue
		}
		name := strings.Join(c.DNSNames, ", ")
		if name == "" {
			name = c.Subject.CommonName
		}
		end := c.NotAfter.UTC().Format(time.RFC3339)
		key := strings.Join([]string{string(webhooks.CertificateEnds), name, end}, "\n")
		if next[key] = true; told[key] {
			continue
		}
		f.hooks.Notify(webhooks.Event{
			Kind: webhooks.CertificateEnds, At: now, Details: map[string]any{"certificate": name, "ends": end},
			Key: key,
		})
	}
	return next
}
