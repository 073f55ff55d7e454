package proxy

import (
	"iter"
	"slices"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/callback"
	"github.com/fairdoor-gate/fairdoor/proxy/challenge"
	"github.com/fairdoor-gate/fairdoor/proxy/check"
	"github.com/fairdoor-gate/fairdoor/proxy/draws"
	"github.com/fairdoor-gate/fairdoor/proxy/edge"
	"github.com/fairdoor-gate/fairdoor/proxy/endless"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/proxy/history"
	"github.com/fairdoor-gate/fairdoor/proxy/left"
	"github.com/fairdoor-gate/fairdoor/proxy/measure"
	"github.com/fairdoor-gate/fairdoor/proxy/move"
	"github.com/fairdoor-gate/fairdoor/proxy/passes"
	"github.com/fairdoor-gate/fairdoor/proxy/shed"
	"github.com/fairdoor-gate/fairdoor/proxy/watch"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
)

// newFeatures returns what rooms may have beside their limits, in the order in which they are
// asked. The challenge comes behind the waitlist and passes: those whom they know need not pass it.
func newFeatures(g feature.Gate, o *Options) []feature.Feature {
	return []feature.Feature{
		guests.NewFeature(g),
		passes.NewFeature(g),
		challenge.NewFeature(g),
		move.NewFeature(g),
		callback.NewFeature(g),
		edge.NewFeature(g),
		left.NewFeature(g),
		measure.NewFeature(g),
		watch.NewFeature(g),
		draws.NewFeature(g),
		endless.NewFeature(g),
		check.NewFeature(g),
		history.NewFeature(g, o.History),
		shed.NewFeature(g),
	}
}

// RoomOptions are what the configuration of a room says of features.
type RoomOptions struct {
	Guests    guests.RoomOptions   `yaml:",inline"`
	Passes    passes.RoomOptions   `yaml:",inline"`
	Challenge challenge.Config     `yaml:"challenge"`
	CallBack  callback.RoomOptions `yaml:",inline"`
}

// What follows is what admins and the metrics ask of single features. Where the gate has none of
// them, there is nothing to tell.

func waitlistsOf(g *Gate) iter.Seq[*guests.Waitlist] {
	if f, ok := featureOf[*guests.Feature](g); ok {
		return f.All()
	}
	return slices.Values[[]*guests.Waitlist](nil)
}

func passesOf(g *Gate, room string) *passes.Room {
	if f, ok := featureOf[*passes.Feature](g); ok {
		return f.Of(room)
	}
	return nil
}

func webhooksOf(g *Gate) *webhooks.Sender {
	if f, ok := featureOf[*watch.Feature](g); ok {
		return f.Sender()
	}
	return new(webhooks.Sender)
}

func drawsOf(g *Gate) *draws.Book {
	if f, ok := featureOf[*draws.Feature](g); ok {
		return f.Book
	}
	return draws.Open("")
}

func recordOf(g *Gate) admin.Record {
	if f, ok := featureOf[*history.Feature](g); ok {
		return f
	}
	return g.o.History
}

func featureOf[F feature.Feature](g *Gate) (f F, ok bool) {
	for _, of := range g.features {
		if f, ok = of.(F); ok {
			break
		}
	}
	return f, ok
}
