package guests

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates/guestpage"
)

// maxForm is the most that is read of what is sent, in bytes.
const maxForm = 16 << 10

// form is what people send, as a form or as JSON.
type form struct {
	Email    string `json:"email"`
	Referral string `json:"referral"`
	Token    string `json:"token"`
	Secret   string `json:"secret"`
	Leave    string `json:"leave"`
	Response string `json:"response"` // to the challenge
}

// form reads what was sent. What cannot be read has been answered.
func (q *request) form() (f form, ok bool) {
	q.Body = http.MaxBytesReader(q.w, q.Body, maxForm)
	var err error
	if reply.SentJSON(q.Request) {
		err = json.NewDecoder(q.Body).Decode(&f)
	} else if err = q.parse(); err == nil {
		f = q.fields()
	}
	if f.Token == "" {
		f.Token = q.URL.Query().Get("token")
	}
	if errors.Is(err, io.EOF) {
		err = nil // nothing was sent
	}
	switch tooLong := (*http.MaxBytesError)(nil); {
	case errors.As(err, &tooLong):
		q.refuse(http.StatusRequestEntityTooLarge, "What was sent is too long: at most 16 KiB.")
	case err != nil:
		q.refuse(http.StatusBadRequest, "What was sent cannot be read: send a form, or JSON such as {\"email\": \"ada@example.com\"}.")
	}
	return f, err == nil
}

// fields are those of the form that was sent.
func (q *request) fields() form {
	f := form{
		Email: q.PostFormValue("email"), Referral: q.PostFormValue("referral"), Token: q.PostFormValue("token"),
		Secret: q.PostFormValue("secret"), Leave: q.PostFormValue("leave"),
	}
	for _, name := range feature.AnswerFields() {
		f.Response = cmp.Or(f.Response, q.PostFormValue(name))
	}
	return f
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

// postPlace signs somebody up, takes them off the list, or brings them back to it.
func (q *request) postPlace() {
	f, ok := q.form()
	switch {
	case !ok:
	case f.Leave == "yes":
		q.leave()
	case f.Secret != "":
		q.comeBack(f.Secret)
	case !q.mayJoin():
		q.list.o.Counters.CountSignUp(Limited)
		q.w.Header().Set("Retry-After", "60")
		q.wrong(http.StatusTooManyRequests, f, guestpage.TooMany, "Too many people have signed up from this network. Try again in a minute.")
	case q.hasChallenge() && !q.proves(f):
	default:
		q.join(f)
	}
}

// hasChallenge says whether the sender has to pass the room's challenge to sign up.
func (q *request) hasChallenge() bool { return q.setup.site.Proof() != nil && q.User == "" }

// proves says whether the sender has passed the challenge. If not, that has been answered.
func (q *request) proves(f form) bool {
	proven, later := q.setup.site.Proof().Prove(q.Context(), f.Response, q.Addr)
	switch {
	case proven:
		return true
	case later:
		q.w.Header().Set("Retry-After", "5")
		q.wrong(http.StatusServiceUnavailable, f, guestpage.Unproven, "The challenge cannot be verified at the moment.")
	case q.JSON:
		q.json(http.StatusForbidden, map[string]any{
			"status": "none", "path": q.setup.path(), "challengeRequired": true, "challenge": q.setup.site.Proof().Widget(),
		})
	default:
		q.wrong(http.StatusForbidden, f, guestpage.Unproven, "")
	}
	q.list.o.Counters.CountSignUp(Unproven)
	return false
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
	secretly := q.setup.cfg.Settings.ConfirmEmail && q.User == ""
	place, err := q.rejoined(f)
	if errors.Is(err, waitlist.ErrNotFound) {
		place, err = q.joined(f, secretly)
	}
	switch {
	case errors.Is(err, waitlist.ErrEmail), errors.Is(err, waitlist.ErrNobody):
		q.list.o.Counters.CountSignUp(Invalid)
		q.wrong(http.StatusUnprocessableEntity, f, guestpage.NoAddress, "This is not an e-mail address: send one such as ada@example.com.")
	case err != nil:
		q.list.o.Counters.CountSignUp(Failed)
		q.fail(err)
	default:
		q.list.o.Counters.CountSignUp(Acknowledged)
		q.acknowledge(place, f)
	}
}

// acknowledge answers a sign-up that is on the disk.
func (q *request) acknowledge(place waitlist.Place, f form) {
	if place.Status == waitlist.Unconfirmed {
		if err := q.carry(f.Referral); err != nil {
			q.fail(err)
			return
		}
	}
	switch {
	case place.Status == waitlist.Unconfirmed, !q.JSON && !place.Own:
		q.unconfirmed(http.StatusAccepted, f.Email) // a mail tells the owner the way
	default:
		q.settle(place)
	}
}

// rejoined signs somebody up anew whose own invite has expired. The error is waitlist.ErrNotFound
// if it has not, or if they give the address of somebody else.
func (q *request) rejoined(f form) (waitlist.Place, error) {
	e, err := q.mine()
	if err != nil || e.Status != waitlist.Expired {
		return waitlist.Place{}, cmp.Or(err, waitlist.ErrNotFound)
	}
	given, _ := waitlist.ParseAddress(f.Email)
	if own, _ := waitlist.ParseAddress(e.Email); f.Email != "" && given.Key != own.Key {
		return waitlist.Place{}, waitlist.ErrNotFound
	}
	return q.list.record.Rejoin(q.Context(), e.Number, q.now)
}

// joined signs somebody up. Where the answer must not tell whether the address is known, it comes
// at a time that does not tell it either.
func (q *request) joined(f form, secretly bool) (p waitlist.Place, err error) {
	who := waitlist.SignUp{
		Email: f.Email, UserID: q.User, Referral: f.Referral, Addr: q.Addr,
		Language: q.language(),
	}
	do := func() { p, err = q.list.record.Join(q.Context(), who, q.now) }
	if secretly {
		onTheBeat(q.Context(), do)
	} else {
		do()
	}
	return p, err
}

// beat is what the time until a secret answer is a multiple of. It is longer than most sign-ups
// take.
const beat = 250 * time.Millisecond

// onTheBeat does something, and returns when a multiple of beat has passed since it began.
func onTheBeat(ctx context.Context, do func()) {
	began := time.Now()
	do()
	rest := time.NewTimer(beat - time.Since(began)%beat)
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-ctx.Done():
	}
}

// settle answers somebody after a form: apps with the entry, a browser with the way to its page. If
// the entry is the sender's own, the browser gets the cookie.
func (q *request) settle(place waitlist.Place) {
	switch {
	case place.Own && !q.keep(place.Entry):
	case q.JSON:
		q.tell(http.StatusOK, place.Entry, place.Own)
	default:
		q.see(q.setup.path() + q.way())
	}
}
