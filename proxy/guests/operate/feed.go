package operate

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// FeedJSON is what has happened to the entries of a waitlist, in its order.
type FeedJSON struct {
	Log  []HappenedJSON `json:"log"`
	Last int64          `json:"last"` // the id of the last event that there is
}

// HappenedJSON is something that has happened to an entry. Webhooks have it, too.
type HappenedJSON struct {
	ID    int64              `json:"id"`
	At    time.Time          `json:"at"`
	Event waitlist.EventKind `json:"event"`
	Entry any                `json:"entry"` // an EntryJSON; of who was erased the id and the status
}

// erasedJSON is an entry whose personal data is erased.
type erasedJSON struct {
	ID     int64           `json:"id"`
	Status waitlist.Status `json:"status"`
}

// Happened describes an event.
func Happened(e *waitlist.Event) HappenedJSON {
	h := HappenedJSON{ID: e.ID, At: e.At, Event: e.Kind, Entry: describeEntry(e.Entry)}
	if e.Entry.Status == waitlist.Removed {
		h.Entry = erasedJSON{e.Entry.Number, e.Entry.Status}
	}
	return h
}

// getFeed answers with events from a cursor.
func (o *operators) getFeed(w http.ResponseWriter, r *http.Request, l Waitlist) {
	p, ok := readPage(w, r, "after")
	if !ok {
		return
	}
	events, last, err := l.Record().Events(r.Context(), p.from, p.most)
	switch {
	case errors.Is(err, waitlist.ErrGone):
		reply.Problem(w, http.StatusGone, "Some of what has happened since is not kept any more, or the record was restored from a backup. Read /api/v1/waitlists/"+
			l.Name()+"/entries, and go on with after="+strconv.FormatInt(last, 10)+".")
		return
	case err != nil:
		o.refused(w, r, l, err)
		return
	}
	feed := FeedJSON{Log: []HappenedJSON{}, Last: last}
	for i := range events {
		feed.Log = append(feed.Log, Happened(&events[i]))
	}
	reply.JSON(w, feed)
}
