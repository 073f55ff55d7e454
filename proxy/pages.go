package proxy

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/templates"
)

// pages keeps what was rendered from a room's latest numbers, so that a page is
// made once a second and state and not once a visitor.
type pages struct {
	mu   sync.Mutex // held while rendering
	kept atomic.Pointer[rendered]
}

// rendered are the pages of one set of numbers. It does not change.
type rendered struct {
	numbers *queue.Numbers
	byKey   map[pageKey]*templates.Rendered
}

// pageKey is what pages of the same numbers differ by.
type pageKey struct {
	bucket   queue.Instant // the visitor's, where it matters
	language string        // "" for JSON
	rejected bool
}

// get returns the page or JSON for a visitor, who arrived at any time of the
// key's bucket.
func (p *pages) get(r *room, key pageKey) *templates.Rendered {
	n := r.line.queue.Numbers()
	if n.Settings.Method == queue.FIFO {
		key.bucket = key.bucket.Floor(n.Settings.Bucket)
	} else {
		key.bucket = 0
	}
	if kept := p.kept.Load(); kept != nil && kept.numbers == n {
		if page, ok := kept.byKey[key]; ok {
			return page
		}
	}
	return p.render(r, n, key)
}

func (p *pages) render(r *room, n *queue.Numbers, key pageKey) *templates.Rendered {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := &rendered{numbers: n, byKey: map[pageKey]*templates.Rendered{}}
	if kept := p.kept.Load(); kept != nil && kept.numbers == n {
		if page, ok := kept.byKey[key]; ok {
			return page
		}
		maps.Copy(next.byKey, kept.byKey)
	}
	data := told(r.cfg.Name, n, key)
	page := r.set.JSON(data)
	if key.language != "" {
		page = r.set.Page(key.language, data)
	}
	next.byKey[key] = page
	p.kept.Store(next)
	return page
}

// told is what a room tells a visitor who waits in the bucket, or is rejected.
// They are one of those who wait, even where the numbers are from before they
// came, or from before the method changed: whoever has a place is to come back,
// and whoever has none is not.
func told(name string, n *queue.Numbers, key pageKey) templates.Data {
	wait := n.Wait(key.bucket)
	ahead, known := n.Ahead(key.bucket)
	d := templates.Data{
		RoomName:             name,
		QueueingMethod:       n.Settings.Method.String(),
		QueueAll:             n.Settings.QueueAll,
		WaitTimeKnown:        wait.Known,
		WaitTime:             wait.Minutes,
		WaitTime25Percentile: wait.P25,
		WaitTime50Percentile: wait.P50,
		WaitTime75Percentile: wait.P75,
		UsersAheadKnown:      known,
		UsersAhead:           ahead,
		UsersQueued:          max(n.Waiting, 1),
	}
	switch {
	case key.rejected:
		d.QueueingMethod, d.QueueAll, d.UsersQueued = queue.Reject.String(), false, n.Waiting
	case n.Settings.Method == queue.Reject && !d.QueueAll:
		d.QueueingMethod = queue.FIFO.String()
	}
	return d
}
