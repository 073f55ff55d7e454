package feature

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Say has the store keep what the site says of the visitor of a ticket, in JSON, with their session
// or their place in the exact line. It is kept when Say returns, if the store answers. What is no
// JSON, or too long, is refused, which the log says once.
func (r *Room) Say(by *http.Request, now time.Time, t *queue.Ticket, said string) {
	if t.Uncounted || t.State == queue.None || t.State == queue.Waiting && !r.Settings().Method.HasExactLine() {
		return
	}
	text, problem := note(said)
	switch {
	case problem == "":
		r.Queue.Say(by.Context(), now, t.ID, text)
	case !r.refusedNote.Swap(true):
		r.Setup().Log.Error("what the site says of a visitor is refused; so is other such data", r.Setup().About(by, t.ID), zap.String("problem", problem))
	}
}

// note is what the site says of a visitor, as a store keeps it; or what is wrong with it.
func note(said string) (text, problem string) {
	var b bytes.Buffer
	switch {
	case len(said) > 2*queue.MaxNote: // which costs nothing
	case json.Compact(&b, []byte(said)) != nil:
		return "", "it is no JSON"
	case b.Len() <= queue.MaxNote:
		return b.String(), ""
	}
	return "", fmt.Sprintf("it is longer than %d bytes of JSON", queue.MaxNote)
}
