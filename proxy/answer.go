package proxy

import (
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/queue"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// Header values that every answer of a kind shares; net/http does not change
// them.
var (
	noStore     = []string{"no-store"}
	privateOnly = []string{"private"}
	varies      = []string{"Accept, Accept-Language, Accept-Encoding, Cookie"}
	htmlType    = []string{"text/html; charset=utf-8"}
	jsonType    = []string{"application/json"}
	problemType = []string{"application/problem+json"}
	noSniff     = []string{"nosniff"}
	closing     = []string{"close"}
	gzipped     = []string{"gzip"}
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
	case queueroom.Queued, queueroom.Kept:
		g.queued(w, r, v, d)
	case queueroom.OnHold:
		g.onHold(w, r, v, d)
	case queueroom.Rejected:
		g.rejected(w, r, v, d)
	case queueroom.Busy:
		g.turnAway(w, r, v)
	case queueroom.Moved:
		g.moved(w, r, v)
	default:
		v.setup.log.Error("no answer to a decision", zap.Uint8("outcome", uint8(d.Outcome)))
		g.problem(w, r, http.StatusServiceUnavailable, v.setup.set.Languages)
	}
}

// queued answers a visitor who waits, or whose page does while a slot is kept for them.
func (g *Gate) queued(w http.ResponseWriter, r *http.Request, v visitor, d queueroom.Decision) {
	h, own := w.Header(), make([]string, 3) // one allocation for three headers
	v.setup.answers(h, r)
	if cookies := v.appendCookies(own[:0:1], r, &d); len(cookies) > 0 {
		h["Set-Cookie"] = cookies
	}
	key, status := pageKey{language: v.setup.language(r), unsent: unsafe(r)}, v.setup.cfg.StatusCode
	page, values := v.setup.waiting(v.room.queue, v.now, &d, key)
	own[1] = strconv.Itoa(values.LeftSeconds)
	h["Retry-After"] = own[1:2:2]
	switch {
	case key.unsent:
		status, values.Address = http.StatusTooManyRequests, g.lineAddress(r, &v)
	case key.language == "" || v.setup.shown(&v.room.queue.Numbers().Settings.Event).Reloads():
		own[2] = refreshTo(values.LeftSeconds, r)
		h["Refresh"] = own[2:]
	default:
		values.Address = addressOf(r)
	}
	write(w, r, status, page, &values)
}

// onHold answers a visitor who is in, while those who are in are held. Only a page is shown.
func (g *Gate) onHold(w http.ResponseWriter, r *http.Request, v visitor, d queueroom.Decision) {
	if subresource(r) || speculative(r) {
		g.withhold(w, r, v.room, v.setup)
		return
	}
	g.queued(w, r, v, d)
}

// lineAddress returns where somebody waits who has sent a form: at the page of the room that
// the form was on, if the browser names it; else at the form's own address if that may be
// for GET too, or at the room's.
func (g *Gate) lineAddress(r *http.Request, v *visitor) string {
	if from, err := url.Parse(r.Referer()); err == nil && from.Host == r.Host {
		if of, _ := g.current.Load().roomAt(from.Host, from.RequestURI()); of == v.room {
			return addressOf(&http.Request{URL: from, RequestURI: from.RequestURI()})
		}
	}
	if r.Method == http.MethodPost {
		return addressOf(r)
	}
	return v.setup.pathOn(r.Host)
}

// rejected answers a visitor whom the room does not take. A crawler would take a page for that of
// the site.
func (g *Gate) rejected(w http.ResponseWriter, r *http.Request, v visitor, d queueroom.Decision) {
	v.setup.answers(w.Header(), r)
	v.setCookies(w.Header(), r, &d)
	key, status := pageKey{language: v.setup.language(r), unsent: unsafe(r), soldOut: d.SoldOut}, v.setup.cfg.StatusCode
	if key.unsent {
		status = http.StatusServiceUnavailable
	}
	if key.unsent && !sentByAPage(r) || v.crawls(r) {
		g.writeProblem(w, r, http.StatusServiceUnavailable, g.problems.JSON(http.StatusServiceUnavailable), problemType)
		return
	}
	write(w, r, status, v.setup.refusal(v.room.queue.Numbers(), key), &templates.Visitor{LastUpdated: v.now.UTC(), Address: addressOf(r)})
}

// sentByAPage says whether a form in a browser has sent the request: its sender can be shown a
// page. What a script sends names no page.
func sentByAPage(r *http.Request) bool {
	return r.Method != http.MethodOptions && templates.WantsPage(headerValue(r.Header["Accept"]))
}

// language returns the language of the page that answers a request, or "" if JSON
// answers it. The gate's own scripts get JSON whatever json_response_enabled says.
func (rs *roomSetup) language(q *http.Request) string {
	if (rs.cfg.JSON || q.Header["Fairdoor-Visibility"] != nil) && wantsJSON(q) {
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
func write(w http.ResponseWriter, q *http.Request, status int, page *page, v *templates.Visitor) {
	h := w.Header()
	h["Cache-Control"], h["X-Content-Type-Options"], h["Content-Type"] = noStore, noSniff, page.kind
	vary(h)
	if page.language != nil {
		h["Content-Language"] = page.language
	}
	if page.policy != nil {
		h["Content-Security-Policy"] = page.policy
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	if page.Packs(*v) && templates.AcceptsGzip(headerValue(q.Header["Accept-Encoding"])) {
		h["Content-Encoding"] = gzipped
		*buf = page.AppendGzip((*buf)[:0], *v)
	} else {
		*buf = page.AppendTo((*buf)[:0], *v)
	}
	h["Content-Length"] = []string{strconv.Itoa(len(*buf))}
	leaveBody(h, q)
	w.WriteHeader(status)
	if q.Method != http.MethodHead {
		// A visitor who does not read the answer has gone.
		_, _ = w.Write(*buf)
	}
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
	switch {
	case subresource(r), v.crawls(r):
		g.problem(w, r, http.StatusServiceUnavailable, v.setup.set.Languages)
	case r.Method == http.MethodHead:
		g.headBack(w, r, v)
	default:
		g.answerUnsent(w, r, v)
	}
}

// answerUnsent tells the sender of a request that was not passed on how things stand.
func (g *Gate) answerUnsent(w http.ResponseWriter, r *http.Request, v visitor) {
	d := queueroom.Decision{Ticket: v.ticket}
	if d.Ticket.State != queue.Waiting {
		now := queue.At(v.now)
		d.Ticket = queue.Ticket{ArrivedAt: now, LastCheckIn: now, RefreshInterval: v.room.settings().RefreshInterval}
	}
	page, values := v.setup.waiting(v.room.queue, v.now, &d, pageKey{unsent: true})
	write(w, r, http.StatusTooManyRequests, page, &values)
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
