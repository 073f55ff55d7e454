package room

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// saidAgain is after how long the store is told again of a note that is said again: another node may
// have been told something else meanwhile, or the store may have lost it.
const saidAgain = 10 * time.Second

// notes are what the site says of visitors, as far as this node was told.
type notes struct {
	mu     sync.Mutex
	said   map[queue.ID]queue.Note
	untold map[queue.ID]struct{} // of which the store is to be told
}

// say takes in a note. It says whether that is news, which the store is to be told before anybody
// else hears of it.
func (n *notes) say(note queue.Note) (news bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	was, known := n.said[note.ID]
	news = !known || was.Text != note.Text
	if !news && note.At < was.At.Add(saidAgain) {
		return false
	}
	if n.said == nil {
		n.said, n.untold = map[queue.ID]queue.Note{}, map[queue.ID]struct{}{}
	}
	n.said[note.ID], n.untold[note.ID] = note, struct{}{}
	return news
}

// forget forgets a visitor who comes anew.
func (n *notes) forget(id queue.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.said, id)
	delete(n.untold, id)
}

// isTold reports whether every note has gone out with a report.
func (n *notes) isTold() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.untold) == 0
}

// drain takes the notes of which the store is to be told.
func (n *notes) drain() (list []queue.Note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.untold {
		list = append(list, n.said[id])
	}
	clear(n.untold)
	return list
}

// all are those that this node knows of.
func (n *notes) all() []queue.Note {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Values(n.said))
}

// trim forgets, from time to time, the notes that have not been said since a moment, of visitors
// who are not in as far as this node knows.
func (n *notes) trim(syncs int, since queue.Instant, isIn func(queue.ID) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.said) == 0 || syncs%shards != 0 {
		return
	}
	maps.DeleteFunc(n.said, func(id queue.ID, note queue.Note) bool {
		_, untold := n.untold[id]
		return !untold && note.At < since && !isIn(id)
	})
}
