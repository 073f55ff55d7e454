package world

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Live changes of a room, by which of its settings.
const (
	limitLowered     = "total_active_users lowered"
	allowanceLowered = "new_users_per_minute lowered"
	methodChanged    = "queueing_method changed"
)

// What is noted of them, with the kind before it.
const (
	changeBegins = ": an operator changes it"
	changeEnds   = ": the operator changes it back"
)

// drawChange draws a time in which one of the room's settings is another.
func drawChange(p *Plan, r *rand.Rand) Fault {
	return Fault{At: p.moment(r), Lasts: 90*time.Second + time.Duration(r.Int64N(int64(3*time.Minute))), Gate: 1 + r.IntN(p.Gates)}
}

// lowered is what a limit is lowered to.
func lowered(limit int) int { return (limit + 1) / 2 }

func lowerLimit(w *world, f *Fault) {
	w.change(f, "total_active_users", fmt.Sprint(lowered(w.plan.Settings.TotalActiveUsers)))
}

func lowerAllowance(w *world, f *Fault) {
	w.change(f, "new_users_per_minute", fmt.Sprint(lowered(w.plan.Settings.NewUsersPerMinute)))
}

// changeMethod has the order be another: of fifo and random each keeps what the other goes by.
func changeMethod(w *world, f *Fault) {
	other := queue.FIFO
	if w.plan.Settings.Method == queue.FIFO {
		other = queue.Random
	}
	w.change(f, "queueing_method", fmt.Sprintf("%q", other))
}

// change has a setting of the room be another while a fault lasts.
func (w *world) change(f *Fault, setting, value string) {
	if !w.patch(f, fmt.Sprintf(`{%q: %s}`, setting, value)) {
		return
	}
	w.note("%s", f.Kind+changeBegins)
	wait(f.Lasts)
	w.note("%s", f.Kind+changeEnds)
	w.patch(f, fmt.Sprintf(`{%q: null}`, setting))
}

// changes are the times in which every gate surely knows of a change of that kind.
func (h *History) changes(kind string) (list []admission) {
	from := never
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.What != Broke || !strings.HasPrefix(e.Text, kind+":"):
		case strings.HasSuffix(e.Text, changeBegins):
			from = e.At + rumour
		case from < e.At:
			list, from = append(list, admission{from, e.At}), never
		}
	}
	return list
}

// checkLowered finds those who were let in while as many were in as a limit that was lowered has
// slots, or more, and minutes in which more were let in than an allowance that was lowered has.
func checkLowered(h *History, breach func(time.Duration, string, ...any)) {
	present, admitted := read(h)
	slots := lowered(h.Plan.Settings.TotalActiveUsers)
	for _, c := range h.changes(limitLowered) {
		for _, a := range admitted {
			if a.earliest < c.earliest || a.latest > c.latest || !h.quietBut(limitLowered, a.earliest, a.latest) {
				continue
			}
			in := map[int]bool{}
			for _, p := range present {
				if p.from < a.earliest-countTakes && p.until > a.latest {
					in[p.who] = true
				}
			}
			if len(in) >= slots {
				breach(a.latest, "somebody is let in who waited at %s, and %d are in all the time: total_active_users is %d", moment(a.earliest), len(in), slots)
				return
			}
		}
	}
	most := lowered(h.Plan.Settings.NewUsersPerMinute)
	for _, c := range h.changes(allowanceLowered) {
		minutes := map[time.Duration]int{}
		for _, a := range admitted {
			minute := a.latest.Truncate(time.Minute)
			if minute < c.earliest || minute+time.Minute > c.latest || a.earliest < minute || !h.quietBut(allowanceLowered, minute, a.latest) {
				continue
			}
			if minutes[minute]++; minutes[minute] > most {
				breach(a.latest, "%d are let in in the minute from %s on: new_users_per_minute is %d", minutes[minute], moment(minute), most)
				return
			}
		}
	}
}
