// Package requestid gives each request a name, by which a line of the log, the site's own log and
// the answer are put together. A proxy that is trusted may have named the request; else the gate
// does.
package requestid

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"

	"go.uber.org/zap"
)

// Header has the id: of the request, as the site gets it, and of the answer.
const Header = "X-Request-Id"

// longest is how many bytes the id of a proxy may have.
const longest = 128

// Give gives the id to a request and to the header of its answer. A stranger may not choose the id:
// it stands in logs.
func Give(w http.ResponseWriter, r *http.Request, trusts func(*http.Request) bool) {
	lines := r.Header[Header]
	if len(lines) != 1 || !sound(lines[0]) || !trusts(r) {
		lines = []string{random()}
		r.Header[Header] = lines
	}
	w.Header()[Header] = lines
}

// sound says whether an id can stand in any log as it is.
func sound(id string) bool {
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return id != "" && len(id) <= longest
}

// random is an id that no other request has: 16 bytes in hex.
func random() string {
	var id [16]byte
	var text [2 * len(id)]byte
	binary.BigEndian.PutUint64(id[:], rand.Uint64())
	binary.BigEndian.PutUint64(id[8:], rand.Uint64())
	hex.Encode(text[:], id[:])
	return string(text[:])
}

// Of is the id of a request; "" for one that has none.
func Of(r *http.Request) string {
	if lines := r.Header[Header]; len(lines) > 0 {
		return lines[0]
	}
	return ""
}

// Field is the id of a request for a line of the log about it.
func Field(r *http.Request) zap.Field {
	if id := Of(r); id != "" {
		return zap.String("requestId", id)
	}
	return zap.Skip()
}

// Take leaves the header of an answer to the site, whose answer gets the id as the gate passes it
// on: two servers that name the request would name it twice.
func Take(h http.Header) { delete(h, Header) }

// Return gives the id of a request to the header of an answer again.
func Return(h http.Header, r *http.Request) {
	if lines := r.Header[Header]; lines != nil {
		h[Header] = lines
	}
}
