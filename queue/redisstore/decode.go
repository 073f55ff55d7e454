package redisstore

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/anteroom-gate/anteroom/queue"
)

// reader reads a script's reply, item by item. What does not fit is remembered:
// a reply of another shape counts as none.
type reader struct {
	list []any
	err  error
}

func (r *reader) item() any {
	if len(r.list) == 0 {
		r.err = fmt.Errorf("the reply is too short")
		return nil
	}
	v := r.list[0]
	r.list = r.list[1:]
	return v
}

// next reads an item that is a list itself.
func (r *reader) next() *reader {
	list, ok := r.item().([]any)
	if !ok {
		r.fault("a list")
	}
	return &reader{list: list, err: r.err}
}

// join takes over what went wrong in a list.
func (r *reader) join(part *reader) {
	if r.err == nil {
		r.err = part.err
	}
}

func (r *reader) fault(wanted string) {
	if r.err == nil {
		r.err = fmt.Errorf("the reply has something else where %s should be", wanted)
	}
}

func (r *reader) int() int64 {
	switch v := r.item().(type) {
	case int64:
		return v
	case string:
		n, err := strconv.ParseFloat(v, 64)
		if err == nil {
			return int64(n)
		}
	}
	r.fault("a number")
	return 0
}

func (r *reader) instant() queue.Instant { return queue.Instant(r.int()) }

// text reads a string; nil is an empty one.
func (r *reader) text() string {
	switch v := r.item().(type) {
	case string:
		return v
	case nil:
		return ""
	}
	r.fault("a text")
	return ""
}

func (r *reader) id() queue.ID {
	text := r.text()
	if len(text) != len(queue.ID{}) {
		r.fault("an id")
		return queue.ID{}
	}
	return queue.ID([]byte(text))
}

func (r *reader) sessions() []queue.Session {
	var list []queue.Session
	for len(r.list) > 0 && r.err == nil {
		list = append(list, queue.Session{ID: r.id(), Expires: r.instant()})
	}
	return list
}

// packed is a text into which a script has packed numbers.
type packed string

// packed reads a text of so many bytes at least.
func (r *reader) packed(size int) packed {
	p := packed(r.text())
	if len(p) < size {
		r.fault("packed numbers")
		return packed(make([]byte, size))
	}
	return p
}

func (p *packed) int() int64 {
	bits := binary.BigEndian.Uint64([]byte((*p)[:8]))
	*p = (*p)[8:]
	return int64(math.Float64frombits(bits))
}

func (p *packed) instant() queue.Instant { return queue.Instant(p.int()) }

func (p *packed) byte() byte {
	b := (*p)[0]
	*p = (*p)[1:]
	return b
}

// What a standing, a verdict and a place take, packed; see save.lua, admit.lua and claim.lua.
const (
	standingSize = 6*8 + 3
	verdictSize  = 1 + 2*8
	placeSize    = 4*8 + 1
)

func (r *reader) standing() queue.Status {
	p := r.packed(standingSize)
	s := queue.Status{
		Now: p.instant(), Active: int(p.int()), Admitted: int(p.int()), Open: int(p.int()), Present: int(p.int()), NextOpen: p.instant(),
		WantWhole: p.byte() == 1, Recovering: p.byte() == 1, Settling: p.byte() == 1,
	}
	s.Epoch = string(p) // the rest
	return s
}

// grant reads a verdict, and the place of whoever waits in an exact line.
func (r *reader) grant() queue.Grant {
	p := r.packed(verdictSize)
	g := queue.Grant{Verdict: queue.Verdict(p.byte()), AcceptedAt: p.instant(), Expires: p.instant()}
	if len(p) >= placeSize {
		g.Place = queue.Place{Number: uint64(p.int()), Priority: int16(p.int()), Ahead: int(p.int()), Length: int(p.int()), Joined: p.byte() == 1}
	}
	return g
}

func (r *reader) failure(verb string) error {
	if r.err != nil {
		return fmt.Errorf("reading what %s returned: %w", verb, r.err)
	}
	return nil
}

