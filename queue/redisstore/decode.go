package redisstore

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// reader reads a script's reply, item by item. It remembers the first item that is not
// what it should be: a reply of another shape counts as none.
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

// next returns a reader of the next item, which is a list itself.
func (r *reader) next() *reader {
	list, ok := r.item().([]any)
	if !ok {
		r.fault("a list")
	}
	return &reader{list: list, err: r.err}
}

// part has the next item, which is a list itself, read.
func (r *reader) part(read func(*reader)) {
	part := r.next()
	read(part)
	r.join(part)
}

// join takes over what is wrong in a list.
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

func (r *reader) ids() (list []queue.ID) {
	for len(r.list) > 0 && r.err == nil {
		list = append(list, r.id())
	}
	return list
}

func (r *reader) sessions() []queue.Session {
	var list []queue.Session
	for len(r.list) > 0 && r.err == nil {
		list = append(list, queue.Session{ID: r.id(), Expires: r.instant()})
	}
	return list
}

// packed is a text of numbers that a script has packed.
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

func (p *packed) float() float64 {
	bits := binary.BigEndian.Uint64([]byte((*p)[:8]))
	*p = (*p)[8:]
	return math.Float64frombits(bits)
}

func (p *packed) int() int64 { return int64(p.float()) }

func (p *packed) instant() queue.Instant { return queue.Instant(p.int()) }

func (p *packed) byte() byte {
	b := (*p)[0]
	*p = (*p)[1:]
	return b
}

// The lengths of a status without its epoch, of a verdict and of a place, packed; see
// save.lua, admit.lua and lineclaim.lua.
const (
	statusSize  = 7*8 + 5
	verdictSize = 1 + 2*8
	placeSize   = 4*8 + 1
)

func (r *reader) status() queue.Status {
	p := r.packed(statusSize)
	s := queue.Status{
		Now: p.instant(), Active: int(p.int()), Admitted: int(p.int()), Open: int(p.int()), Present: int(p.int()), NextOpen: p.instant(),
		Factor: p.float(), WantWhole: p.byte() == 1, Recovering: p.byte() == 1, Settling: p.byte() == 1, OpenToAll: p.byte() == 1, Untold: p.byte() == 1,
	}
	s.Epoch = string(p) // the rest
	return s
}

// grant reads a verdict, and the place of a visitor who waits in an exact line.
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
	v.Buckets = r.buckets()
	v.Rate, v.RateKnown = r.rate()
	r.part(func(r *reader) { v.Revoked = r.sessions() })
	r.part(func(r *reader) { v.Entered = r.sessions() })
	v.Nodes = r.nodes()
	v.Configuration.Version = r.int()
	r.part(func(r *reader) { r.configuration(&v.Configuration) })
	r.part(func(r *reader) { r.line(v) })
	r.part(func(r *reader) { v.Left = r.ids() })
	v.Boundaries = r.boundaries()
	v.Ends = r.ends()
	v.Stock = queue.Stock{At: r.instant(), Left: int(r.int()), Items: queue.Items(r.text())}
	v.Kept = r.instant()
	v.Status = r.status()
	return v, r.failure("sync")
}

// buckets reads two texts: the buckets, and how many people each has.
func (r *reader) buckets() (list []queue.BucketCount) {
	buckets, counts := strings.Fields(r.text()), strings.Fields(r.text())
	if len(buckets) != len(counts) {
		r.fault("a count for each bucket")
		return nil
	}
	for i := range buckets {
		bucket, bucketErr := strconv.ParseInt(buckets[i], 10, 64)
		waiting, countErr := strconv.Atoi(counts[i])
		if bucketErr != nil || countErr != nil {
			r.fault("buckets")
			return nil
		}
		list = append(list, queue.BucketCount{Bucket: queue.Instant(bucket), Waiting: waiting})
	}
	return list
}

// boundaries reads pairs of numbers: where a bucket begins, and when everybody in it is counted there.
func (r *reader) boundaries() (list queue.Boundaries) {
	for p := r.packed(0); len(p) >= 2*8; {
		list = append(list, queue.Boundary{At: p.instant(), Settles: p.instant()})
	}
	return list
}

// ends reads how many sessions end soon; nothing is there where nobody needs to know.
func (r *reader) ends() (ends [len(queue.EndSteps)]int) {
	if p := r.packed(0); len(p) >= 8*len(ends) {
		for i := range ends {
			ends[i] = int(p.int())
		}
	}
	return ends
}

func (r *reader) rate() (perMinute float64, known bool) {
	text := r.text()
	if text == "" {
		return 0, false
	}
	perMinute, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r.fault("a rate")
	}
	return perMinute, true
}

func (r *reader) nodes() (list []uint64) {
	for name := range strings.FieldsSeq(r.text()) {
		n, err := strconv.ParseUint(name, 10, 64)
		if err != nil {
			r.fault("a node")
		}
		list = append(list, n)
	}
	return list
}

// configuration reads a configuration, whose version was read before. Nothing follows
// where the node has it already.
func (r *reader) configuration(c *queue.Configuration) {
	if len(r.list) == 0 {
		return
	}
	var d document
	if err := json.Unmarshal([]byte(r.text()), &d); err != nil && c.Version > 0 {
		r.fault("settings")
	}
	c.Settings, c.Places, c.Standstill = d.Settings, d.Places, d.Standstill
	c.Overrides, c.By = []byte(r.text()), r.text()
	if at := r.text(); at != "" {
		n, _ := strconv.ParseInt(at, 10, 64)
		c.At = queue.Instant(n)
	}
}

// line reads what a view has of the exact line; nothing follows where there is none.
func (r *reader) line(v *queue.View) {
	if len(r.list) == 0 {
		return
	}
	v.FirstNumber, v.LastNumber, v.Preferred = uint64(r.int()), uint64(r.int()), int(r.int())
	r.part(func(r *reader) { v.Turns = r.ids() })
}

func (r *reader) place() queue.Place {
	return queue.Place{Number: uint64(r.int()), Priority: int16(r.int()), Ahead: int(r.int()), Length: int(r.int())}
}

// readRoster reads what roster.lua returns.
func readRoster(reply []any) (*queue.Roster, error) {
	r := &reader{list: reply}
	roster := &queue.Roster{Now: r.instant()}
	seats, line := r.next(), r.next()
	roster.Kept = r.instant()
	for range 2 { // of those who are in, and of those in line
		r.part(func(r *reader) {
			more := r.ids()
			roster.More, roster.Truncated = append(roster.More, more...), roster.Truncated || len(more) == queue.MaxMore
		})
	}
	for len(seats.list) > 0 && seats.err == nil {
		seats.part(func(s *reader) {
			roster.Seated = append(roster.Seated, queue.Seat{Session: queue.Session{ID: s.id(), Expires: s.instant()}, AcceptedAt: s.instant(), Note: s.text()})
		})
	}
	for len(line.list) > 0 && line.err == nil {
		line.part(func(w *reader) {
			roster.Line = append(roster.Line, queue.Waiter{ID: w.id(), Place: w.place(), Until: w.instant(), Note: w.text()})
		})
	}
	r.join(seats)
	r.join(line)
	roster.Sort()
	return roster, r.failure("roster")
}
