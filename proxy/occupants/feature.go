// Package occupants tells the programs of a site who is in a room and who waits in its line, with
// what the site says of each, and hears that in a header of the site's answers.
//
// A site says it of a visitor in a claim of their token, in a header of a trusted proxy
// (subject.label), or in [Header] of its answers to them. The store keeps it: see [queue.Note].
//
//	feature.go  whom it tells, and what it hears
//	list.go     who is there, in JSON
//	stream.go   the same as it changes
package occupants

import (
	"context"
	"net/http"
	"strings"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/bearer"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// Header is the header by which a site says something of the visitor whom it answers: JSON, of
// [queue.MaxNote] bytes at most.
const Header = "Fairdoor-Visitor"

// RoomOptions are what a room's configuration says of who is told of its occupants: nobody without
// keys, and the header is passed over then.
type RoomOptions struct {
	Keys []string `yaml:"keys" is:"program's key" of:"keys" outside:"env" usage:"keys of the site's programs that are told who is in and who waits"`
}

// Feature tells of the occupants of a gate's rooms.
type Feature struct {
	gate  feature.Gate
	ended chan struct{} // closed when the gate drains
}

// NewFeature returns what tells of the occupants of a gate's rooms.
func NewFeature(g feature.Gate) *Feature { return &Feature{gate: g, ended: make(chan struct{})} }

// Part is what a room has to tell of its occupants.
type Part struct {
	gate feature.Gate
	keys []string
}

// Part implements [feature.Feature].
func (f *Feature) Part(_ context.Context, s *feature.Setup) (feature.Part, error) {
	keys := config.OptionsOf[RoomOptions](&s.Config).Keys
	if len(keys) == 0 {
		return nil, nil
	}
	return &Part{gate: f.gate, keys: keys}, nil
}

// Drain implements [feature.Drainer]: the streams end, and programs open others elsewhere.
func (f *Feature) Drain() { close(f.ended) }

// Paths implements [feature.Owner].
func (f *Feature) Paths() []feature.Path {
	return []feature.Path{{Name: "occupants", Method: http.MethodGet, Serve: f.serve}}
}

// serve tells who is in the room that is asked about, and who waits in its line.
func (f *Feature) serve(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("room")
	switch p := f.partOf(name); {
	case p == nil:
		reply.Problem(w, http.StatusNotFound, "There is no such room, or its occupants are not told: it needs occupants.keys.")
		return
	case !bearer.Is(bearer.Token(r), p.keys...):
		bearer.Refuse(w, "one of the room's occupants.keys")
		return
	}
	of, err := f.gate.OpenRoom(r.Context(), name)
	switch {
	case err != nil:
		f.gate.Log().Error("occupants not known", zap.String("room", name), zap.Error(err))
		reply.Problem(w, http.StatusServiceUnavailable, "The room could not be opened.")
	case of == nil:
		reply.Problem(w, http.StatusNotFound, "There is no such room.")
	case feature.WantsEvents(r):
		f.stream(w, r, of)
	default:
		all, err := of.Queue.Everybody(r.Context())
		if err != nil {
			f.away(w, of, err)
			return
		}
		reply.JSON(w, listOf(of, all))
	}
}

// away answers while the store does not.
func (f *Feature) away(w http.ResponseWriter, of *feature.Room, err error) {
	of.Setup().Log.Error("occupants not known", zap.Error(err))
	reply.Problem(w, http.StatusServiceUnavailable, "The store does not answer.")
}

// partOf is the part of a room, or of the family that it is of; nil for none.
func (f *Feature) partOf(room string) *Part {
	name, _, _ := strings.Cut(room, ".")
	for s := range f.gate.Setups() {
		if s.Config.Name == name {
			p, _ := feature.PartOf[*Part](s)
			return p
		}
	}
	return nil
}

// HearsOfVisitors implements [feature.Hearer].
func (*Part) HearsOfVisitors() {}

// about is a request whose answer may say something of its visitor.
type about struct {
	*Part
	room   *feature.Room
	ticket queue.Ticket
}

type aboutKey struct{}

// Ask implements [feature.Asker].
func (p *Part) Ask(r *http.Request, of *feature.Room, v *feature.Visit) *http.Request {
	if v == nil || v.Decided.State != queue.Accepted {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), aboutKey{}, about{p, of, v.Decided}))
}

// Headers implements [feature.Listener].
func (*Feature) Headers() []string { return []string{Header} }

// Told implements [feature.Listener]: the store has what the site says before its answer goes on, and
// the visitor never sees the header.
func (*Feature) Told(resp *http.Response) {
	lines := resp.Header[Header]
	if len(lines) == 0 {
		return
	}
	delete(resp.Header, Header)
	if a, ok := resp.Request.Context().Value(aboutKey{}).(about); ok {
		a.room.Say(resp.Request.WithContext(context.WithoutCancel(resp.Request.Context())), a.gate.Now(), &a.ticket, lines[len(lines)-1])
	}
}
