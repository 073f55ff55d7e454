package proxy

import (
	"net/http"

	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
)

// AnswerTo answers a request as if the queue had decided about it.
func (g *Gate) AnswerTo(w http.ResponseWriter, r *http.Request, d queueroom.Decision) {
	s := g.current.Load()
	room, rs := g.roomFor(w, r, s)
	v, err := room.visitor(r, rs, g.o.Clock(), s.trust)
	if err != nil {
		panic(err)
	}
	g.answer(w, r, v, d)
}
