// Package demo is what `fairdoor demo` puts behind and in front of its gate: a
// sample site with a few places, and a crowd that wants them.
//
//	Origin   the site: a page that shows who is in, and lets them leave
//	Crowd    visitors who come, wait their turn, stay a while and come again
package demo

import (
	_ "embed" // for the configurations
	"slices"
)

//go:embed demo.yaml
var open []byte

//go:embed waitlist.yaml
var invited []byte

// Configuration is the gate's, as YAML: with a waitlist, or open to everybody. Some
// variables are left to be set: ORIGIN, the URL of the site, STATE_DIR and METHOD.
func Configuration(waitlist bool) []byte {
	if waitlist {
		return slices.Clone(invited)
	}
	return slices.Clone(open)
}
