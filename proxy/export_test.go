package proxy

import (
	"net/http"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// AnswerTo answers a request as if the queue had decided about it.
func (g *Gate) AnswerTo(w http.ResponseWriter, r *http.Request, d room.Decision) {
	s := g.current.Load()
	room, rs := g.roomFor(w, r, s)
	var v feature.Visit
	if err := v.Read(r, &room.Room, rs, g.o.Clock()); err != nil {
		panic(err)
	}
	g.answer(w, r, &v, &d)
}

// WithFeatures has a gate have these features and no others; without any it is a plain waiting room.
func (o *Options) WithFeatures(made ...func(feature.Gate) feature.Feature) {
	o.features = func(g feature.Gate, _ *Options) (all []feature.Feature) {
		for _, f := range made {
			all = append(all, f(g))
		}
		return all
	}
}
