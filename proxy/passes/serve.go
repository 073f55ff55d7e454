package passes

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/proxy/requestid"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates/passpage"
)

// maxForm is the most that is read of what is sent, in bytes.
const maxForm = 4 << 10

// request is a request about a pass, and what its answer needs.
type request struct {
	*http.Request
	feature.Requester
	*Room
	w http.ResponseWriter
}

// ServeHTTP answers a request for the path of the room's passes.
func (r *Room) ServeHTTP(w http.ResponseWriter, q *http.Request, v feature.Requester) {
	v.JSON = v.JSON || reply.SentJSON(q) // who sends JSON reads it
	a := &request{Request: q, Requester: v, Room: r, w: w}
	switch q.Method {
	case http.MethodGet, http.MethodHead:
		a.show()
	case http.MethodPost:
		a.use()
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		r.o.Problem(w, q, http.StatusMethodNotAllowed)
	}
}

// ServeDoor answers somebody without a pass at the door of a room that lets in nobody else. The
// status is that of answers to those who wait.
func (r *Room) ServeDoor(w http.ResponseWriter, q *http.Request, v feature.Requester, status int) {
	a := &request{Request: q, Requester: v, Room: r, w: w}
	if v.JSON {
		a.json(status, map[string]any{"status": "none", "path": r.path()})
		return
	}
	a.page(status, passpage.View{State: passpage.Code})
}

// show shows the button of a link, or the form for a code. It uses up nothing: programs that look
// at links do not press buttons.
func (a *request) show() {
	token := a.URL.Query().Get("t")
	if token == "" {
		a.page(http.StatusOK, passpage.View{State: passpage.Code})
		return
	}
	u, err := a.ofLink(token)
	switch {
	case a.refused(err):
	case a.JSON:
		a.json(http.StatusOK, map[string]any{"kind": u.Kind, "expiresAt": u.Expires})
	default:
		a.page(http.StatusOK, passpage.View{State: passpage.Link, Token: token})
	}
}

// ofLink is the use that there may be of the pass of a link: the sender's own, or one that nobody
// has yet. The error is waitlist.ErrExpired where there is none.
func (a *request) ofLink(token string) (waitlist.PassUse, error) {
	id, err := a.linked(token)
	if own, has := a.useIn(a.Header, a.Owns); err != nil || has && own.Pass == id {
		return own, err
	}
	p, err := a.o.Record.Usable(a.Context(), a.Config.Room, id, a.o.Clock())
	return waitlist.PassUse{Kind: p.Kind, Expires: p.ExpiresAt}, err
}

// linked is the id of the pass of a link.
func (a *request) linked(token string) (string, error) {
	id, _, ok := a.links.Decode(token)
	if !ok {
		return "", waitlist.ErrExpired
	}
	return hex.EncodeToString(id), nil
}

// form is what people send, as a form or as JSON.
type form struct {
	Token string `json:"token"`
	Code  string `json:"code"`
	Form  string `json:"form"` // drawn for the page
}

// form reads what was sent. What cannot be read has been answered.
func (a *request) form() (f form, ok bool) {
	a.Body = http.MaxBytesReader(a.w, a.Body, maxForm)
	var err error
	if reply.SentJSON(a.Request) {
		err = json.NewDecoder(a.Body).Decode(&f)
	} else if err = a.ParseForm(); err == nil {
		f = form{a.PostForm.Get("token"), a.PostForm.Get("code"), a.PostForm.Get("form")}
	}
	if err != nil {
		a.o.Problem(a.w, a.Request, http.StatusBadRequest)
		return f, false
	}
	if f.Token == "" {
		f.Token = a.URL.Query().Get("t")
	}
	if f.Form == "" {
		f.Form = rand.Text()
	}
	return f, true
}

// use uses the pass of a link or a code, and lets its holder on to the room.
func (a *request) use() {
	f, ok := a.form()
	if !ok {
		return
	}
	if f.Token == "" && !a.o.Enter(a.Addr, a.o.Clock(), feature.AttemptsPerMinute) {
		a.w.Header().Set("Retry-After", "60")
		a.o.Problem(a.w, a.Request, http.StatusTooManyRequests)
		return
	}
	u, err := a.useOf(f)
	switch {
	case errors.Is(err, waitlist.ErrExpired) && f.Token == "" && !a.JSON:
		a.page(http.StatusGone, passpage.View{State: passpage.Code, Wrong: true})
	case a.refused(err):
	case a.refused(a.keep(a.w.Header(), u, &a.Requester)):
	case a.JSON:
		a.json(http.StatusOK, map[string]any{"kind": u.Kind, "expiresAt": u.Expires, "enterPath": a.Enter})
	default:
		h := a.w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "strict-origin")
		h.Set("Location", a.Enter)
		a.w.WriteHeader(http.StatusSeeOther)
	}
}

// useOf counts a use of the pass that a form is for. Whoever has used it before with this browser
// does not use it again.
func (a *request) useOf(f form) (waitlist.PassUse, error) {
	id, err := a.passOf(f)
	if own, has := a.useIn(a.Header, a.Owns); err != nil || has && own.Pass == id {
		return own, err
	}
	return a.o.Record.Use(a.Context(), a.Config.Room, id, f.Form, a.o.Clock())
}

// passOf is the id of the pass that a form is for, which may be used up.
func (a *request) passOf(f form) (string, error) {
	if f.Token != "" {
		return a.linked(f.Token)
	}
	p, err := a.o.Record.ByCode(a.Context(), a.Config.Room, f.Code, a.o.Clock())
	return p.ID, err
}

// refused answers what was refused or has failed, and says whether it was. It does not tell why a
// pass does not work.
func (a *request) refused(err error) bool {
	switch {
	case err == nil:
		return false
	case errors.Is(err, waitlist.ErrExpired) && a.JSON:
		reply.Problem(a.w, http.StatusGone, "This pass does not work, or not any more.")
	case errors.Is(err, waitlist.ErrExpired):
		a.page(http.StatusGone, passpage.View{State: passpage.Gone})
	case a.Context().Err() != nil: // nobody reads the answer
	default:
		a.o.Log.Error("a request about a pass failed", requestid.Field(a.Request), zap.String("room", a.Config.Room), zap.Error(err))
		a.w.Header().Set("Retry-After", "5")
		a.page(http.StatusServiceUnavailable, passpage.View{State: passpage.Unavailable})
	}
	return true
}

// page answers with a page. What every page shows is added to the view.
func (a *request) page(status int, v passpage.View) {
	v.Path, v.Only, v.Message, v.Once = a.path(), a.Only, a.Message, rand.Text()
	language := a.pages.Match(strings.Join(a.Header["Accept-Language"], ","))
	h := a.w.Header()
	h.Set("Content-Security-Policy", a.pages.ContentSecurityPolicy())
	h.Set("Content-Language", language)
	a.send(status, "text/html; charset=utf-8", a.pages.AppendTo(nil, language, v))
}

// json answers with what is told of a pass.
func (a *request) json(status int, told map[string]any) {
	for name, value := range told {
		if at, ok := value.(time.Time); ok {
			told[name] = at.UTC()
		}
	}
	text, err := json.Marshal(map[string]any{"pass": told})
	if a.refused(err) { // which nothing told causes
		return
	}
	a.send(status, "application/json", append(text, '\n'))
}

// send sends an answer.
func (a *request) send(status int, kind string, body []byte) {
	a.w.Header().Set("X-Robots-Tag", "noindex")
	reply.ForOne(a.w, a.Request, status, kind, body)
}
