package admin

import (
	"net/http"
	"slices"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// stateGroups are the states of [templates.States] in plain words, by what their names begin with.
var stateGroups = []struct {
	name string
	of   []string // none: all others
}{
	{"In order of arrival (fifo)", []string{"fifo"}},
	{"Each check-in is a draw (random)", []string{"random"}},
	{"In an exact line (line)", []string{"line"}},
	{"An event", []string{"prequeue", "event"}},
	{"Nobody is let in", []string{"paused", "queue all", "held", "reject", "sold out"}},
	{"More that the page can tell", nil},
}

// stateWords are the parts of the names of states in plain words.
var stateWords = map[string]string{
	"fifo": "in order of arrival", "random": "by draw", "line": "in an exact line", "passthrough": "where everybody passes else", "reject": "everybody is turned away",
	"first seconds": "in the first seconds", "one minute": "a minute", "hours": "hours", "longer than told": "longer than the page tells", "wait unknown": "a wait that is not known",
	"place unknown": "a place that is not known", "next": "next in line", "one figure": "a short wait", "full": "nobody gets a place any more",
	"paused": "store or origin does not answer", "queue all": "operators hold everybody new", "held": "operators hold those who are in, too",
	"prequeue": "before the start", "soon": "in a minute", "shuffle": "the order will be drawn", "event": "after the start", "shuffled": "the order was drawn",
	"left": "how much is left", "items": "what there is to buy", "rejoined": "who came back too late", "identity": "name and colours", "not sent": "a form that was not sent on",
}

// stateChoices are the states that a preview can show, in groups and in plain words.
func stateChoices() (groups []dashboard.Choices) {
	rest := map[string]bool{}
	for _, s := range templates.States() {
		rest[s.Name] = true
	}
	for _, group := range stateGroups {
		g := dashboard.Choices{Name: group.name}
		for _, s := range templates.States() {
			parts := strings.Split(s.Name, ", ")
			if !rest[s.Name] || group.of != nil && !slices.Contains(group.of, parts[0]) {
				continue
			}
			delete(rest, s.Name)
			if len(group.of) == 1 { // which the group's name says
				if parts = parts[1:]; len(parts) == 0 {
					parts = []string{"as usual"}
				}
			}
			for i, part := range parts {
				if words, found := stateWords[part]; found {
					parts[i] = words
				}
			}
			g.Choices = append(g.Choices, dashboard.Choice{Key: s.Name, Name: strings.Join(parts, ", ")})
		}
		groups = append(groups, g)
	}
	return groups
}

// showPreview answers with the page of a room as visitors see it. It may be framed by the dashboard.
func (a *api) showPreview(w http.ResponseWriter, r *http.Request, of Room) {
	asked := r.URL.Query()
	page, policy, found := of.Preview(a.Clock(), asked.Get("state"), asked.Get("lang"), asked.Get("message"))
	if !found {
		reply.Problem(w, http.StatusNotFound, "There is no such state.")
		return
	}
	dashboard.SetHeaders(w.Header(), strings.TrimPrefix(policy+"; sandbox; frame-ancestors 'self'", "; "))
	w.Header().Set("X-Frame-Options", "SAMEORIGIN")
	_, _ = w.Write(page) // whoever asked may be gone
}
