package room

import (
	"maps"
	"sync"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// notes are what the site says of visitors, as far as this node was told.
type notes struct {
	mu     sync.Mutex
	said   map[queue.ID]queue.Note
	untold map[queue.ID]struct{} // of which the store is to be told
}

// say takes in a note, for the next report: what was said before is said again there, as another
// node may have been told something else meanwhile. It says whether the note is news, which the store
// is to be told before anybody else hears of it.
func (n *notes) say(note queue.Note) (news bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.said == nil {
		n.said, n.untold = map[queue.ID]queue.Note{}, map[queue.ID]struct{}{}
	}
	was, known := n.said[note.ID]
	n.said[note.ID], n.untold[note.ID] = note, struct{}{}
	return !known || was.Text != note.Text
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

// drain takes notes of which the store is to be told, as many as a report has.
func (n *notes) drain() (list []queue.Note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.untold {
		if len(list) == queue.MaxNotes {
			break
		}
		list = append(list, n.said[id])
		delete(n.untold, id)
	}
	return list
}

// tellAgain has the store be told of every note again.
func (n *notes) tellAgain() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.said {
		n.untold[id] = struct{}{}
	}
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
