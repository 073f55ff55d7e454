package feature

import (
	"net/http"

	"github.com/fairdoor-gate/fairdoor/proxy/caches"
)

// Check is the writer of the answer to the question whether a request may pass, which another
// server has. A request that may pass is not sent to the site; whatever else is written refuses it.
type Check interface {
	http.ResponseWriter
	// Pass answers that the request may pass, with the visitor's cookies. No shared cache may keep
	// the site's own answer if it is private.
	Pass(cookies []string, private bool)
	// Refuses refuses the request of a visitor before the queue is asked, if its answer would be of
	// no use, and says whether it has.
	Refuses(r *http.Request, v *Visit) bool
}

// AddCookies adds the visitor's cookies to an answer, and keeps the answer out of caches:
// Set-Cookie alone does not (RFC 9111, section 7.3). Without cookies it keeps a private answer out
// of shared caches, where they would serve it to people who wait.
func AddCookies(h http.Header, cookies []string, private bool) {
	switch {
	case cookies != nil:
		h["Set-Cookie"] = append(h["Set-Cookie"], cookies...)
		caches.KeepFromAll(h)
	case private:
		caches.KeepFromShared(h)
	}
}
