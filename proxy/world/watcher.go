package world

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// filmPath begins the path of an answer that lasts for so many milliseconds.
const filmPath = "/film/"

// watcher is an app that has the site answer for longer than a session lasts.
func (v *visitor) watcher() {
	for !v.fedUp() {
		a := v.ask(request{accept: asJSON})
		switch {
		case a.in():
			lasts := v.world.plan.Settings.SessionDuration + v.upTo(2*v.world.plan.Settings.SessionDuration)
			if v.ask(request{accept: asJSON, path: fmt.Sprint(filmPath, lasts.Milliseconds())}).in() && v.browse(asJSON) {
				return
			}
		case a.waits():
			v.waitMore(a.retry())
		default:
			v.waitMore(v.around(4 * time.Second))
		}
	}
	v.giveUp()
}

// play answers for as long as the request says, unless the world or the connection ends before.
func (s *site) play(r *http.Request, p *process, e Event) {
	length, isFilm := strings.CutPrefix(r.URL.Path, filmPath)
	if !isFilm || e.What != Seen {
		return
	}
	lasts, _ := strconv.Atoi(length)
	rest := max(s.history.Plan.Lasts-s.history.now(), 0) + time.Duration(e.Who)*time.Microsecond // each ends at a moment of its own
	timer := time.NewTimer(min(time.Duration(lasts)*time.Millisecond, rest))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		return
	}
	p.run()
	if !p.dead.Load() {
		e.What = Watched
		s.history.add(e)
	}
}
