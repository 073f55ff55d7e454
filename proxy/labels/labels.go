// Package labels keeps the names by which a site has operators recognise its visitors. Each gate
// keeps those of the visitors that it has seen: they are in no store and on no disk.
package labels

import (
	"strings"
	"sync"
	"unicode"

	"github.com/fairdoor-gate/fairdoor/queue"
)

const (
	// Most is how many labels are kept at least, of the visitors who were seen last; twice as many
	// are kept at most.
	Most = 5000
	// longest is how long a label may be, in characters.
	longest = 80
)

// Labels are those of a room's visitors. The zero Labels are empty. They may be used concurrently.
type Labels struct {
	mu           sync.RWMutex
	latest, last map[queue.ID]string // a visitor who is seen again is among the latest
}

// Note takes in the label of a visitor: as one line, without what cannot be seen, and cut if it is
// long.
func (l *Labels) Note(id queue.ID, text string) {
	text = clean(text)
	l.mu.RLock()
	known := l.latest[id] == text
	l.mu.RUnlock()
	if known || text == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.latest) == Most {
		l.last, l.latest = l.latest, nil
	}
	if l.latest == nil {
		l.latest = map[queue.ID]string{}
	}
	l.latest[id] = text
}

// Of returns the label of a visitor; "" if it is not known here.
func (l *Labels) Of(id queue.ID) string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if text, found := l.latest[id]; found {
		return text
	}
	return l.last[id]
}

// clean is a text as a label.
func clean(text string) string {
	var b strings.Builder
	length := 0
	for _, r := range strings.ToValidUTF8(text, "") {
		if !unicode.IsPrint(r) {
			continue
		}
		if length++; length > longest {
			return b.String() + "…"
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}
