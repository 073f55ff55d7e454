package proxy

import (
	"net/http"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// shedders are the features that drop requests.
type shedders []feature.Shedder

func sheddersOf(features []feature.Feature) (all shedders) {
	for _, f := range features {
		if f, ok := f.(feature.Shedder); ok {
			all = append(all, f)
		}
	}
	return all
}

func (all shedders) visit(r *http.Request, v *feature.Visit, d *room.Decision) {
	for _, f := range all {
		f.Visit(r, v, d)
	}
}

func (all shedders) aside(r *http.Request) {
	for _, f := range all {
		f.Aside(r)
	}
}

func (all shedders) withheld(r *http.Request, by feature.Counted) {
	for _, f := range all {
		f.Withheld(r, by)
	}
}

func (all shedders) renewal(r *http.Request, visitors []*feature.Visit, decisions []room.Decision) {
	for _, f := range all {
		f.Renewal(r, visitors, decisions)
	}
}
