package proxy

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// visitorsOfPage returns who sent a request from a page: the visitor of the room that
// guards the page, which the Referer header names, or nobody if the room's family does
// not have it now. A request that names no such page is from a visitor of each room
// whose ticket came along. It fails if the cookies cannot be read.
func (s *setup) visitorsOfPage(r *http.Request, now time.Time) ([]*feature.Visit, error) {
	page, err := url.Parse(r.Referer())
	if err == nil && page.Host == r.Host {
		if of, found := s.roomAt(page.Host, page.RequestURI()); found {
			return visitorOf(r, of, now)
		}
	}
	return s.ticketHolders(r, now)
}

// visitorOf returns who sent a request about a room; nobody if there is none. It fails
// if the cookies cannot be read.
func visitorOf(r *http.Request, of *keptRoom, now time.Time) ([]*feature.Visit, error) {
	if of == nil {
		return nil, nil
	}
	v := new(feature.Visit)
	if err := v.Read(r, &of.Room, of.Setup(), now); err != nil {
		return nil, err
	}
	return []*feature.Visit{v}, nil
}

// ticketHolders returns who sent a request, as a visitor of each room whose ticket came
// along. It fails if the cookies cannot be read.
func (s *setup) ticketHolders(r *http.Request, now time.Time) ([]*feature.Visit, error) {
	cookies, err := cookie.ReadAll(r.Header)
	if err != nil {
		return nil, fmt.Errorf("looking for tickets: %w", err)
	}
	var all []*feature.Visit
	for _, name := range cookies.Names() {
		for room := range s.withCookie(name) {
			rs := room.Setup()
			sealed := rs.Jar.ReadFrom(cookies)
			if !feature.Carries(sealed) {
				continue
			}
			v := new(feature.Visit)
			if v.Recognise(r, &room.Room, rs, now, sealed); v.Ticket.State != queue.None || v.Endless != nil {
				all = append(all, v)
			}
		}
	}
	return all, nil
}

// visitorsAsked returns the visitor of the room that a question about a session is
// about: the query names it with room, or a path that it guards on this host. A question
// that names neither is about the only room, or about each whose ticket came along. The
// status refuses the question if it is not 200.
func (s *setup) visitorsAsked(r *http.Request, now time.Time) (visitors []*feature.Visit, status int) {
	var err error
	switch name, path := r.URL.Query().Get("room"), r.URL.Query().Get("path"); {
	case name != "" && path != "":
		return nil, http.StatusBadRequest
	case name != "":
		of := s.roomNamed(name)
		if of == nil {
			return nil, http.StatusNotFound
		}
		visitors, err = visitorOf(r, of, now)
	case path != "":
		of, found := s.roomAt(r.Host, path)
		if !found {
			return nil, http.StatusNotFound
		}
		visitors, err = visitorOf(r, of, now)
	case len(s.guards) == 1 && s.guards[0].known("") != nil:
		visitors, err = visitorOf(r, s.guards[0].known(""), now)
	default:
		visitors, err = s.ticketHolders(r, now)
	}
	if err != nil {
		return nil, http.StatusRequestHeaderFieldsTooLarge
	}
	return visitors, http.StatusOK
}

// listening returns who asks for events: of the room that the request or the page
// that it comes from names, or else of the only one in which they wait, or are
// in. The status is not 200 if there is none such.
func (s *setup) listening(r *http.Request, now time.Time) (*feature.Visit, int) {
	var visitors []*feature.Visit
	if name := r.URL.Query().Get("room"); name == "" {
		visitors, _ = s.visitorsOfPage(r, now) // cookies that cannot be read hold no ticket that counts
	} else {
		of := s.roomNamed(name)
		if of == nil {
			return nil, http.StatusNotFound
		}
		visitors = listeningTo(r, of, now)
	}
	switch present := mostWaiting(visitors); len(present) {
	case 0:
		return nil, http.StatusNoContent
	case 1:
		if present[0].Ticket.State == queue.Accepted && present[0].Room.Queue.HoldsActive() {
			return nil, http.StatusNoContent // they are in, and told to wait
		}
		return present[0], http.StatusOK
	default:
		return nil, http.StatusBadRequest
	}
}

// listeningTo returns who asks for the events of a room. A visitor without a ticket may
// wait, or be in, with another device.
func listeningTo(r *http.Request, of *keptRoom, now time.Time) []*feature.Visit {
	visitors, _ := visitorOf(r, of, now) // cookies that cannot be read hold no ticket that counts
	for i := range visitors {
		if v := visitors[i]; v.Ticket.State == queue.None && v.Subject != (queue.ID{}) {
			v.Ticket, _ = v.Room.Queue.Peek(r.Context(), v.Now, v.Request(false, false))
		}
	}
	return visitors
}
