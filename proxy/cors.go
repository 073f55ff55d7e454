package proxy

import (
	"net/http"
	"slices"
)

// Header values of answers that scripts of other sites may read; net/http does not change
// them.
var (
	exposed        = []string{"Fairdoor-Room, Retry-After"}
	variesBySender = []string{"Accept, Accept-Language, Accept-Encoding, Cookie, Origin"}
	anySite        = []string{"*"}
	affirmed       = []string{"true"}
)

// answers marks an answer as the room's own, given in the place of the origin's: apps tell
// the two apart by Fairdoor-Room. Scripts that cors_origins names may read it.
func (rs *roomSetup) answers(h http.Header, q *http.Request) {
	h["Fairdoor-Room"] = rs.named
	rs.share(h, q)
}

// share lets a script of another site read an answer of the gate's own if the room's
// cors_origins have that site, and says whether they do (Fetch, "CORS protocol"). Only a
// site that is listed by itself may send cookies along.
func (rs *roomSetup) share(h http.Header, q *http.Request) bool {
	if len(rs.cfg.CORSOrigins) == 0 {
		return false
	}
	h["Vary"] = variesBySender
	switch sender := q.Header["Origin"]; {
	case len(sender) != 1:
		return false
	case rs.lists(sender[0]):
		h["Access-Control-Allow-Origin"], h["Access-Control-Allow-Credentials"] = sender, affirmed
	case rs.lists("*"):
		h["Access-Control-Allow-Origin"] = anySite
		delete(h, "Access-Control-Allow-Credentials")
	default:
		return false
	}
	h["Access-Control-Expose-Headers"] = exposed
	return true
}

// lists says whether the room's cors_origins have a site.
func (rs *roomSetup) lists(site string) bool { return slices.Contains(rs.cfg.CORSOrigins, site) }

// shareAbout lets a script of another site read an answer that tells of visitors, if each
// of their rooms does.
func shareAbout(visitors []visitor, h http.Header, q *http.Request) {
	for i := range visitors {
		if !visitors[i].setup.share(h, q) {
			delete(h, "Access-Control-Allow-Origin")
			return
		}
	}
}

// listing returns the setups whose cors_origins have the site that a request comes from.
func (s *setup) listing(q *http.Request) []*roomSetup {
	sender := q.Header.Get("Origin")
	return slices.DeleteFunc(slices.Clone(s.setups), func(rs *roomSetup) bool { return sender == "" || !rs.lists(sender) })
}

// allow answers the preflight of a request for one of the gate's own paths, if a room's
// cors_origins have the site that asks, and says whether they do.
func (s *setup) allow(w http.ResponseWriter, q *http.Request, method string) bool {
	if !preflight(q) {
		return false
	}
	h, shared := w.Header(), false
	for _, rs := range append(slices.Clone(s.setups), s.listing(q)...) { // those that allow cookies have the last word
		shared = rs.share(h, q) || shared
	}
	if !shared {
		return false
	}
	h["Access-Control-Allow-Methods"], h["Access-Control-Max-Age"] = []string{method}, []string{"600"}
	if asked := q.Header["Access-Control-Request-Headers"]; asked != nil {
		h["Access-Control-Allow-Headers"] = asked
	}
	h["Cache-Control"] = noStore
	w.WriteHeader(http.StatusNoContent)
	return true
}
