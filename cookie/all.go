package cookie

import (
	"net/http"
	"strings"
)

// Cookies are all cookies of ours that a request brings, of whatever rooms.
type Cookies struct {
	names []string
	of    map[string][]string // by those, each as it stands in the header: "name=value", or "__Host-name=value"
}

// ReadAll finds them in one pass over the Cookie header lines of a request. The only
// error is ErrUnreadable.
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

func (c *Cookies) scan(line string) {
	for from := 0; ; {
		at := strings.Index(line[from:], namePrefix)
		if at < 0 {
			return
		}
		at += from
		before := line[:at]
		bare := strings.TrimSuffix(before, hostPrefix)
		if !startsCookie(bare) {
			from = at + len(namePrefix)
			continue
		}
		end := strings.IndexAny(line[at:], "=;")
		if end < 0 {
			return
		}
		from = at + end
		if line[from] != '=' {
			continue
		}
		name := line[at:from]
		if c.of[name] == nil {
			c.names = append(c.names, name)
		}
		whole, _, _ := strings.Cut(line[len(bare):], ";")
		c.of[name] = append(c.of[name], whole)
	}
}

// ReadFrom is Read of cookies that were found already.
func (j *Jar) ReadFrom(c Cookies) Ticket {
	return j.first(c.of[j.codec.name])
}

// BareName returns the name of the room's cookie without "__Host-".
func (j *Jar) BareName() string { return j.codec.name }
