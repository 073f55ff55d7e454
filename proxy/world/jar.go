package world

import (
	"net/http"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// jar is a browser's cookies, which all of its tabs share.
type jar struct {
	cookie string   // the ticket as the header has it; "" for none
	all    []string // the tickets that it has had, the latest last
	tabs   int      // how many are open
	pass   string   // the cookie of a pass, in the same way
}

// keep keeps the ticket of an answer.
func (j *jar) keep(h http.Header) {
	if set, value := ticketIn(h); set {
		j.cookie = value
		if value != "" {
			j.all = append(j.all, value)
		}
	}
}

// ticketIn is the ticket that an answer sets, as the header of a request has it; "" if the browser
// is to forget it.
func ticketIn(h http.Header) (set bool, value string) {
	for _, line := range h["Set-Cookie"] {
		if now, attributes, _ := strings.Cut(line, ";"); strings.HasPrefix(now, ticketName+"=") {
			set, value = true, now
			if strings.Contains(attributes, "Max-Age=0") {
				value = ""
			}
		}
	}
	return set, value
}

// Ticket is what an observer of everything knows of the ticket with which somebody leaves an
// answer.
type Ticket struct {
	ID      queue.ID
	State   queue.State
	Arrived time.Duration // when somebody came who waits, after the beginning of the world
	Placed  time.Duration // by when the place of somebody who waits goes where the order is that of arrivals: it may have been drawn
	Number  int           // in an exact line; 0 for none
	Moved   uint8
}

// gatesKey is the key of all gates.
const gatesKey = "a key that every gate of this world has"

// ticketName is the name of the cookie that has the ticket.
var ticketName = cookie.Name(roomName)

// codec opens tickets.
var codec = func() *cookie.Codec {
	key, err := cookie.ParseKey(gatesKey)
	if err != nil {
		panic(err)
	}
	c, err := cookie.New(cookie.Config{Name: ticketName, Keys: []cookie.Key{key}})
	if err != nil {
		panic(err)
	}
	return c
}()

// ticketOf is the ticket of a cookie; the zero Ticket for none.
func (h *History) ticketOf(header string) (known Ticket) {
	_, value, _ := strings.Cut(header, "=")
	payload, _, ok := codec.Decode(value)
	var t queue.Ticket
	if !ok || t.UnmarshalBinary(payload) != nil {
		return known
	}
	known = Ticket{ID: t.ID, State: t.State, Number: int(t.Number), Moved: t.Moved}
	if t.State == queue.Waiting {
		known.Arrived, known.Placed = t.Came().Time().Sub(h.begun), t.ArrivedAt.Time().Sub(h.begun)
	}
	return known
}

// ticketAfter is the ticket that somebody has after an answer.
func (v *visitor) ticketAfter(h http.Header, brought string) Ticket {
	if set, value := ticketIn(h); set {
		brought = value
	}
	return v.world.history.ticketOf(brought)
}
