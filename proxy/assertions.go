package proxy

import (
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"

	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
)

// appendAdmission appends the admission token of a visitor who is in. Answers to requests for parts of pages have none, so that
// browsers and caches can keep them. Who is thrown out loses the token, too.
func (v *visitor) appendAdmission(to []string, r *http.Request, d *queueroom.Decision) []string {
	attributes, name := &v.setup.cfg.CookieAttributes, v.setup.admission
	if d.Drop && v.room.settings().EdgeAdmission > 0 {
		return append(to, attributes.SetCookie(name, "", 0, v.https))
	}
	if d.Outcome != queueroom.Admitted || subresource(r) {
		return to
	}
	lasts := v.room.queue.EdgeAdmission(v.now, d.Ticket)
	if lasts < time.Second {
		return to
	}
	token, err := v.setup.signer.Admission(v.setup.cfg.Name, d.Ticket.ID, lasts)
	if err != nil { // which a key that was derived does not do: the visitor goes on by the gate
		v.setup.log.Error("admission token not signed", zap.Error(err))
		return to
	}
	return append(to, attributes.SetCookie(name, token, lasts, v.https))
}

// Header values of the answers with public keys.
var (
	jwksType   = []string{"application/jwk-set+json"}
	pemType    = []string{"application/x-pem-file"}
	forMinutes = []string{"public, max-age=300"}
)

// jwks answers with the public keys of what the gate signs, for programs.
func (g *Gate) jwks(w http.ResponseWriter, _ *http.Request, s *setup) {
	writeKeys(w, jwksType, s.signer.JWKS())
}

// pemKeys answers with the same keys, for programs that read files.
func (g *Gate) pemKeys(w http.ResponseWriter, _ *http.Request, s *setup) {
	writeKeys(w, pemType, s.signer.PEM())
}

func writeKeys(w http.ResponseWriter, contentType []string, keys []byte) {
	h := w.Header()
	h["Content-Type"], h["Cache-Control"], h["X-Content-Type-Options"] = contentType, forMinutes, noSniff
	h["Access-Control-Allow-Origin"] = anySite
	h["Content-Length"] = []string{strconv.Itoa(len(keys))}
	_, _ = w.Write(keys)
}
