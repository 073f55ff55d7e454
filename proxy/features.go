package proxy

import (
	"github.com/fairdoor-gate/fairdoor/proxy/callback"
	"github.com/fairdoor-gate/fairdoor/proxy/challenge"
	"github.com/fairdoor-gate/fairdoor/proxy/draws"
	"github.com/fairdoor-gate/fairdoor/proxy/edge"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/proxy/left"
	"github.com/fairdoor-gate/fairdoor/proxy/measure"
	"github.com/fairdoor-gate/fairdoor/proxy/move"
	"github.com/fairdoor-gate/fairdoor/proxy/passes"
	"github.com/fairdoor-gate/fairdoor/proxy/watch"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
)

// newFeatures returns what rooms may have beside their limits, in the order in which they are asked.
func newFeatures(g feature.Gate) []feature.Feature {
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
	}
}

// waitlistsOf are the waitlists of a gate, which admins and the metrics ask about.
func waitlistsOf(g *Gate) *guests.Feature { return featureOf[*guests.Feature](g) }

// passesOf are the passes of a gate, which admins ask about.
func passesOf(g *Gate) *passes.Feature { return featureOf[*passes.Feature](g) }

// webhooksOf are the webhooks of a gate, which admins and the metrics ask about.
func webhooksOf(g *Gate) *webhooks.Sender { return featureOf[*watch.Feature](g).Sender() }

// drawsOf are the draws of a gate, whose orders admins ask about.
func drawsOf(g *Gate) *draws.Feature { return featureOf[*draws.Feature](g) }

func featureOf[F feature.Feature](g *Gate) (f F) {
	for _, of := range g.features {
		if f, ok := of.(F); ok {
			return f
		}
	}
	return f
}
