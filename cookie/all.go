package cookie

import (
	"net/http"
	"strings"
)

// Cookies are all cookies of ours that a request brings, of all rooms.
type Cookies struct {
	names []string
	of    map[string][]string // by name, each cookie as the header has it: "name=value" or "__Host-name=value"
}

// ReadAll finds our cookies in one pass over the Cookie header lines of a request. The
// only error is ErrUnreadable.
func ReadAll(header http.Header) (Cookies, error) {
	c := Cookies{of: map[string][]string{}}
	lines := header["Cookie"]
	if !readable(lines) {
		return c, ErrUnreadable
	}
	for _, line := range lines {
		c.scan(line)
	}
	return c, nil
}

// Names are the names of the cookies without "__Host-", as Name returns them, in the
// order in which they first came.
func (c Cookies) Names() []string { return c.names }

// scan adds our cookies of a line.
func (c *Cookies) scan(line string) {
	for from := 0; ; {
		at := strings.Index(line[from:], namePrefix)
		if at < 0 {
			return
		}
		at += from
		bare := strings.TrimSuffix(line[:at], hostPrefix)
		if !startsCookie(bare) {
			from = at + len(namePrefix)
			continue
		}
		end := strings.IndexAny(line[at:], "=;")
		if end < 0 {
			return
		}
		from = at + end
		if line[from] == '=' {
			cookie, _, _ := strings.Cut(line[len(bare):], ";")
			c.add(line[at:from], cookie)
		}
	}
}

func (c *Cookies) add(name, cookie string) {
	if c.of[name] == nil {
		c.names = append(c.names, name)
	}
	c.of[name] = append(c.of[name], cookie)
}

// ReadFrom is Read for cookies that ReadAll has found.
func (j *Jar) ReadFrom(c Cookies) Ticket {
	return j.first(c.of[j.codec.name])
}

// BareName returns the name of the room's cookie without "__Host-".
func (j *Jar) BareName() string { return j.codec.name }
