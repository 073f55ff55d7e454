package guests

import (
	"strings"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// longestReferral is how long a code is that a browser keeps, in bytes. No code is longer.
const longestReferral = 64

// signedUp is before the code in the cookie, so that it is not empty without one.
const signedUp = "signed up by "

// carry has the browser of somebody who has signed up keep the code that they gave, or that they
// gave none, until they confirm. It is what counts if they do so in this browser: also if the mail
// was caused by a sign-up of somebody else.
func (q *request) carry(code string) error {
	if len(code) > longestReferral {
		code = ""
	}
	value, err := q.setup.referral.Seal([]byte(signedUp+code), q.HTTPS)
	if err == nil {
		q.w.Header().Add("Set-Cookie", value)
	}
	return err
}

// carried returns what the browser keeps of its own sign-up; nil for none.
func (q *request) carried() *waitlist.SignedUp {
	kept, err := q.setup.referral.Read(q.Header)
	code, found := strings.CutPrefix(string(kept.Payload), signedUp)
	if err != nil || !found {
		return nil
	}
	return &waitlist.SignedUp{Referral: code, Addr: q.Addr}
}

// dropReferral has the browser forget its sign-up, if it keeps one.
func (q *request) dropReferral() {
	if q.carried() != nil {
		q.w.Header().Add("Set-Cookie", q.setup.referral.DeleteCookie(q.HTTPS))
	}
}
