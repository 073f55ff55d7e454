package world

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// newHeld is the kind of fault that an operator holds everyone new: it is none of the gates'.
const newHeld = "new visitors held"

// What is noted of it.
const (
	holdBegins = "an operator holds everyone new"
	holdEnds   = "the operator lets new visitors in again"
)

// drawHold draws a time in which an operator holds everyone new.
func drawHold(p *Plan, r *rand.Rand) Fault {
	return Fault{At: p.moment(r), Lasts: 15*time.Second + time.Duration(r.Int64N(int64(90*time.Second))), Gate: 1 + r.IntN(p.Gates)}
}

// holdNew has an operator hold everyone new at one gate, which takes up its file again meanwhile.
func holdNew(w *world, f *Fault) {
	if !w.patch(f, `{"queue_all": true}`) {
		return
	}
	w.note(holdBegins)
	wait(f.Lasts / 2)
	reload(w, f)
	wait(f.Lasts / 2)
	w.note(holdEnds)
	w.patch(f, `{"queue_all": null}`)
}

// patch has an operator change the room's settings at a gate, and says whether the gate did so.
func (w *world) patch(f *Fault, change string) bool {
	for range 60 {
		if _, p := w.machines[f.Gate-1].handler(); p != nil {
			a := p.operate(http.MethodPatch, "/api/v1/rooms/"+roomName, change)
			if a.status == http.StatusOK {
				return true
			}
		}
		wait(time.Second)
	}
	return false
}

// operate is what an operator gets who asks a gate's admin API.
func (p *process) operate(method, path, body string) *answer {
	r, err := http.NewRequestWithContext(p.lives, method, path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Host, r.RemoteAddr = "127.0.0.1", "127.0.0.1:4711"
	a := &answer{header: http.Header{}, whole: true}
	p.admin.ServeHTTP(a, r)
	return a
}

// holds are the times in which an operator surely held everyone new.
func (h *History) holds() (list []admission) {
	from := never
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.What != Broke:
		case e.Text == holdBegins:
			from = min(from, e.At+rumour)
		case e.Text == holdEnds: // also what another hold had begun
			if from < e.At {
				list = append(list, admission{from, e.At})
			}
			from = never
		}
	}
	return list
}

// checkHeld finds those who were let in while everyone new was held.
func checkHeld(h *History, breach func(time.Duration, string, ...any)) {
	_, admitted := read(h)
	holds := h.holds()
	for _, a := range admitted {
		held := !h.clocksDiffer() && h.Plan.Sale.held(a.earliest, a.latest) // or else the sale begins at another moment
		for _, o := range holds {
			held = held || a.earliest >= o.earliest && a.latest < o.latest
		}
		if held && h.quietBut(newHeld, a.earliest, a.latest) {
			breach(a.latest, "somebody is let in who waited at %s, and everyone new is held", moment(a.earliest))
			return
		}
	}
}
