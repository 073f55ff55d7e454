package feature

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/pages"
	"github.com/fairdoor-gate/fairdoor/proxy/rpc"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// Header values that every answer of a kind shares; net/http does not change
// them.
var (
	NoStore     = []string{"no-store"}
	HTMLType    = pages.HTMLType
	JSONType    = pages.JSONType
	ProblemType = pages.ProblemType
	NoSniff     = []string{"nosniff"}

	varies  = []string{"Accept, Accept-Language, Accept-Encoding, Cookie"}
	closing = []string{"close"}
)

// Vary says what an answer depends on, if it is not said yet.
func Vary(h http.Header) {
	if h["Vary"] == nil {
		h["Vary"] = varies
	}
}

// RetryLater sets Retry-After to the refresh interval of a room with the settings.
func RetryLater(h http.Header, s queue.Settings) { RetryAfter(h, s.RefreshInterval) }

// RetryAfter sets Retry-After.
func RetryAfter(h http.Header, wait time.Duration) {
	h["Retry-After"] = []string{strconv.Itoa(pages.Seconds(wait))}
}

// WriteProblem sends a short answer that no cache keeps.
func WriteProblem(w http.ResponseWriter, r *http.Request, status int, body []byte, contentType []string) {
	if rpc.Calls(r) {
		rpc.Refuse(w, status, http.StatusText(status))
		return
	}
	h := w.Header()
	h["Content-Type"], h["X-Content-Type-Options"] = contentType, NoSniff
	Vary(h)
	if h["Cache-Control"] == nil {
		h["Cache-Control"] = NoStore
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	LeaveBody(h, r)
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}

// LeaveBody closes the connection of HTTP/1 after the answer to a request whose body was
// not read. Otherwise net/http reads up to 256 KiB of the body before it answers, however
// slowly they come.
func LeaveBody(h http.Header, r *http.Request) {
	if r.ContentLength != 0 && r.ProtoMajor == 1 {
		h["Connection"] = closing
	}
}

// Header values of scripts that the gate serves.
var (
	scriptType = []string{"text/javascript; charset=utf-8"}
	forAnHour  = []string{"public, max-age=3600"}
)

// WriteScript sends a script of the gate's own, which browsers keep for an hour.
func WriteScript(w http.ResponseWriter, script string) {
	h := w.Header()
	h["Content-Type"], h["Cache-Control"], h["X-Content-Type-Options"] = scriptType, forAnHour, NoSniff
	h["Content-Length"] = []string{strconv.Itoa(len(script))}
	_, _ = io.WriteString(w, script)
}
