package world

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Headers by which the site knows who has sent a request, and when. They are no part of what the
// gate knows.
const (
	personHeader = "X-Person"
	sentHeader   = "X-Sent"
	copyHeader   = "X-Copy" // the copy of a ticket that is shown
)

// siteHeader is in every answer of the site.
const siteHeader = "X-Site"

// siteTimeout is how long a gate waits for a site that it cannot reach.
const siteTimeout = 5 * time.Second

// site is the origin. It notes whom it has seen.
type site struct {
	history *History
	way     *link // to the site
	work    *link
}

// behind is the site as one gate reaches it.
func (s *site) behind(p *process) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.run()
		s.way.pass()
		if p.dead.Load() {
			return
		}
		if p.on.siteless.Load() {
			wait(siteTimeout)
			w.WriteHeader(http.StatusGatewayTimeout)
			return
		}
		person, _ := strconv.Atoi(r.Header.Get(personHeader))
		sent, _ := strconv.ParseInt(r.Header.Get(sentHeader), 10, 64)
		if guest, isGuest := strings.CutPrefix(r.Header.Get(copyHeader), guestPrefix); isGuest {
			number, _ := strconv.Atoi(guest)
			s.history.add(Event{What: GuestSeen, Who: nobody, Guest: number, Gate: p.on.number, Sent: time.Duration(sent)})
			w.Header()[siteHeader] = inSite
			return
		}
		if r.Header.Get(partHeader) != "" {
			s.history.add(Event{What: Part, Who: person, Gate: p.on.number, Sent: time.Duration(sent)})
			return
		}
		e := Event{What: Seen, Who: person, Gate: p.on.number, Sent: time.Duration(sent)}
		if ticket := r.Header.Get(copyHeader); ticket != "" {
			e.What, e.Outcome, e.Brought = Copied, Seen, s.history.ticketOf(ticket)
		}
		if seen := p.seen.Load(); seen != nil && s.history.waits(person) && p.seen.CompareAndSwap(seen, nil) {
			close(*seen)
		}
		s.history.add(e)
		s.work.pass()
		s.takeForm(r, person)
		s.play(r, p, e)
		p.run()
		w.Header()[siteHeader] = inSite
		_, _ = io.WriteString(w, "in")
	})
}

var inSite = []string{"in"}
