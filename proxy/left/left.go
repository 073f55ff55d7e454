// Package left lets a site tell how many of the things that it sells are left, by a header of its
// answers.
package left

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// Command is what a room allows its site to send that tells how much is left.
const Command = "left"

// Header is the header by which a site tells how much is left.
const Header = "Fairdoor-Left"

// Feature hears how much is left in the rooms of a gate.
type Feature struct{ gate feature.Gate }

// NewFeature returns what hears how much is left in the rooms of a gate.
func NewFeature(g feature.Gate) *Feature { return &Feature{g} }

// part is what a room has to hear how much is left.
type part struct {
	gate   feature.Gate
	warned atomic.Bool // of a number that makes no sense
}

// Part implements [feature.Feature].
func (f *Feature) Part(_ context.Context, s *feature.Setup) (feature.Part, error) {
	if !s.Config.Commands.Has(Command) {
		return nil, nil
	}
	return &part{gate: f.gate}, nil
}

// For implements [feature.Sharer]: each room of a family warns by itself.
func (p *part) For(*feature.Setup) (feature.Part, error) { return &part{gate: p.gate}, nil }

// asked is a request whose answer may tell how much is left, and when it was sent.
type asked struct {
	*part
	room *feature.Room
	at   time.Time
}

type askedKey struct{}

// Ask implements [feature.Asker].
func (p *part) Ask(r *http.Request, of *feature.Room, _ *feature.Visit) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), askedKey{}, asked{p, of, p.gate.Now()}))
}

// Headers implements [feature.Listener].
func (*Feature) Headers() []string { return []string{Header} }

// Told implements [feature.Listener]: the room of a request takes in how much is left, and the
// number is kept from the visitor. A number is of the moment at which its request was sent: however
// long an answer took, it does not count against one to a later request.
func (*Feature) Told(resp *http.Response) {
	lines := resp.Header[Header]
	if len(lines) == 0 {
		return
	}
	delete(resp.Header, Header)
	a, ok := resp.Request.Context().Value(askedKey{}).(asked)
	if !ok {
		return
	}
	last := lines[len(lines)-1]
	left, err := strconv.ParseUint(strings.TrimSpace(last), 10, 32)
	if err != nil || left > queue.MaxLeftItems {
		if !a.warned.Swap(true) {
			a.room.Setup().Log.Warn("the origin's "+Header+" is no number of things, and is passed over; so are others like it", zap.String("value", last))
		}
		return
	}
	if a.room.Queue.HearLeft(a.at, int(left)) {
		a.room.SyncSoon(a.gate.Now())
	}
}
