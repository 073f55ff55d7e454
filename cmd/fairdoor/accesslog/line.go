package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// Line is a request in an access log. Without a User-Agent it is "".
type Line struct {
	At        time.Time
	Address   string // of the client; a name where the server writes names
	UserAgent string
	Method    string
	Target    string // path and query, as the client has sent it
}

// Parse reads a line of an access log.
func Parse(text []byte) (Line, error) {
	text = bytes.TrimSpace(text)
	parse := parseCombined
	if bytes.HasPrefix(text, []byte("{")) {
		parse = parseJSON
	}
	l, err := parse(text)
	switch {
	case err != nil:
		return Line{}, err
	case l.Address == "":
		return Line{}, errors.New("it has no address")
	case l.At.Year() < 1995 || l.At.Year() > 2200:
		return Line{}, fmt.Errorf("its time is %s", l.At.Format(time.RFC3339))
	}
	l.Address = plainAddress(l.Address)
	return l, nil
}

// plainAddress is an address without a port, and in the one spelling that it has.
func plainAddress(text string) string {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap().String()
	}
	if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return addr.Unmap().String()
	}
	return text
}

// request takes in a request line such as "GET /shop HTTP/1.1".
func (l *Line) request(text string) {
	method, rest, _ := strings.Cut(text, " ")
	target, _, _ := strings.Cut(rest, " ")
	l.Method, l.Target = method, target
}

// noneAs is how logs write that there is nothing.
const noneAs = "-"

// orNothing is "" for what says that there is nothing.
func orNothing(text string) string {
	if text == noneAs {
		return ""
	}
	return text
}
