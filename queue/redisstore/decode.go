package redisstore

import (
	"encoding/json"
	"fmt"
	"strconv"

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

func (r *reader) standing() queue.Standing {
	s := r.next()
	standing := queue.Standing{
		Now: s.instant(), Epoch: s.text(), WantWhole: s.int() == 1,
		Active: int(s.int()), Admitted: int(s.int()), Open: int(s.int()), Present: int(s.int()),
		NextOpen: s.instant(), Recovering: s.int() == 1,
	}
	r.join(s)
	return standing
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
	v := &queue.View{Standing: r.standing()}
	buckets, counts := r.next(), r.next()
	for len(buckets.list) > 0 && buckets.err == nil && counts.err == nil {
		v.Buckets = append(v.Buckets, queue.BucketCount{Bucket: buckets.instant(), Waiting: int(counts.int())})
	}
	if rate := r.text(); rate != "" {
		v.Rate, r.err = strconv.ParseFloat(rate, 64)
		v.RateKnown = true
	}
	revoked, entered, nodes := r.next(), r.next(), r.next()
	v.Revoked, v.Entered = revoked.sessions(), entered.sessions()
	for len(nodes.list) > 0 && nodes.err == nil {
		n, err := strconv.ParseUint(nodes.text(), 10, 64)
		if err != nil {
			nodes.fault("a node")
		}
		v.Nodes = append(v.Nodes, n)
	}
	v.Configuration.Version = r.int()
	if c := r.next(); len(c.list) > 0 {
		if err := json.Unmarshal([]byte(c.text()), &v.Configuration.Settings); err != nil && v.Configuration.Version > 0 {
			c.fault("settings")
		}
		v.Configuration.Overrides, v.Configuration.By = []byte(c.text()), c.text()
		if at := c.text(); at != "" {
			n, _ := strconv.ParseInt(at, 10, 64)
			v.Configuration.At = queue.Instant(n)
		}
		r.join(c)
	}
	for _, part := range []*reader{buckets, counts, revoked, entered, nodes} {
		r.join(part)
	}
	return v, r.failure("sync")
}
