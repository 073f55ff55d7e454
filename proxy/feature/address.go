package feature

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// longestRefresh is the longest address that a Refresh header carries. Some proxies refuse an
// answer whose header has more than 4 KiB.
const longestRefresh = 2 << 10

// RefreshTo returns the value of a Refresh header that asks for the same page again after some
// seconds. It names the address: a browser that shows the page with a fragment would else
// only scroll. Without it, a page whose address is very long is loaded again all the same.
func RefreshTo(seconds int, r *http.Request) string {
	to := AddressOf(r)
	if len(to) > longestRefresh {
		return strconv.Itoa(seconds)
	}
	return strconv.Itoa(seconds) + "; url=" + to
}

// AddressOf returns the path and query of a request as a reference that leads back to it from
// any page of the same host: it begins with one slash, and has nothing in it that a browser
// would read as another host, or as the end of the address.
func AddressOf(r *http.Request) string {
	target := r.RequestURI
	if !strings.HasPrefix(target, "/") { // an absolute URL, or an asterisk
		target = ""
		if r.URL.Opaque == "" && r.URL.Path != "*" {
			target = r.URL.EscapedPath()
			if r.URL.RawQuery != "" || r.URL.ForceQuery {
				target += "?" + r.URL.RawQuery
			}
		}
		if !strings.HasPrefix(target, "/") {
			target = "/" + target
		}
	}
	if !strings.HasPrefix(target, "//") && strings.IndexFunc(target, escapes) < 0 {
		return target
	}
	return escapeAddress(target)
}

// escapes says whether a character of an address is written in percent. The others are those
// that RFC 3986 allows, but for #, which begins a fragment.
func escapes(c rune) bool {
	return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c < 0x80 && strings.ContainsRune("-._~%/?:@!$&'()*+,;=[]|", c))
}

// escapeAddress writes an address with what has to be escaped. Two slashes at its beginning
// would name a host: a dot between them means nothing.
func escapeAddress(target string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	if strings.HasPrefix(target, "//") {
		b.WriteString("/.")
	}
	for i := range len(target) {
		if c := target[i]; escapes(rune(c)) {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Rooms know which room guards an address.
type Rooms interface {
	// RoomAt is the room that guards a path on a host; nil for none.
	RoomAt(host, path string) *Room
}

// longestWay is the longest address that WayIn goes by.
const longestWay = 1000

// WayIn is where somebody goes on to who comes to a room from one of the gate's own pages: to, a path
// with its query and fragment, or else the page that the request names as the one before it, if these
// are the room's; else the room's own path.
func WayIn(rooms Rooms, of *Room, r *http.Request, to string) string {
	u, err := url.Parse(to) // it refuses what browsers leave out: tabs and ends of lines
	if to == "" {
		if u, err = url.Parse(r.Referer()); err == nil && u.Host == r.Host {
			u.Scheme, u.Host, u.User = "", "", nil
		}
	}
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") || len(to) > longestWay {
		return of.Setup().PathOn(r.Host)
	}
	address := AddressOf(&http.Request{URL: u, RequestURI: u.RequestURI()})
	if len(address) > longestWay || rooms.RoomAt(r.Host, address) != of {
		return of.Setup().PathOn(r.Host)
	}
	if u.Fragment != "" {
		address += "#" + u.EscapedFragment()
	}
	return address
}

// LineAddress returns where somebody waits who has sent a form: at the page of the room that
// the form was on, if the browser names it; else at the form's own address if that may be
// for GET too, or at the room's.
func (v *Visit) LineAddress(r *http.Request, rooms Rooms) string {
	if from, err := url.Parse(r.Referer()); err == nil && from.Host == r.Host {
		if rooms.RoomAt(from.Host, from.RequestURI()) == v.Room {
			return AddressOf(&http.Request{URL: from, RequestURI: from.RequestURI()})
		}
	}
	if r.Method == http.MethodPost {
		return AddressOf(r)
	}
	return v.Setup.PathOn(r.Host)
}
