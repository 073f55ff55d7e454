package cookie

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// maxAge is the default of Attributes.MaxAge.
const maxAge = 24 * time.Hour

// ErrUnreadable means that a request's cookies cannot be read as a whole: they are too long,
// too many, or have control bytes. The visitor's ticket may be among them. So the visitor
// has to see an error, and must not be taken for a new one.
var ErrUnreadable = errors.New("the Cookie header cannot be read")

// Jar reads the tickets of one room from requests and writes them to
// responses. It is safe for concurrent use.
type Jar struct {
	codec       *Codec
	hostName    string // the name with "__Host-"
	http, https format
	memory      *memory
}

// format has the parts of the Set-Cookie headers for one scheme. It is made once, because a
// cookie's name and attributes stay the same: to put a value between them takes 0.2 µs, to
// write the whole cookie by net/http 0.7 µs.
type format struct {
	name   string
	tail   string // the attributes, as they follow the value
	delete string // a whole header
}

// Ticket is what Read found.
type Ticket struct {
	// Payload is what was sealed, or nil if no ticket of the request opens. It must not be
	// changed: others may have it too.
	Payload []byte

	// Key is the index of the key that has opened the ticket. Any but 0 is an old key:
	// the ticket should be issued again.
	Key int

	// Refused says that no ticket opens, and some cookie has the name of one: it is forged or
	// altered, or its key is not known any more.
	Refused bool

	// Name is the name of the cookie, as browsers see it. If it differs from (*Jar).Name
	// for the visitor's scheme, the ticket should be issued again.
	Name string

	value string
	known bool // the jar's memory had it
}

// NewJar returns a Jar for the codec's cookie. It fails with every fault of
// the attributes.
func NewJar(codec *Codec, attributes Attributes) (*Jar, error) {
	if codec == nil {
		return nil, errors.New("a jar needs a codec")
	}
	if err := attributes.Validate(); err != nil {
		return nil, fmt.Errorf("cookie attributes: %w", err)
	}
	return &Jar{
		codec:    codec,
		hostName: hostPrefix + codec.name,
		http:     newFormat(codec.name, attributes, false),
		https:    newFormat(codec.name, attributes, true),
		memory:   newMemory(),
	}, nil
}

func newFormat(name string, attributes Attributes, https bool) format {
	c := attributes.cookie(name, https)
	tail := strings.TrimPrefix(c.String(), c.Name+"=") + attributes.domain()
	c.MaxAge = -1 // written as Max-Age=0
	return format{name: c.Name, tail: tail, delete: c.String() + attributes.domain()}
}

func (j *Jar) format(https bool) *format {
	if https {
		return &j.https
	}
	return &j.http
}

// Name returns the name of the cookie as browsers see it, for a visitor who
// came over https or over http.
func (j *Jar) Name(https bool) string { return j.format(https).name }

// Seal returns a Set-Cookie header value that holds the payload. It fails as
// Codec.Encode does.
func (j *Jar) Seal(payload []byte, https bool) (string, error) {
	value, err := j.codec.Encode(payload)
	if err != nil {
		return "", err
	}
	return j.SetCookie(value, https), nil
}

// SetCookie returns a Set-Cookie header value that holds a value which the
// codec has made.
func (j *Jar) SetCookie(value string, https bool) string {
	f := j.format(https)
	return f.name + "=" + value + f.tail
}

// DeleteCookie returns a Set-Cookie header value that makes the browser forget the ticket:
// a cookie with the same name and attributes, an empty value and Max-Age=0.
func (j *Jar) DeleteCookie(https bool) string { return j.format(https).delete }

// Read finds this room's ticket in the Cookie header lines of a request. It tries the values
// that came as "__Host-…" first, which nobody but this host can have set, and then the
// others, both in their order. The first value that opens counts, even after many that do
// not: a page of a sibling domain can set cookies of our name. The cost is bounded, because
// Read reads 16 KiB, which have some 150 values that could open. A request without a ticket
// is not an error; the only error is ErrUnreadable.
func (j *Jar) Read(header http.Header) (Ticket, error) {
	lines := header["Cookie"]
	if len(lines) == 0 {
		return Ticket{}, nil
	}
	if !readable(lines) {
		return Ticket{}, ErrUnreadable
	}
	return j.first(lines), nil
}

// first returns the first ticket that opens, in the order of Read.
func (j *Jar) first(lines []string) Ticket {
	ticket, others, ok := j.find(lines, true)
	if !ok && others {
		refused := ticket.Refused
		ticket, _, ok = j.find(lines, false)
		ticket.Refused = !ok && (refused || ticket.Refused)
	}
	return ticket
}

// find returns the first ticket that opens: of the values that came as "__Host-…", or of
// the others. It also returns whether it has seen any of the other kind.
func (j *Jar) find(lines []string, hosts bool) (t Ticket, others, ok bool) {
	name := j.codec.name
	if hosts {
		name = j.hostName
	}
	for value, host := range values(lines, j.codec.name) {
		if host != hosts {
			others = true
		} else if opened, ok := j.open(value, name); ok {
			return opened, others, true
		} else {
			t.Refused = true
		}
	}
	return t, others, false
}

// Remember makes further Reads of the ticket's value cheap. It is worth it for a ticket that will
// come again as it is. The jar has room for as many as there are of those, about, which good says if
// it is known, and for 512 at least; for 131,072 at most, which take some 100 MiB.
func (j *Jar) Remember(t Ticket, good int) {
	if t.Payload != nil && !t.known {
		j.memory.put(t.value, t.Payload, t.Key, good)
	}
}

// Forget is the opposite of Remember, of a ticket that will not come again.
func (j *Jar) Forget(t Ticket) {
	if t.known {
		j.memory.forget(t.value)
	}
}

// open returns the ticket that a value opens to.
func (j *Jar) open(value, name string) (Ticket, bool) {
	if o := j.memory.get(value); o != nil {
		return Ticket{Payload: o.payload, Key: o.key, Name: name, value: o.value, known: true}, true
	}
	payload, key, ok := j.codec.Decode(value)
	return Ticket{Payload: payload, Key: key, Name: name, value: value}, ok
}
