package guests

// longestReferral is how long a code is that a browser keeps, in bytes. No code is longer.
const longestReferral = 64

// carry has the browser of somebody who has signed up keep the code that they gave, until they confirm. It is the one that counts if they do so
// in this browser: also if the mail was caused by a sign-up of somebody else.
func (q *request) carry(code string) error {
	if code == "" || len(code) > longestReferral {
		q.dropReferral()
		return nil
	}
	value, err := q.setup.referral.Seal([]byte(code), q.HTTPS)
	if err == nil {
		q.w.Header().Add("Set-Cookie", value)
	}
	return err
}

// carried returns the code that the browser keeps; "" for none.
func (q *request) carried() string {
	kept, err := q.setup.referral.Read(q.Header)
	if err != nil {
		return ""
	}
	return string(kept.Payload)
}

// dropReferral has the browser forget the code, if it keeps one.
func (q *request) dropReferral() {
	if q.carried() != "" {
		q.w.Header().Add("Set-Cookie", q.setup.referral.DeleteCookie(q.HTTPS))
	}
}
