package proxy

import (
	"github.com/fairdoor-gate/fairdoor/proxy/accesslog"
	"github.com/fairdoor-gate/fairdoor/proxy/admissions"
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
	"github.com/fairdoor-gate/fairdoor/proxy/occupants"
	"github.com/fairdoor-gate/fairdoor/proxy/passes"
	"github.com/fairdoor-gate/fairdoor/proxy/quit"
	"github.com/fairdoor-gate/fairdoor/proxy/shed"
	"github.com/fairdoor-gate/fairdoor/proxy/traces"
	"github.com/fairdoor-gate/fairdoor/proxy/watch"
	"github.com/fairdoor-gate/fairdoor/proxy/why"
)

// newFeatures returns what rooms may have beside their limits, in the order in which they are
// asked. The challenge comes behind the waitlist and passes: those whom they know need not pass it.
func newFeatures(g feature.Gate, o *Options) []feature.Feature {
	all := []feature.Feature{
		guests.NewFeature(g),
		passes.NewFeature(g),
		challenge.NewFeature(g),
		move.NewFeature(g),
		quit.NewFeature(g),
		why.NewFeature(g),
		occupants.NewFeature(g),
		callback.NewFeature(g),
		edge.NewFeature(g),
		left.NewFeature(g),
		measure.NewFeature(g),
		watch.NewFeature(g, o.Certificates),
		draws.NewFeature(g),
		endless.NewFeature(g),
		check.NewFeature(g),
		history.NewFeature(g, o.History),
	}
	if o.Traces != nil {
		all = append(all, traces.NewFeature(g, o.Traces))
	}
	if o.AccessLog.To != nil {
		all = append(all, accesslog.NewFeature(g, o.AccessLog))
	}
	if o.Admissions > 0 && o.StateDir != "" {
		all = append(all, admissions.NewFeature(g, o.Admissions))
	}
	return append(all, shed.NewFeature(g)) // behind those that only look: it may not come back
}

// RoomOptions are what the configuration of a room says of features.
type RoomOptions struct {
	Guests    guests.RoomOptions    `yaml:",inline"`
	Passes    passes.RoomOptions    `yaml:",inline"`
	Challenge challenge.Config      `yaml:"challenge"`
	CallBack  callback.RoomOptions  `yaml:",inline"`
	Occupants occupants.RoomOptions `yaml:"occupants"`
}
