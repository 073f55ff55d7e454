// Package left lets a site tell how many of the things that it sells are left, and at what price, by
// headers of its answers.
package left

import (
	"context"
	"errors"
	"fmt"
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

const (
	// Header is the header by which a site tells how much is left.
	Header = "Fairdoor-Left"
	// ItemsHeader is the header by which it tells what is left of each item: a list of [queue.Item] in
	// JSON. Where it does not tell how much is left, that is the sum of all items of the room.
	ItemsHeader = "Fairdoor-Items"
)

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
func (*Feature) Headers() []string { return []string{Header, ItemsHeader} }

// Told implements [feature.Listener]: the room of a request takes in how much is left, and the
// number is kept from the visitor. A number is of the moment at which its request was sent: however
// long an answer took, it does not count against one to a later request.
func (*Feature) Told(resp *http.Response) {
	number, list := taken(resp.Header, Header), taken(resp.Header, ItemsHeader)
	if number == "" && list == "" {
		return
	}
	a, ok := resp.Request.Context().Value(askedKey{}).(asked)
	if !ok {
		return
	}
	settings := a.room.Settings()
	left, items, err := said(number, list, settings.Items)
	if err != nil {
		if !a.warned.Swap(true) {
			a.room.Setup().Log.Warn("what the origin says is left cannot be used, and is passed over; so is what else cannot", zap.Error(err))
		}
		return
	}
	if a.room.Queue.HearLeft(a.at, left, items) {
		a.room.SyncSoon(a.gate.Now())
	}
}

// taken takes a header from an answer: its last line, "" without one.
func taken(h http.Header, name string) string {
	lines := h[name]
	delete(h, name)
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// said is how much is left by the two headers, of which one may be missing, in a room with these
// items.
func said(number, list string, listed queue.Items) (left int, items queue.Items, err error) {
	if list != "" {
		if items, err = queue.ParseItems([]byte(list)); err != nil {
			return 0, "", fmt.Errorf("%s %w", ItemsHeader, err)
		}
		if items == "" {
			items = queue.NoItems
		}
	}
	if number == "" {
		left, known := listed.With(items).Left()
		if !known {
			return 0, "", errors.New(ItemsHeader + " leaves it open how many are left of an item, and there is no " + Header)
		}
		return left, items, nil
	}
	n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 32)
	if err != nil || n > queue.MaxLeftItems {
		return 0, "", fmt.Errorf("%s is %.40q, which is no number of things", Header, number)
	}
	return int(n), items, nil
}
