package proxy

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
	queueroom "github.com/anteroom-gate/anteroom/queue/room"
	"github.com/anteroom-gate/anteroom/templates"
)

// Header values that every answer of a kind shares; net/http does not change
// them.
var (
	noStore     = []string{"no-store"}
	varies      = []string{"Accept, Accept-Language, Cookie"}
	htmlType    = []string{"text/html; charset=utf-8"}
	jsonType    = []string{"application/json"}
	problemType = []string{"application/problem+json"}
	noSniff     = []string{"nosniff"}
	closing     = []string{"close"}
)

// answer turns the queue's decision into an answer.
func (g *Gate) answer(w http.ResponseWriter, r *http.Request, v visitor, d queueroom.Decision) {
	v.room.CountDecision(d)
	if d.Outcome != queueroom.Admitted {
		v.setup.origin.Wanted(r.Host)
	}
	switch d.Outcome {
	case queueroom.Admitted:
		g.forward(w, r, v, d)
	case queueroom.Queued:
		g.queued(w, r, v, d)
	case queueroom.Rejected:
		g.rejected(w, r, v, d)
	case queueroom.Busy:
		g.busy(w, r, v)
	}
}

// queued answers a visitor who waits.
func (g *Gate) queued(w http.ResponseWriter, r *http.Request, v visitor, d queueroom.Decision) {
	h, own := w.Header(), make([]string, 2) // one allocation for two headers
	v.setup.answers(h, r)
	if cookies := v.appendCookies(own[:0:1], r, &d); len(cookies) > 0 {
		h["Set-Cookie"] = cookies
	}
	language := v.setup.language(r)
	page, values := v.setup.waiting(v.room.queue, v.now, &d, language)
	own[1] = strconv.Itoa(values.LeftSeconds)
	h["Retry-After"] = own[1:2:2]
	if language == "" || v.setup.set.Custom() {
		h["Refresh"] = h["Retry-After"]
	}
	v.setup.write(w, r, page, &values)
}

// rejected answers a visitor whom the room does not take. A page would look like the
// answer to a form that was sent.
func (g *Gate) rejected(w http.ResponseWriter, r *http.Request, v visitor, d queueroom.Decision) {
	v.setup.answers(w.Header(), r)
	v.setCookies(w.Header(), r, &d)
	if unsafe(r) {
		g.writeProblem(w, r, http.StatusServiceUnavailable, g.problems.JSON(http.StatusServiceUnavailable), problemType)
		return
	}
	page := v.setup.refusal(v.room.queue.Numbers(), v.setup.language(r))
	v.setup.write(w, r, page, &templates.Visitor{LastUpdated: v.now.UTC()})
}

// language returns the language of the page that answers a request, or "" if JSON
// answers it. The gate's own scripts get JSON whatever json_response_enabled says.
func (rs *roomSetup) language(q *http.Request) string {
	if (rs.cfg.JSON || q.Header["Anteroom-Visibility"] != nil) && wantsJSON(q) {
		return ""
	}
	return rs.set.Match(headerValue(q.Header["Accept-Language"]))
}

// wantsJSON says whether a request asks for JSON rather than for a page. Browsers say which
// requests are a script's (W3C Fetch Metadata).
func wantsJSON(q *http.Request) bool {
	to := q.Header["Sec-Fetch-Dest"]
	return templates.WantsJSON(headerValue(q.Header["Accept"]), len(to) == 1 && to[0] == "empty")
}

// headerValue returns the value of a header that may have several lines.
func headerValue(lines []string) string {
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return lines[0]
	}
	all := lines[0]
	for _, line := range lines[1:] {
		all += "," + line
	}
	return all
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// write sends a page or JSON with a visitor's own values in it.
func (rs *roomSetup) write(w http.ResponseWriter, q *http.Request, page *page, v *templates.Visitor) {
	h := w.Header()
	h["Cache-Control"], h["X-Content-Type-Options"], h["Content-Type"] = noStore, noSniff, page.kind
	vary(h)
	if page.language != nil {
		h["Content-Language"] = page.language
	}
	if page.policy != nil {
		h["Content-Security-Policy"] = page.policy
	}
	h["Content-Length"] = []string{strconv.Itoa(page.Len(*v))}
	leaveBody(h, q)
	w.WriteHeader(rs.cfg.StatusCode)
	if q.Method == http.MethodHead {
		return
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	*buf = page.AppendTo((*buf)[:0], *v)
	// A visitor who does not read the answer has gone.
	_, _ = w.Write(*buf)
}

// vary says what an answer depends on, if it is not said yet.
func vary(h http.Header) {
	if h["Vary"] == nil {
		h["Vary"] = varies
	}
}

// busy answers a request that cannot be held back, of a visitor who would have to wait.
// Its body is not read, and the visitor's place stays as it is.
func (g *Gate) busy(w http.ResponseWriter, r *http.Request, v visitor) {
	v.setup.answers(w.Header(), r)
	if v.ticket.State == queue.Waiting {
		retryAfter(w.Header(), v.room.queue.DueIn(v.now, v.ticket))
	} else {
		retryLater(w.Header(), v.room.settings())
	}
	if subresource(r) {
		g.problem(w, r, http.StatusServiceUnavailable, v.setup.set.Languages)
		return
	}
	g.writeProblem(w, r, http.StatusTooManyRequests, g.problems.JSON(http.StatusTooManyRequests), problemType)
}

// retryLater sets Retry-After to the refresh interval of a room with the settings.
func retryLater(h http.Header, s queue.Settings) { retryAfter(h, s.RefreshInterval) }

// retryAfter sets Retry-After.
func retryAfter(h http.Header, wait time.Duration) {
	h["Retry-After"] = []string{strconv.Itoa(wholeSeconds(wait))}
}

// problem answers with an error page in the visitor's language, or with problem+json
// (RFC 9457) if the request asks for JSON.
func (g *Gate) problem(w http.ResponseWriter, r *http.Request, status int, languages *templates.Languages) {
	g.problemOf(w, r, templates.Plain, status, languages)
}

// problemOf is problem for one of a kind.
func (g *Gate) problemOf(w http.ResponseWriter, r *http.Request, kind templates.Kind, status int, languages *templates.Languages) {
	if wantsJSON(r) || subresource(r) {
		g.writeProblem(w, r, status, g.problems.JSONOf(kind, status), problemType)
		return
	}
	h, language := w.Header(), languages.Match(headerValue(r.Header["Accept-Language"]))
	h["Content-Security-Policy"] = []string{g.problems.ContentSecurityPolicy()}
	h["Content-Language"] = []string{language}
	g.writeProblem(w, r, status, g.problems.PageOf(kind, status, language), htmlType)
}

func (g *Gate) writeProblem(w http.ResponseWriter, r *http.Request, status int, body []byte, contentType []string) {
	h := w.Header()
	h["Content-Type"], h["X-Content-Type-Options"] = contentType, noSniff
	vary(h)
	if h["Cache-Control"] == nil {
		h["Cache-Control"] = noStore
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	leaveBody(h, r)
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}

// leaveBody closes the connection of HTTP/1 after the answer to a request whose body was
// not read. Otherwise net/http reads up to 256 KiB of the body before it answers, however
// slowly they come.
func leaveBody(h http.Header, r *http.Request) {
	if r.ContentLength != 0 && r.ProtoMajor == 1 {
		h["Connection"] = closing
	}
}
