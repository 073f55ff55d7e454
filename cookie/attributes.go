package cookie

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"time"
)

// SameSite says to which requests browsers attach the cookie. The zero value means
// SameSiteAuto.
type SameSite string

// The values of SameSite.
const (
	// SameSiteAuto is None over https, so that a room works in a frame of
	// another site, and Lax over http.
	SameSiteAuto SameSite = "auto"
	// SameSiteLax sends the cookie with top-level navigation from elsewhere.
	SameSiteLax SameSite = "lax"
	// SameSiteNone sends the cookie with every request. Browsers accept that only from a
	// Secure cookie: where the cookie is not Secure, it gets Lax.
	SameSiteNone SameSite = "none"
	// SameSiteStrict sends the cookie with requests of the same site only.
	SameSiteStrict SameSite = "strict"
)

// Secure says whether browsers send the cookie over https only. The zero value means
// SecureAuto.
type Secure string

// The values of Secure.
const (
	// SecureAuto makes the cookie Secure when the visitor came over https.
	SecureAuto Secure = "auto"
	// SecureAlways makes the cookie Secure, also when the visitor came over http.
	SecureAlways Secure = "always"
	// SecureNever leaves Secure out.
	SecureNever Secure = "never"
)

// Attributes are the attributes of a cookie that an operator can choose. The others are
// fixed: HttpOnly and Path=/. In the zero value all are automatic.
type Attributes struct {
	// SameSite defaults to SameSiteAuto.
	SameSite SameSite `yaml:"samesite" default:"auto" choices:"auto,lax,none,strict" usage:"SameSite of the cookie"`

	// Secure defaults to SecureAuto.
	Secure Secure `yaml:"secure" default:"auto" choices:"auto,always,never" usage:"Secure of the cookie"`

	// Domain makes browsers send the cookie to this domain and everything below it. By
	// default they send it to the host that has set it alone. A leading dot means nothing
	// and is dropped.
	Domain string `yaml:"domain" is:"domain" usage:"Domain of the cookie (default: the host that was asked)"`

	// MaxAge is how long browsers keep the cookie; default a day, which is longer than any
	// ticket is valid.
	MaxAge time.Duration
}

// Validate returns every fault of the attributes, joined, or nil.
func (a Attributes) Validate() error {
	var faults []error
	switch a.SameSite {
	case "", SameSiteAuto, SameSiteLax, SameSiteNone, SameSiteStrict:
	default:
		faults = append(faults, fmt.Errorf("samesite %q is none of auto, lax, none, strict", string(a.SameSite)))
	}
	switch a.Secure {
	case "", SecureAuto, SecureAlways, SecureNever:
	default:
		faults = append(faults, fmt.Errorf("secure %q is none of auto, always, never", string(a.Secure)))
	}
	if a.SameSite == SameSiteNone && a.Secure == SecureNever {
		faults = append(faults, errors.New("samesite none needs a Secure cookie: "+
			"browsers drop the cookie with secure never"))
	}
	if problem := CheckDomain(strings.TrimPrefix(a.Domain, ".")); a.Domain != "" && problem != "" {
		faults = append(faults, fmt.Errorf("domain %q %s", a.Domain, problem))
	}
	return errors.Join(faults...)
}

var domainName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*$`)

// CheckDomain says what is wrong with a domain that is not empty, "" for nothing; it continues a
// sentence that begins with the domain.
func CheckDomain(domain string) string {
	_, err := netip.ParseAddr(domain)
	switch bare, dotted := strings.CutPrefix(domain, "."); {
	case err == nil:
		return "is an address: browsers take only names as the domain of a cookie"
	case !domainName.MatchString(bare):
		return "is not a domain such as example.com"
	case dotted:
		return fmt.Sprintf("begins with a dot (did you mean %q?)", bare)
	}
	return ""
}

// isSecure reports whether a cookie is Secure that is set over https, or over http.
func (a Attributes) isSecure(https bool) bool {
	switch a.Secure {
	case SecureAlways:
		return true
	case SecureNever:
		return false
	default:
		return https
	}
}

// sameSite returns the value of the SameSite attribute as it is written.
func (a Attributes) sameSite(https bool) http.SameSite {
	switch a.SameSite {
	case SameSiteStrict:
		return http.SameSiteStrictMode
	case SameSiteNone:
		if a.isSecure(https) {
			return http.SameSiteNoneMode
		}
	case "", SameSiteAuto:
		if https && a.isSecure(https) {
			return http.SameSiteNoneMode
		}
	default:
	}
	return http.SameSiteLaxMode
}

// cookie returns the cookie for browsers, without value and domain. With SameSite=None it is
// Partitioned: in a frame of another site, browsers that refuse third-party cookies keep no
// others.
func (a Attributes) cookie(name string, https bool) *http.Cookie {
	c := &http.Cookie{
		Name: name, Path: "/", MaxAge: int(cmp.Or(a.MaxAge, maxAge).Seconds()), HttpOnly: true,
		Secure: a.isSecure(https), SameSite: a.sameSite(https),
	}
	if c.Secure && a.Domain == "" {
		c.Name = hostPrefix + name
	}
	c.Partitioned = c.SameSite == http.SameSiteNoneMode
	return c
}

// SetCookie returns a Set-Cookie header value for a cookie beside a ticket, with the same
// attributes but for its age. Without an age it makes the browser forget the cookie. The name is
// one that Name returns.
func (a Attributes) SetCookie(name, value string, age time.Duration, https bool) string {
	c := a.cookie(name, https)
	c.Value, c.MaxAge = value, int(age.Seconds())
	if age <= 0 {
		c.MaxAge = -1 // written as Max-Age=0
	}
	return c.String() + a.domain()
}

// domain returns the Domain attribute as it is appended to a Set-Cookie header. net/http
// would leave out a name with an underscore, which browsers accept.
func (a Attributes) domain() string {
	if a.Domain == "" {
		return ""
	}
	return "; Domain=" + strings.TrimPrefix(a.Domain, ".")
}