// readView reads what sync.lua returns.
func readView(reply []any) (*queue.View, error) {
	r := &reader{list: reply}
	v := &queue.View{}
	buckets, counts := r.next(), r.next()
	for len(buckets.list) > 0 && buckets.err == nil && counts.err == nil {
		v.Buckets = append(v.Buckets, queue.BucketCount{Bucket: buckets.instant(), Waiting: int(counts.int())})
	}
	if rate := r.text(); rate != "" {
		var err error
		if v.Rate, err = strconv.ParseFloat(rate, 64); err != nil {
			r.fault("a rate")
		}
		v.RateKnown = true
	}
	revoked, entered := r.next(), r.next()
	v.Revoked, v.Entered = revoked.sessions(), entered.sessions()
	for name := range strings.FieldsSeq(r.text()) {
		n, err := strconv.ParseUint(name, 10, 64)
		if err != nil {
			r.fault("a node")
		}
		v.Nodes = append(v.Nodes, n)
	}
	v.Configuration.Version = r.int()
	if c := r.next(); len(c.list) > 0 {
		var d document
		if err := json.Unmarshal([]byte(c.text()), &d); err != nil && v.Configuration.Version > 0 {
			c.fault("settings")
		}
		v.Configuration.Settings, v.Configuration.Places = d.Settings, d.Places
		v.Configuration.Overrides, v.Configuration.By = []byte(c.text()), c.text()
		if at := c.text(); at != "" {
			n, _ := strconv.ParseInt(at, 10, 64)
			v.Configuration.At = queue.Instant(n)
		}
		r.join(c)
	}
	r.readLine(v)
	left := r.next()
	for len(left.list) > 0 && left.err == nil {
		v.Left = append(v.Left, left.id())
	}
	v.Status = r.standing()
	for _, part := range []*reader{buckets, counts, revoked, entered, left} {
		r.join(part)
	}
	return v, r.failure("sync")
}

func (r *reader) place() queue.Place {
	return queue.Place{Number: uint64(r.int()), Priority: int16(r.int()), Ahead: int(r.int()), Length: int(r.int())}
}

// readLine reads what sync.lua tells of an exact line, if there is one.
func (r *reader) readLine(v *queue.View) {
	line := r.next()
	if len(line.list) > 0 {
		v.FirstNumber, v.LastNumber, v.Preferred = uint64(line.int()), uint64(line.int()), int(line.int())
		turns := line.next()
		for len(turns.list) > 0 && turns.err == nil {
			v.Turns = append(v.Turns, turns.id())
		}
		line.join(turns)
	}
	r.join(line)
}

// maxSeats is how many sessions a roll looks at: in a larger room it is of those
// that end first.
const maxSeats = 5 * queue.MaxRoll

// readRoll reads what roll.lua returns.
func readRoll(reply []any) (*queue.Roll, error) {
	r := &reader{list: reply}
	roll := &queue.Roll{Now: r.instant()}
	seats, line := r.next(), r.next()
	for len(seats.list) > 0 && seats.err == nil {
		s := seats.next()
		roll.Seated = append(roll.Seated, queue.Seat{Session: queue.Session{ID: s.id(), Expires: s.instant()}, AcceptedAt: s.instant()})
		seats.join(s)
	}
	for len(line.list) > 0 && line.err == nil {
		w := line.next()
		roll.Line = append(roll.Line, queue.Waiter{ID: w.id(), Place: w.place(), Until: w.instant()})
		line.join(w)
	}
	r.join(seats)
	r.join(line)
	slices.SortFunc(roll.Seated, func(a, b queue.Seat) int {
		return cmp.Or(cmp.Compare(a.AcceptedAt, b.AcceptedAt), bytes.Compare(a.ID[:], b.ID[:]))
	})
	slices.SortFunc(roll.Line, func(a, b queue.Waiter) int { return cmp.Compare(a.Ahead, b.Ahead) })
	roll.Seated, roll.Line = roll.Seated[:min(len(roll.Seated), queue.MaxRoll)], roll.Line[:min(len(roll.Line), queue.MaxRoll)]
	return roll, r.failure("roll")
}
