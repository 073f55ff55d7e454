package proxy

import (
	"net/http"
	"strconv"
	"sync"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/pages"
	"github.com/fairdoor-gate/fairdoor/proxy/rpc"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// gzipped is the header value of a compressed answer; net/http does not change it.
var gzipped = []string{"gzip"}

// answers are the gate's own: pages and JSON for those who are not let in, and for what went wrong.
type answers struct {
	problems  *templates.Problems
	languages *templates.Languages // of error pages that belong to no room
	rooms     services
}

// answer turns the queue's decision into an answer.
func (g *Gate) answer(w http.ResponseWriter, r *http.Request, v *feature.Visit, d *room.Decision) {
	v.Count(d)
	if d.Outcome != room.Admitted {
		v.Setup.Origin.Wanted(r.Host)
	}
	for _, f := range v.Setup.Substitutes {
		if d.Outcome != room.Admitted && f.Instead(w, r, v, d) {
			return
		}
	}
	switch d.Outcome {
	case room.Admitted:
		g.forward(w, r, v, d)
	case room.Queued, room.Kept:
		g.queued(w, r, v, d)
	case room.OnHold:
		g.onHold(w, r, v, d)
	case room.Rejected:
		g.rejected(w, r, v, d)
	case room.Busy:
		g.busy(w, r, v)
	default:
		v.Setup.Log.Error("no answer to a decision", v.Setup.About(r, d.Ticket.ID), zap.Uint8("outcome", uint8(d.Outcome)))
		g.problem(w, r, http.StatusServiceUnavailable, v.Setup.Languages())
	}
}

// queued answers a visitor who waits, or whose page does while a slot is kept for them.
func (a *answers) queued(w http.ResponseWriter, r *http.Request, v *feature.Visit, d *room.Decision) {
	h, own := w.Header(), make([]string, 3) // one allocation for three headers
	v.Setup.Answers(h, r)
	if cookies := v.AppendCookies(own[:0:1], r, d); len(cookies) > 0 {
		h["Set-Cookie"] = cookies
	}
	key, status := pages.Key{Language: v.Setup.Language(r), Unsent: feature.Unsafe(r)}, v.Setup.Config.StatusCode
	page, values := v.Setup.Pages.Waiting(v.Room.Queue, v.Now, d, key)
	own[1] = strconv.Itoa(values.LeftSeconds)
	h["Retry-After"] = own[1:2:2]
	switch {
	case key.Unsent:
		status, values.Address = http.StatusTooManyRequests, v.LineAddress(r, a.rooms)
	case key.Language == "" || v.Setup.Pages.Shown(&v.Room.Queue.Numbers().Settings.Event).Reloads():
		own[2] = feature.RefreshTo(values.LeftSeconds, r)
		h["Refresh"] = own[2:]
	default:
		values.Address = feature.AddressOf(r)
	}
	write(w, r, status, page, &values)
}

// onHold answers a visitor who is in, while those who are in are held. Only a page is shown.
func (a *answers) onHold(w http.ResponseWriter, r *http.Request, v *feature.Visit, d *room.Decision) {
	if feature.Subresource(r) || feature.Speculative(r) {
		a.withhold(w, r, v.Room, v.Setup)
		return
	}
	a.queued(w, r, v, d)
}

// endless answers somebody in the endless line as those are answered who wait.
func (a *answers) endless(w http.ResponseWriter, r *http.Request, v *feature.Visit) {
	var d room.Decision // none about a request that gets no page
	switch {
	case feature.Subresource(r) || feature.Speculative(r):
		v.Count(&d)
		a.withhold(w, r, v.Room, v.Setup)
	case feature.Probes(r) || feature.Unsafe(r) && !feature.SentByAPage(r) || v.Crawls(r):
		v.Count(&d)
		a.busy(w, r, v)
	default:
		d = v.EndlessPlace()
		v.Count(&d)
		a.queued(w, r, v, &d)
	}
}

// rejected answers a visitor whom the room does not take. A crawler would take a page for that of
// the site.
func (a *answers) rejected(w http.ResponseWriter, r *http.Request, v *feature.Visit, d *room.Decision) {
	v.Setup.Answers(w.Header(), r)
	v.SetCookies(w.Header(), r, d)
	if rpc.Calls(r) {
		told := "nobody is let in"
		if d.SoldOut {
			told = "sold out"
		}
		rpc.Refuse(w, http.StatusForbidden, told)
		return
	}
	key, status := pages.Key{Language: v.Setup.Language(r), Unsent: feature.Unsafe(r), SoldOut: d.SoldOut}, v.Setup.Config.StatusCode
	if key.Unsent {
		status = http.StatusServiceUnavailable
	}
	if key.Unsent && !feature.SentByAPage(r) || v.Crawls(r) {
		feature.WriteProblem(w, r, http.StatusServiceUnavailable, a.problems.JSON(http.StatusServiceUnavailable), feature.ProblemType)
		return
	}
	write(w, r, status, v.Setup.Pages.Refusal(v.Room.Queue.Numbers(), key), &templates.Visitor{LastUpdated: v.Now.UTC(), Address: feature.AddressOf(r)})
}

// forgetUnanswered takes back the place of a newcomer who has gone before the answer went out, as
// when a stream of HTTP/2 is reset at once.
func forgetUnanswered(w http.ResponseWriter, r *http.Request, v *feature.Visit, d *room.Decision) {
	if d.Ticket.State != queue.Waiting || !v.IsNew(d) {
		return
	}
	gone := r.Context().Err() != nil
	if !gone && r.ProtoMajor == 2 {
		gone = http.NewResponseController(w).Flush() != nil // it tells whether the stream was there until the answer was written
	}
	if gone {
		v.Forget(d)
	}
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// write sends a page or JSON with a visitor's own values in it. Of calls only those of visitors who
// have a place come here.
func write(w http.ResponseWriter, q *http.Request, status int, page *pages.Page, v *templates.Visitor) {
	h := w.Header()
	if rpc.Calls(q) {
		rpc.Refuse(w, status, "waiting to be let in")
		return
	}
	h["Cache-Control"], h["X-Content-Type-Options"], h["Content-Type"] = feature.NoStore, feature.NoSniff, page.Kind
	feature.Vary(h)
	if page.Language != nil {
		h["Content-Language"] = page.Language
	}
	if page.Policy != nil {
		h["Content-Security-Policy"] = page.Policy
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	if page.Packs(*v) && templates.AcceptsGzip(feature.HeaderValue(q.Header["Accept-Encoding"])) {
		h["Content-Encoding"] = gzipped
		*buf = page.AppendGzip((*buf)[:0], *v)
	} else {
		*buf = page.AppendTo((*buf)[:0], *v)
	}
	h["Content-Length"] = []string{strconv.Itoa(len(*buf))}
	feature.LeaveBody(h, q)
	w.WriteHeader(status)
	if q.Method != http.MethodHead {
		// A visitor who does not read the answer has gone.
		_, _ = w.Write(*buf)
	}
}

// busy answers a request that cannot be held back, of a visitor who would have to wait.
// Its body is not read, and the visitor's place stays as it is.
func (a *answers) busy(w http.ResponseWriter, r *http.Request, v *feature.Visit) {
	v.Setup.Answers(w.Header(), r)
	switch {
	case v.Ticket.State == queue.Waiting:
		feature.RetryAfter(w.Header(), v.Room.Queue.DueIn(v.Now, v.Ticket))
	case rpc.Calls(r): // without a place it would be told to try again for ever
		rpc.Refuse(w, http.StatusTooManyRequests, "not passed on, and without a place in line: GET takes one")
		return
	default:
		feature.RetryLater(w.Header(), v.Room.Settings())
	}
	switch {
	case feature.Subresource(r), v.Crawls(r):
		a.problem(w, r, http.StatusServiceUnavailable, v.Setup.Languages())
	case r.Method == http.MethodHead:
		a.headBack(w, r, v)
	default:
		a.answerUnsent(w, r, v)
	}
}

// headBack answers HEAD of somebody who would have to wait, as GET is answered, without a place and
// its cookie.
func (a *answers) headBack(w http.ResponseWriter, r *http.Request, v *feature.Visit) {
	h := w.Header()
	h["Cache-Control"], h["X-Content-Type-Options"], h["Content-Type"] = feature.NoStore, feature.NoSniff, feature.JSONType
	feature.Vary(h)
	if language := v.Setup.Language(r); language != "" {
		h["Content-Type"] = feature.HTMLType
		if templates.AcceptsGzip(feature.HeaderValue(r.Header["Accept-Encoding"])) {
			h["Content-Encoding"] = gzipped
		}
	}
	feature.LeaveBody(h, r)
	w.WriteHeader(v.Setup.Config.StatusCode)
}

// answerUnsent tells the sender of a request that was not passed on how things stand.
func (a *answers) answerUnsent(w http.ResponseWriter, r *http.Request, v *feature.Visit) {
	d := &room.Decision{Ticket: v.Ticket}
	if d.Ticket.State != queue.Waiting {
		now := queue.At(v.Now)
		d.Ticket = queue.Ticket{ArrivedAt: now, LastCheckIn: now, RefreshInterval: v.Room.Settings().RefreshInterval}
	}
	page, values := v.Setup.Pages.Waiting(v.Room.Queue, v.Now, d, pages.Key{Unsent: true})
	write(w, r, http.StatusTooManyRequests, page, &values)
}

// problem answers with an error page in the visitor's language, or with problem+json
// (RFC 9457) if the request asks for JSON.
func (a *answers) problem(w http.ResponseWriter, r *http.Request, status int, languages *templates.Languages) {
	a.problemOf(w, r, templates.Plain, status, languages)
}

// problemOf is problem for one of a kind.
func (a *answers) problemOf(w http.ResponseWriter, r *http.Request, kind templates.Kind, status int, languages *templates.Languages) {
	a.problemFor(w, r, kind, status, languages, templates.SupportCode{})
}

// problemFor is problemOf for a visitor with a support code, where the kind has one.
func (a *answers) problemFor(w http.ResponseWriter, r *http.Request, kind templates.Kind, status int, languages *templates.Languages, code templates.SupportCode) {
	if feature.WantsJSON(r) || feature.Subresource(r) {
		feature.WriteProblem(w, r, status, templates.WithCode(a.problems.JSONOf(kind, status), code), feature.ProblemType)
		return
	}
	h, language := w.Header(), languages.Match(feature.HeaderValue(r.Header["Accept-Language"]))
	h["Content-Security-Policy"] = []string{a.problems.ContentSecurityPolicy()}
	h["Content-Language"] = []string{language}
	feature.WriteProblem(w, r, status, templates.WithCode(a.problems.PageOf(kind, status, language), code), feature.HTMLType)
}
