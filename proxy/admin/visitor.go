package admin

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

// searchVisitors answers with the visitors whom an operator looks for; with the page of the only
// one, if there is one.
func (a *api) searchVisitors(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	var found FoundJSON
	if q != "" {
		found = a.find(ctx, q)
	}
	if len(found.Visitors) == 1 {
		v := found.Visitors[0]
		http.Redirect(w, r, "/rooms/"+v.Room+"/visitors/"+v.SupportCode, http.StatusSeeOther)
		return
	}
	v := dashboard.Visitors{Frame: a.frame(r, "Visitors"), Query: q, Failing: found.Failing}
	for _, one := range found.Visitors {
		v.Found = append(v.Found, dashboard.Found{Room: one.Room, Code: one.SupportCode, Label: one.Label, Status: one.Status})
	}
	a.show(v.Write(w, r))
}

// showVisitor answers with where one visitor is.
func (a *api) showVisitor(w http.ResponseWriter, r *http.Request, of Room) {
	code, ok := CodeIn(r.PathValue("code"))
	if !ok {
		a.problem(w, r, http.StatusNotFound, "A support code has eight letters and digits, such as 7F3K-Q2M9.")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	v := dashboard.Visitor{Frame: a.roomFrame(r, of, "-"), Code: code, Ahead: of.IsAhead(a.Clock(), code)}
	v.Title, v.Live = code+" · "+v.Room.Name, true
	list, err := a.findIn(ctx, of, code)
	v.Failing = err != nil
	if at := slices.IndexFunc(list, func(one FoundVisitor) bool { return one.SupportCode == code }); at >= 0 {
		one := list[at]
		v.Known, v.Label, v.Active = true, one.Label, one.Status == "active"
		for _, s := range one.Story {
			v.Story = append(v.Story, dashboard.Sentence(s))
		}
	}
	a.show(v.Write(w, r))
}

// What operators do to a visitor in the dashboard, as forms have it.
var visitorDeeds = map[string]struct {
	question, text, done string
	final                bool
	undo                 string
}{
	"ahead": {"Let them in next?", "When their page asks next, the next free slot is theirs. Everybody else waits one place longer.", "is ahead of everybody who waits.", false, "back"},
	"back":  {"Give them back their own place?", "They wait where they would be if nobody had put them ahead.", "has their own place again.", false, "ahead"},
	"renew": {"Renew their session?", "It lasts as long as if they had asked for a page now.", "has a renewed session.", true, ""},
	"end":   {"End their session?", "They are out, or out of the exact line, and come back as a newcomer.", "is out.", true, ""},
}

// askAboutVisitor answers with the question whether something is to be done to a visitor.
func (a *api) askAboutVisitor(w http.ResponseWriter, r *http.Request, of Room) {
	if !a.readForm(w, r, of) {
		return
	}
	code, what := r.PathValue("code"), r.PostFormValue("do")
	deed, known := visitorDeeds[what]
	if !known {
		a.refuse(w, r, of, http.StatusNotFound, "Nothing was changed.", nil)
		return
	}
	page := pageOf(of, "visitors/"+url.PathEscape(code))
	q := dashboard.Question{Frame: a.roomFrame(r, of, "-"), Action: page + "/change", Back: page, Text: deed.text, Final: deed.final, Fields: map[string]string{"do": what}}
	q.Title = code + ": " + deed.question
	if what == "ahead" {
		q.Warnings = a.whyTheyWait(of)
	}
	a.show(q.Write(w, r))
}

// whyTheyWait says why somebody goes on waiting who is put ahead; nothing if the next slot is free.
func (a *api) whyTheyWait(of Room) []string {
	s := a.statusOf(of, of.Queue().Numbers())
	if s.Reason == estimate.NoReason || s.Reason == estimate.KeptForPeopleAhead {
		return nil
	}
	why := []string{"They are the first then, and go on waiting for now. " + s.ReasonText}
	if s.Reason == estimate.LimitReached {
		why = append(why, fmt.Sprintf("To have them in at once, put them first, and then raise total_active_users to %d.", s.ActiveUsers+1))
	}
	return why
}

// changeVisitor does to a visitor what its operator has been asked about, or takes it back.
func (a *api) changeVisitor(w http.ResponseWriter, r *http.Request, of Room) {
	if !a.readForm(w, r, of) {
		return
	}
	code, what := r.PathValue("code"), r.PostFormValue("do")
	page := pageOf(of, "visitors/"+url.PathEscape(code))
	found, err := a.doToVisitor(r, of, code, what)
	switch {
	case err != nil:
		status, detail, faults := unchanged(err)
		a.refuse(w, r, of, status, detail, faults)
	case !found:
		a.refuse(w, r, of, http.StatusNotFound, "Nothing was changed: nobody of this code is in, or in an exact line.", nil)
	default:
		deed := visitorDeeds[what]
		done := &dashboard.Done{Text: code + " " + deed.done}
		if deed.undo != "" && !hasLine(of) { // where who was put ahead stays there
			done.Undo = &dashboard.Undo{Action: page + "/change", Fields: map[string]string{"do": deed.undo}}
		}
		a.tell(w, r, page, done)
	}
}

// doToVisitor does something to the visitor of a support code, and says whether there is one.
func (a *api) doToVisitor(r *http.Request, of Room, code, what string) (found bool, err error) {
	if what == "ahead" || what == "back" {
		clean, ok := a.codeOf(of, "code:"+code)
		if !ok {
			return false, nil
		}
		if what == "back" && a.codesIn(r.Context(), of)[clean] {
			return true, &overrides.FaultsError{Faults: []string{"they are in by now"}}
		}
		return true, a.favour(r, of, clean, what == "ahead")
	}
	id, found, err := a.idBehind(r.Context(), of, code)
	if err != nil || !found {
		return found, err
	}
	switch what {
	case "renew":
		if err = of.Queue().Renew(r.Context(), a.Clock(), id); err == nil {
			a.noteVisitor(r, of, visitorRenewed, id)
		}
	case "end":
		if found, err = of.Queue().Remove(r.Context(), a.Clock(), id); found && err == nil {
			of.Disconnect(id)
			a.noteVisitor(r, of, visitorRemoved, id)
		}
	default:
		return false, nil
	}
	return found, err
}
