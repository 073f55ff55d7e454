package guests

import (
	"errors"
	"net/http"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates/guestpage"
)

// getPlace answers with the sender's place, or with the page on which they can sign up. The link of
// a mail brings them back to it.
func (q *request) getPlace() {
	if secret := q.URL.Query().Get("secret"); secret != "" {
		q.comeBack(secret)
		return
	}
	switch e, err := q.mine(); {
	case err == nil:
		q.tell(http.StatusOK, e, true)
	case !errors.Is(err, waitlist.ErrNotFound):
		q.fail(err)
	case q.JSON:
		q.refuse(http.StatusNotFound, "You are not on the waitlist. Sign up by POST, with {\"email\": …}.")
	default:
		q.page(http.StatusOK, guestpage.View{State: guestpage.SignUp})
	}
}

// leave takes the sender off the list, and erases what is known of them.
func (q *request) leave() {
	e, err := q.mine()
	if err == nil {
		err = q.list.record.Leave(q.Context(), e.Number, q.now)
	}
	switch {
	case errors.Is(err, waitlist.ErrNotFound) && q.JSON:
		q.refuse(http.StatusNotFound, "You are not on the waitlist.")
		return
	case err != nil && !errors.Is(err, waitlist.ErrNotFound):
		q.fail(err)
		return
	}
	q.setup.forget(q.w.Header(), q.HTTPS)
	q.left()
}

// left answers somebody who is off the list.
func (q *request) left() {
	if q.JSON || q.Method == http.MethodDelete {
		q.w.Header().Set("Cache-Control", "no-store")
		q.w.WriteHeader(http.StatusNoContent)
		return
	}
	q.page(http.StatusOK, guestpage.View{State: guestpage.Left})
}
