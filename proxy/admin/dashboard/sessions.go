package dashboard

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// CookieName is the name of the cookie of an operator who is logged in. The gate keeps cookies
	// with such names from origins, and no room can have this one.
	CookieName = "fairdoor_~operator"
	// sessionLasts is how long an operator stays logged in.
	sessionLasts = 12 * time.Hour
	// maxEnded bounds the sessions that are remembered because their operator has logged out.
	maxEnded = 10_000
)

// Sessions are those of operators who have given a token. A session is a cookie with its end and
// the operator's name, sealed with a key that is derived from the token: nothing is kept of it, and
// nobody learns the token from it. It ends with the token. What is kept is which of them were ended.
type Sessions struct {
	tokens func() []string
	clock  func() time.Time

	mu    sync.Mutex
	ended map[string]time.Time // until when each would have lasted
}

// NewSessions returns those for the tokens that count at the time.
func NewSessions(tokens func() []string, clock func() time.Time) *Sessions {
	return &Sessions{tokens: tokens, clock: clock, ended: map[string]time.Time{}}
}

// The parts of a session in bytes: its end in seconds since 1970, what makes it unique, the
// operator's name, and the seal.
const endBytes, nameAt = 8, 8 + 16

// Begin logs an operator in who has given a token and goes by a short name; it may be empty.
func (s *Sessions) Begin(w http.ResponseWriter, r *http.Request, token, name string) {
	end := s.clock().Add(sessionLasts)
	body := make([]byte, nameAt, nameAt+len(name))
	binary.BigEndian.PutUint64(body, uint64(end.Unix()))
	_, _ = rand.Read(body[endBytes:]) // it never fails
	body = append(body, name...)
	http.SetCookie(w, cookie(r, base64.RawURLEncoding.EncodeToString(seal(token, body)), int(sessionLasts.Seconds())))
}

// End logs the operator out who sends the request.
func (s *Sessions) End(w http.ResponseWriter, r *http.Request) {
	if session, end, _, ok := s.read(r); ok {
		s.mu.Lock()
		maps.DeleteFunc(s.ended, func(_ string, end time.Time) bool { return !end.After(s.clock()) })
		if len(s.ended) < maxEnded {
			s.ended[session] = end
		}
		s.mu.Unlock()
	}
	http.SetCookie(w, cookie(r, "", -1))
}

// Of is the session of the operator who sends the request: the name that they go by, "" if they have
// said none, and the token that they have given. It is not found if they are not logged in.
func (s *Sessions) Of(r *http.Request) (name, token string, found bool) {
	session, _, token, found := s.read(r)
	if !found {
		return "", "", false
	}
	return session[nameAt:], token, true
}

// read returns the session of a request, when it ends, and the token that it is of. Other programs on
// the host may have set cookies of the same name.
func (s *Sessions) read(r *http.Request) (session string, end time.Time, token string, ok bool) {
	for _, c := range r.CookiesNamed(CookieName) {
		if session, end, token, ok = s.open(c.Value); ok {
			return session, end, token, true
		}
	}
	return "", end, "", false
}

// open returns the session that a cookie's value has, when it ends, and the token that it is of.
func (s *Sessions) open(value string) (session string, end time.Time, token string, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(value)
	at := len(text) - sha256.Size // of the seal
	if err != nil || at < nameAt {
		return "", end, "", false
	}
	tokens := s.tokens()
	i := slices.IndexFunc(tokens, func(token string) bool { return hmac.Equal(text, seal(token, text[:at])) })
	if i < 0 {
		return "", end, "", false
	}
	session, end = string(text[:at]), time.Unix(int64(binary.BigEndian.Uint64(text)), 0)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, over := s.ended[session]
	return session, end, tokens[i], !over && s.clock().Before(end)
}

// seal returns the body of a session with its seal.
func seal(token string, body []byte) []byte {
	derive := hmac.New(sha256.New, []byte(token))
	derive.Write([]byte("session of an operator"))
	mac := hmac.New(sha256.New, derive.Sum(nil))
	mac.Write(body)
	return mac.Sum(body[:len(body):len(body)])
}

// cookie is sent over https only if the operator came that way, as a proxy before the listener
// says, too: whoever lies about that does so about their own cookie.
func cookie(r *http.Request, value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: CookieName, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	}
}
