package feature

import (
	"net/http"
	"slices"
)

// Header values of answers that scripts of other sites may read; net/http does not change
// them.
var (
	exposed        = []string{"Fairdoor-Room, Retry-After"}
	variesBySender = []string{"Accept, Accept-Language, Accept-Encoding, Cookie, Origin"}
	AnySite        = []string{"*"}
	affirmed       = []string{"true"}
)

// Answers marks an answer as the room's own, given in the place of the origin's: apps tell
// the two apart by Fairdoor-Room. Scripts that cors_origins names may read it.
func (s *Setup) Answers(h http.Header, r *http.Request) {
	h["Fairdoor-Room"] = s.named
	s.Share(h, r)
}

// Share lets a script of another site read an answer of the gate's own if the room's
// cors_origins have that site, and says whether they do (Fetch, "CORS protocol"). Only a
// site that is listed by itself may send cookies along.
func (s *Setup) Share(h http.Header, r *http.Request) bool {
	if len(s.Config.CORSOrigins) == 0 {
		return false
	}
	h["Vary"] = variesBySender
	switch sender := r.Header["Origin"]; {
	case len(sender) != 1:
		return false
	case s.Lists(sender[0]):
		h["Access-Control-Allow-Origin"], h["Access-Control-Allow-Credentials"] = sender, affirmed
	case s.Lists("*"):
		h["Access-Control-Allow-Origin"] = AnySite
		delete(h, "Access-Control-Allow-Credentials")
	default:
		return false
	}
	h["Access-Control-Expose-Headers"] = exposed
	return true
}

// Lists says whether the room's cors_origins have a site.
func (s *Setup) Lists(site string) bool { return slices.Contains(s.Config.CORSOrigins, site) }
