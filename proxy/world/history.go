package world

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// nobody is in the place of a person where an event is about none.
const nobody = -1

// What says what an event is.
type What uint8

// What happens.
const (
	Came     What = iota // somebody comes
	Waits                // somebody is told to wait: At is when the gate said so
	Enters               // a stream tells its visitor that they are in
	Seen                 // the origin sees a request, which was sent at Sent
	Served               // somebody gets an answer of the site, and keeps its cookie
	Lost                 // a request has no answer: nobody knows what it did
	Shut                 // somebody is turned away, or told to come again with an error
	Goodbye              // somebody says goodbye
	Left                 // somebody has gone for good; Text has why
	Moved                // somebody has moved their place to another device; Ticket has what it has there
	Copied               // what Outcome says becomes of somebody who shows a copy of a ticket that the person has had
	Form                 // what Outcome says becomes of the form that Text is
	Part                 // the site sees a request for a part of a page, which was sent at Sent
	Watched              // the site is done with a long answer, whose request was sent at Sent
	Placed               // a request that no person looks at gets a place in line
	Measured             // how much there is, as Size says
	Started              // a gate
	Died                 // a gate
	Stopped              // a gate, in order: it finishes what is under way
	Said                 // a gate logs something
	Broke                // a fault begins, or ends
	Made                 // a pass, by an operator
	Revoked              // a pass, by an operator
	Used                 // somebody has used a pass; Text has what was wrong with it
	Absent               // somebody is told that they will be called
	Called               // somebody gets a message; Text has what it tells
	Useless              // somebody is told that a pass does not work

	// What happens to guests: see waitlist.go. The guest is in Event.Guest.
	Mailed    // the mail server takes a mail of the kind in Text
	Standing  // they are told the status in Text
	Accepts   // they are told that they have accepted their invite
	Refused   // they are told that their invite does not work
	Leaves    // they send that they leave the list; Text is "done" once they are told that they have
	GuestWait // one who has accepted is told to wait for their room, with the cookie of whichever device
	GuestSeen // the origin sees a request, which was sent at Sent with their cookie
	Ghost     // something is done for somebody who has left: Text has what
)

// Event is something that happened.
type Event struct {
	At   time.Duration // after the beginning
	What What
	Who  int           // the place in Plan.People; nobody for none
	Gate int           // from 1 on; 0 for none
	Sent time.Duration // when the request was, or the one that has opened the stream

	Room   Room   // what somebody who waits was told
	Ticket Ticket // that somebody has then who is told to wait, is served or is turned away

	Outcome What   // of a copy
	Brought Ticket // the copy

	Size Size

	Guest    int // whom the event is about, from 1 on in Waitlist.Guests; 0 for none
	Rank     int // that they are told; 0 for none
	Referees int // who count for it

	Pass int // that the event is about, or that the person has used, from 1 on in Plan.Passes; 0 for none
	Of   int // whom the event is about, without being an answer to them, from 1 on in Plan.People; 0 for nobody

	Until time.Duration // of a call, when the slot goes on that is kept

	Text string
}

// Room is what somebody is told who waits. The names are those of the JSON.
type Room struct {
	InWaitingRoom   bool `json:"inWaitingRoom"`
	UsersAheadKnown bool `json:"usersAheadKnown"`
	UsersAhead      int  `json:"usersAhead"`
	UsersQueued     int  `json:"usersQueued"`
	WaitTimeKnown   bool `json:"waitTimeKnown"`
	WaitTime        int  `json:"waitTime"`
	Number          int  `json:"ticketNumber"`
	Rejoined        bool `json:"rejoined"`
	CookieMissing   bool `json:"cookieMissing"`
	Retry           int  `json:"refreshLeftSeconds"`
}

// History is what happened in a world.
type History struct {
	Plan   *Plan
	Events []Event // in the order in which they happened
	Ends   time.Duration

	mu    sync.Mutex
	begun time.Time
}

func newHistory(p *Plan) *History { return &History{Plan: p, begun: time.Now()} }

// now is the time since the beginning.
func (h *History) now() time.Duration { return time.Since(h.begun) }

// add notes that something happens now.
func (h *History) add(e Event) {
	shake()
	h.mu.Lock()
	defer h.mu.Unlock()
	e.At = h.now()
	h.Events = append(h.Events, e)
}

// only are the events of some kinds, in order.
func (h *History) only(is func(*Event) bool) (list []*Event) {
	for i := range h.Events {
		if e := &h.Events[i]; is(e) {
			list = append(list, e)
		}
	}
	return list
}

// waits says whether the last that happened to somebody is that they came, or were told to wait or
// that they are in.
func (h *History) waits(who int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.Events) - 1; i >= 0; i-- {
		if e := &h.Events[i]; e.Who == who {
			return e.What == Came || e.What == Waits || e.What == Enters
		}
	}
	return false
}

