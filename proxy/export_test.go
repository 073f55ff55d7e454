package proxy

import (
	"net/http"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
)

// AnswerTo answers a request as if the queue had decided about it.
func (g *Gate) AnswerTo(w http.ResponseWriter, r *http.Request, d queueroom.Decision) {
	s := g.current.Load()
	room, rs := g.roomFor(w, r, s)
	var v feature.Visit
	if err := v.Read(r, &room.Room, rs, g.o.Clock()); err != nil {
		panic(err)
	}
	g.answer(w, r, &v, &d)
}

// WithoutFeatures has a gate be a plain waiting room.
func (o *Options) WithoutFeatures() {
	o.features = func(feature.Gate, *Options) []feature.Feature { return nil }
}
