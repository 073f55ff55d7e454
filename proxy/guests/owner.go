package guests

import (
	"encoding/binary"
	"net/http"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
)

// keepCookie is how long browsers keep the cookie: the most that they do.
const keepCookie = 400 * 24 * time.Hour

// cookieSuffix ends the name of a waitlist's cookie. No room has a name that begins with a dot.
func cookieSuffix(list string) string { return "." + list }

// owner names an entry, for the browser that has shown to be its owner's. The moment of the sign-up
// tells the entry from another one, of a record that was begun anew, which has the same number.
type owner struct {
	number int64
	joined time.Time // to the millisecond
}

// The cookie has the number of the entry, the moment of the sign-up, and to whom it is bound, if it
// is.
const ownerLength = 8 + 8

// owner returns whose entry the cookie of a request is for. Owns says whether a cookie that is
// bound, and was sealed with one of the keys, belongs to the sender of the request.
func (s *Setup) owner(h http.Header, owns func(bound []byte, key int) bool) (o owner, found bool) {
	sealed, err := s.jar.Read(h)
	if err != nil || len(sealed.Payload) < ownerLength || !owns(sealed.Payload[ownerLength:], sealed.Key) {
		return owner{}, false
	}
	s.jar.Remember(sealed, 0)
	return owner{
		number: int64(binary.BigEndian.Uint64(sealed.Payload)),
		joined: time.UnixMilli(int64(binary.BigEndian.Uint64(sealed.Payload[8:]))),
	}, true
}

// keep has the browser keep the cookie of an entry.
func (s *Setup) keep(h http.Header, o owner, v *feature.Requester) error {
	payload := binary.BigEndian.AppendUint64(nil, uint64(o.number))
	payload = binary.BigEndian.AppendUint64(payload, uint64(o.joined.UnixMilli()))
	value, err := s.jar.Seal(append(payload, v.Bound...), v.HTTPS)
	if err == nil {
		h["Set-Cookie"] = append(h["Set-Cookie"], value)
	}
	return err
}

// forget has the browser forget the cookie.
func (s *Setup) forget(h http.Header, https bool) {
	h["Set-Cookie"] = append(h["Set-Cookie"], s.jar.DeleteCookie(https))
}