// Story tells the history to a person: when, who, what.
func (h *History) Story() string {
	var b strings.Builder
	fmt.Fprintln(&b, h.Plan)
	for i := range h.Events {
		fmt.Fprintln(&b, h.Line(&h.Events[i]))
	}
	return b.String()
}

// Line tells one event.
func (h *History) Line(e *Event) string {
	who := "gate " + fmt.Sprint(e.Gate)
	if e.Guest > 0 {
		who = h.Plan.Waitlist.Guests[e.Guest-1].Name
	} else if at := max(e.Who, e.Of-1); at != nobody {
		who = h.Plan.People[at].Name
	}
	return fmt.Sprintf("%s  %-9s %s", moment(e.At), who, e.tells(h.Plan))
}

// moment writes a time as minutes and seconds.
func moment(d time.Duration) string {
	return fmt.Sprintf("%02d:%09.6f", int(d.Minutes()), (d % time.Minute).Seconds())
}

func (e *Event) tells(p *Plan) string {
	switch e.What {
	case Came:
		return fmt.Sprintf("comes: %s, who would wait %s and stay for %v", p.People[e.Who].Kind, patience(p.People[e.Who].Patience), p.People[e.Who].Browse)
	case Waits:
		return fmt.Sprintf("is told by gate %d to wait%s", e.Gate, e.Room.tells())
	case Enters:
		return fmt.Sprintf("is told by a stream of gate %d that they are in", e.Gate)
	case Seen:
		return fmt.Sprintf("is seen by the origin through gate %d, by what was sent at %s", e.Gate, moment(e.Sent))
	case Served:
		return "is in"
	case Lost:
		return "has no answer" + because(e.Text)
	case Shut:
		return fmt.Sprintf("is turned away by gate %d%s", e.Gate, because(e.Text))
	case Goodbye:
		return "says goodbye"
	case Left:
		return "leaves" + because(e.Text)
	case Started:
		return "starts"
	case Died:
		return "dies"
	case Stopped:
		return "stops"
	case Moved:
		return "moves their place to another device"
	case Copied:
		as := *e
		as.What = e.Outcome
		return "is copied: the copy " + as.tells(p)
	case Form:
		return e.ofForm()
	case Part:
		return fmt.Sprintf("has the site asked for a part of a page through gate %d", e.Gate)
	case Watched:
		return "has all of a long answer"
	case Placed:
		return fmt.Sprintf("gets a place from gate %d, by a request that no person looks at", e.Gate)
	case Measured:
		return fmt.Sprintf("counts: %+v", e.Size)
	case Said:
		return "logs: " + e.Text
	case Absent:
		return fmt.Sprintf("is told by gate %d that they will be called, and closes the page", e.Gate)
	case Called:
		return fmt.Sprintf("is called by gate %d: %s, until %s", e.Gate, e.Text, moment(e.Until))
	case Made:
		return fmt.Sprintf("makes pass %d", e.Pass)
	case Revoked:
		return fmt.Sprintf("revokes pass %d", e.Pass)
	case Used:
		return fmt.Sprintf("has used pass %d%s", e.Pass, because(e.Text))
	case Useless:
		return fmt.Sprintf("is told that pass %d does not work%s", e.Pass, because(e.Text))
	case Mailed:
		return "gets a mail: " + e.Text
	case Standing:
		return fmt.Sprintf("is on the waitlist: %s, rank %d, with %d referees", e.Text, e.Rank, e.Referees)
	case Accepts:
		return "accepts the invite"
	case Refused:
		return "is told that the invite does not work"
	case Leaves:
		return "leaves the waitlist" + because(e.Text)
	case GuestWait:
		return "is told to wait, as a guest" + because(e.Text)
	case GuestSeen:
		return fmt.Sprintf("is seen by the origin as a guest, by what was sent at %s", moment(e.Sent))
	default:
		return e.Text
	}
}

func because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

func patience(d time.Duration) string {
	if d == 0 {
		return "for ever"
	}
	return "for " + d.Round(time.Second).String()
}

func (r *Room) tells() string {
	if !r.InWaitingRoom {
		return ""
	}
	text := fmt.Sprintf(", asking again in %d s", r.Retry)
	if r.Number > 0 {
		text += fmt.Sprintf(", with number %d", r.Number)
	}
	if r.UsersAheadKnown {
		text += fmt.Sprintf(", %d ahead of %d", r.UsersAhead, r.UsersQueued)
	} else {
		text += ", a place that is not known"
	}
	if r.WaitTimeKnown {
		text += fmt.Sprintf(", about %d min", r.WaitTime)
	}
	if r.Rejoined {
		text += ", as somebody who has rejoined"
	}
	return text
}
