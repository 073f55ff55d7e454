package world

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

// formPath is where the site takes forms.
const formPath = "/order"

// buyer is somebody who loads pages and sends forms, also while they wait: each is another.
func (v *visitor) buyer() {
	for sent := 0; !v.fedUp(); {
		var a *answer
		if v.random.IntN(3) > 0 {
			a = v.ask(request{accept: asHTML})
		} else {
			sent++
			a = v.sendForm(fmt.Sprintf("order=%d.%d", v.Number, sent))
		}
		if !a.in() {
			v.waitMore(v.around(v.world.plan.Settings.RefreshInterval))
		} else if v.browse(asHTML) {
			return
		}
	}
	v.giveUp()
}

// sendForm sends a form, and notes what became of it.
func (v *visitor) sendForm(form string) *answer {
	a := v.ask(request{method: http.MethodPost, path: formPath, accept: asHTML, form: form})
	switch {
	case a.in():
		v.note(Event{What: Form, Gate: a.gate, Outcome: Served, Text: form})
	case a.waits():
		v.note(Event{What: Form, Gate: a.gate, Outcome: Waits, Text: form})
	}
	return a
}

// takeForm notes that the site has a form, if the request brings one.
func (s *site) takeForm(r *http.Request, who int) {
	if r.Method != http.MethodPost || r.URL.Path != formPath {
		return
	}
	form, err := io.ReadAll(r.Body)
	if err == nil {
		s.history.add(Event{What: Form, Who: who, Outcome: Seen, Text: string(form)})
	}
}

// ofForm tells what becomes of a form.
func (e *Event) ofForm() string {
	if e.Outcome == Seen {
		return "has sent the form " + e.Text + ", and the site has it"
	}
	if e.Outcome == Served {
		return "has the site's answer to the form " + e.Text
	}
	return "is told that the form " + e.Text + " was not sent"
}

// checkForms finds forms of which their sender is told that the site has them, and it has them not,
// or not once; and the other way round.
func checkForms(h *History, breach func(time.Duration, string, ...any)) {
	has := map[string]int{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.What != Form {
			continue
		}
		n := has[e.Text]
		switch {
		case e.Outcome == Seen:
			has[e.Text]++
		case e.Outcome == Served && n != 1:
			breach(e.At, "%s has the site's answer to the form %s, which it has %d times", h.Plan.People[e.Who].Name, e.Text, n)
		case e.Outcome == Waits && n != 0:
			breach(e.At, "%s is told by gate %d that the form %s was not sent, and the site has it", h.Plan.People[e.Who].Name, e.Gate, e.Text)
		}
	}
}
