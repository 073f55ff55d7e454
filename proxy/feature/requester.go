package feature

import (
	"net/http"
	"net/netip"
	"time"
)

// Requester is who sent a request about a room to one of the gate's own pages.
type Requester struct {
	User    string // the site's own name for them; "" if it does not name them
	Addr    netip.Addr
	HTTPS   bool
	JSON    bool   // they ask for JSON rather than for a page
	Message string // the operator's, of the room
	Enter   string // the path of the room on the host that was asked, or the page of it that they came for
	Deep    bool   // it is such a page

	Bound []byte                           // to whom their cookie is bound; nil for nobody
	Owns  func(bound []byte, key int) bool // whether a cookie that is bound, and was sealed with one of the keys, belongs to them
}

// RequesterOf returns who sent a request at now, which is about the room.
func (s *Setup) RequesterOf(r *http.Request, of *Room, now time.Time) Requester {
	claim, _ := s.Subjects.Read(r, s.Trust, now) // a token that does not count names nobody
	return Requester{
		User: claim.Subject, Addr: s.Trust.ClientAddr(r), HTTPS: s.HTTPS(r), JSON: s.Config.JSON && WantsJSON(r),
		Message: of.Settings().Message, Enter: s.PathOn(r.Host), Bound: s.Bound(r), Owns: s.Owns(r),
	}
}

// CameFor notes the page that they came for.
func (q *Requester) CameFor(page string) { q.Enter, q.Deep = page, q.Deep || page != q.Enter }

// DoorStatus is the status of a page for somebody who may not join.
func (s *Setup) DoorStatus(r *http.Request) int {
	if Unsafe(r) {
		return http.StatusForbidden
	}
	return s.Config.StatusCode
}
