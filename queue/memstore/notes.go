package memstore

import "github.com/fairdoor-gate/fairdoor/queue"

// notes are what the site says of visitors. The journal has them before the answer to the report
// that they came with.
type notes struct {
	said    map[queue.ID]note
	journal *journal
}

type note struct {
	at   queue.Instant
	text string
}

// take takes in what was said of a visitor, unless something was said later.
func (n *notes) take(said queue.Note) {
	was := n.said[said.ID]
	if was.at > said.At {
		return
	}
	n.said[said.ID] = note{said.At, said.Text}
	if was.text != said.Text {
		n.journal.note(said.ID, n.said[said.ID])
	}
}

// forget forgets what was said of a visitor.
func (n *notes) forget(id queue.ID) {
	if _, known := n.said[id]; known {
		delete(n.said, id)
		n.journal.note(id, note{})
	}
}

// sweep looks at some of the notes, whichever they are, and forgets those of visitors whom matters
// does not know.
func (n *notes) sweep(matters func(queue.ID) bool) {
	looks := 0
	for id := range n.said {
		if looks++; looks > queue.NotesSwept {
			return
		}
		if !matters(id) {
			n.forget(id)
		}
	}
}
