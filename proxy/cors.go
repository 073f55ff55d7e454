package proxy

import (
	"net/http"
	"slices"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
)

// shareAbout lets a script of another site read an answer that tells of visitors, if each
// of their rooms does.
func shareAbout(visitors []*feature.Visit, h http.Header, q *http.Request) {
	for i := range visitors {
		if !visitors[i].Setup.Share(h, q) {
			delete(h, "Access-Control-Allow-Origin")
			return
		}
	}
}

// listing returns the setups whose cors_origins have the site that a request comes from.
func (s *setup) listing(q *http.Request) []*feature.Setup {
	sender := q.Header.Get("Origin")
	return slices.DeleteFunc(slices.Clone(s.setups), func(rs *feature.Setup) bool { return sender == "" || !rs.Lists(sender) })
}

// allow answers the preflight of a request for one of the gate's own paths, if a room's
// cors_origins have the site that asks, and says whether they do.
func (s *setup) allow(w http.ResponseWriter, q *http.Request, method string) bool {
	if !feature.Preflight(q) {
		return false
	}
	h, shared := w.Header(), false
	for _, rs := range append(slices.Clone(s.setups), s.listing(q)...) { // those that allow cookies have the last word
		shared = rs.Share(h, q) || shared
	}
	if !shared {
		return false
	}
	h["Access-Control-Allow-Methods"], h["Access-Control-Max-Age"] = []string{method}, []string{"600"}
	if asked := q.Header["Access-Control-Request-Headers"]; asked != nil {
		h["Access-Control-Allow-Headers"] = asked
	}
	h["Cache-Control"] = feature.NoStore
	w.WriteHeader(http.StatusNoContent)
	return true
}
