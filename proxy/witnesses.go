package proxy

import (
	"net/http"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// witnesses are the features that are told of requests.
type witnesses []feature.Witness

func witnessesOf(features []feature.Feature) (all witnesses) {
	for _, f := range features {
		if f, ok := f.(feature.Witness); ok {
			all = append(all, f)
		}
	}
	return all
}

func (all witnesses) visit(r *http.Request, v *feature.Visit, d *room.Decision) {
	for _, f := range all {
		f.Visit(r, v, d)
	}
}

func (all witnesses) aside(r *http.Request) {
	for _, f := range all {
		f.Aside(r)
	}
}

func (all witnesses) withheld(r *http.Request, by feature.Counted) {
	for _, f := range all {
		f.Withheld(r, by)
	}
}

func (all witnesses) exempt(r *http.Request, by feature.Counted) {
	for _, f := range all {
		f.Exempt(r, by)
	}
}

func (all witnesses) renewal(r *http.Request, visitors []*feature.Visit, decisions []room.Decision) {
	for _, f := range all {
		f.Renewal(r, visitors, decisions)
	}
}
