package accesslog

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// clock is how times are written in the combined format.
const clock = "02/Jan/2006:15:04:05 -0700"

// parseCombined reads
//
//	address - user [time] "request" status bytes "referrer" "User-Agent"
//
// What follows is left out. Apache's vhost_combined has a host before the address.
func parseCombined(text []byte) (Line, error) {
	who, rest, found := strings.Cut(string(text), " [")
	if !found {
		return Line{}, errors.New("it has no time in brackets")
	}
	written, rest, _ := strings.Cut(rest, "]")
	at, err := time.Parse(clock, written)
	if err != nil {
		return Line{}, fmt.Errorf("its time is %.40q", written)
	}
	l := Line{At: at, Address: addressIn(who)}
	request, rest, ok := quoted(rest)
	if !ok {
		return Line{}, errors.New("it has no request in quotes")
	}
	l.request(request)
	if _, rest, ok = quoted(rest); ok {
		if agent, _, ok := quoted(rest); ok {
			l.UserAgent = orNothing(agent)
		}
	}
	return l, nil
}

// addressIn is the address among what comes before the time.
func addressIn(who string) string {
	first, rest, _ := strings.Cut(who, " ")
	second, _, _ := strings.Cut(rest, " ")
	if _, err := netip.ParseAddr(first); err == nil || !strings.Contains(first, ":") {
		return first
	}
	if _, err := netip.ParseAddr(second); err == nil {
		return second // after a host and its port
	}
	return first
}

// quoted returns the next text in quotes, and what follows it. Quotes within are escaped, as
// \" by Apache and \x22 by nginx.
func quoted(text string) (content, rest string, ok bool) {
	begin := strings.IndexByte(text, '"')
	if begin < 0 {
		return "", "", false
	}
	text = text[begin+1:]
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return unescaped(text[:i]), text[i+1:], true
		}
	}
	return "", "", false
}

// unescaped undoes what \" \\ and \xhh stand for.
func unescaped(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var plain strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			if b, err := strconv.ParseUint(text[min(i+2, len(text)):min(i+4, len(text))], 16, 8); text[i+1] == 'x' && err == nil && i+4 <= len(text) {
				plain.WriteByte(byte(b))
				i += 3
				continue
			}
			i++
		}
		plain.WriteByte(text[i])
	}
	return plain.String()
}
