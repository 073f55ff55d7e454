package guests

import (
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"time"

	"github.com/anteroom-gate/anteroom/proxy/metrics"
	"github.com/anteroom-gate/anteroom/queue/waitlist"
	"github.com/anteroom-gate/anteroom/templates/guestpage"
)

// maxForm is the most that is read of what is sent, in bytes.
const maxForm = 16 << 10

// form is what people send, as a form or as JSON.
type form struct {
	Email    string `json:"email"`
	Referral string `json:"referral"`
	Token    string `json:"token"`
	Leave    string `json:"leave"`
}

// form reads what was sent. What cannot be read has been answered.
func (q *request) form() (f form, ok bool) {
	q.Body = http.MaxBytesReader(q.w, q.Body, maxForm)
	var err error
	if kind, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type")); kind == "application/json" {
		err = json.NewDecoder(q.Body).Decode(&f)
	} else if err = q.parse(); err == nil {
		f = form{q.PostFormValue("email"), q.PostFormValue("referral"), q.PostFormValue("token"), q.PostFormValue("leave")}
	}
	if f.Token == "" {
		f.Token = q.URL.Query().Get("token")
	}
	if err != nil {
		q.refuse(http.StatusBadRequest, "What was sent cannot be read: send a form, or JSON such as {\"email\": \"ada@example.com\"}.")
	}
	return f, err == nil
}

// parse reads a form, as browsers send it in one way or another.
func (q *request) parse() error {
	if err := q.ParseForm(); err != nil {
		return err
	}
	if err := q.ParseMultipartForm(maxForm); !errors.Is(err, http.ErrNotMultipart) {
		return err
	}
	return nil
}

// postPlace signs somebody up, or takes them off the list.
func (q *request) postPlace() {
	f, ok := q.form()
	switch {
	case !ok:
	case f.Leave != "":
		q.leave()
	case !q.mayJoin():
		q.list.o.Counters.CountSignUp(metrics.Limited)
		q.w.Header().Set("Retry-After", "60")
		q.wrong(http.StatusTooManyRequests, f, guestpage.TooMany, "Too many people have signed up from this network. Try again in a minute.")
	default:
		q.join(f)
	}
}

// mayJoin says whether the sender's network may have another sign-up now.
func (q *request) mayJoin() bool {
	most := q.setup.cfg.SignUpsPerNetwork
	return most == 0 || q.list.o.Enter(q.Addr, q.now, most)
}

// wrong answers a form that somebody has to send again.
func (q *request) wrong(status int, f form, what guestpage.Problem, detail string) {
	if q.JSON {
		q.refuse(status, detail)
		return
	}
	q.page(status, guestpage.View{State: guestpage.SignUp, Problem: what, Email: f.Email, Referral: f.Referral})
}

// join signs somebody up.
func (q *request) join(f form) {
	secretly := q.setup.cfg.Settings.ConfirmEmail && f.Email != ""
	place, err := q.joined(f, secretly)
	switch {
	case errors.Is(err, waitlist.ErrEmail), errors.Is(err, waitlist.ErrNobody):
		q.list.o.Counters.CountSignUp(metrics.Invalid)
		q.wrong(http.StatusUnprocessableEntity, f, guestpage.NoAddress, "This is not an e-mail address: send one such as ada@example.com.")
	case err != nil:
		q.list.o.Counters.CountSignUp(metrics.Failed)
		q.fail(err)
	default:
		q.list.o.Counters.CountSignUp(metrics.Acknowledged)
		q.acknowledge(place, f)
	}
}

// acknowledge answers a sign-up that is on the disk.
func (q *request) acknowledge(place waitlist.Place, f form) {
	named := q.UserID != ""
	switch {
	case place.Status == waitlist.Unconfirmed && named:
		q.unconfirmed(http.StatusOK, f.Email)
	case place.Status == waitlist.Unconfirmed, !q.JSON && place.Secret == "" && !named:
		q.unconfirmed(http.StatusAccepted, f.Email) // a mail tells the owner the way
	default:
		q.settle(place.Entry, place.Secret != "")
	}
}

// joined signs somebody up. Where the answer must not tell whether the address is known, it comes at a time that does not tell it
// either.
func (q *request) joined(f form, secretly bool) (p waitlist.Place, err error) {
	who := waitlist.SignUp{
		Email: f.Email, UserID: q.UserID, Referral: f.Referral, Addr: q.Addr,
		Language: q.setup.pages.Match(q.Header.Get("Accept-Language")),
	}
	do := func(ctx context.Context) { p, err = q.list.record.Join(ctx, who, q.now) }
	if secretly {
		onTheBeat(q.Context(), do)
	} else {
		do(q.Context())
	}
	return p, err
}

// beat is what the time until a secret answer is a multiple of. It is longer than most sign-ups take.
const beat = 250 * time.Millisecond

// onTheBeat does something, and returns when a multiple of beat has passed since it began.
func onTheBeat(ctx context.Context, do func(context.Context)) {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(ctx)
	}()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			<-done
			return
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

// settle answers the owner of an entry after a form: apps with the entry, a browser with the way to its page. If the browser is the
// owner's it gets the cookie.
func (q *request) settle(e waitlist.Entry, owner bool) {
	switch {
	case owner && !q.keep(e):
	case q.JSON:
		q.tell(http.StatusOK, e, owner)
	default:
		q.see(q.setup.path())
	}
}
