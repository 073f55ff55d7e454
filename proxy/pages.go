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
	byKey   map[pageKey]*page
}

// page is a page or JSON, with the headers that all its visitors share.
type page struct {
	*templates.Rendered
	kind, language, policy []string // header values; nil for none
}

// pageKey is what pages of the same numbers differ by.
type pageKey struct {
	bucket   queue.Instant // the visitor's, where it matters
	language string        // "" for JSON
	rejected bool
}

// get returns the page or JSON for a visitor, who arrived at any time of the
// key's bucket.
func (p *pages) get(r *room, key pageKey) *page {
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

func (p *pages) render(r *room, n *queue.Numbers, key pageKey) *page {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := &rendered{numbers: n, byKey: map[pageKey]*page{}}
	if kept := p.kept.Load(); kept != nil && kept.numbers == n {
		if page, ok := kept.byKey[key]; ok {
			return page
		}
		maps.Copy(next.byKey, kept.byKey)
	}
	made := r.render(told(r.cfg.Name, n, key), key.language)
	next.byKey[key] = made
	p.kept.Store(next)
	return made
}

// render makes the page in the language, or JSON if that is empty.
func (r *room) render(d templates.Data, language string) *page {
	if language == "" {
		return &page{Rendered: r.set.JSON(d), kind: jsonType}
	}
	p := &page{Rendered: r.set.Page(language, d), kind: htmlType}
	if !r.set.Custom() {
		p.language = []string{language}
	}
	if policy := r.set.ContentSecurityPolicy(); policy != "" {
		p.policy = []string{policy}
	}
	return p
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
