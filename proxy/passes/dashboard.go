package passes

import (
	"cmp"
	"context"
	_ "embed" // for the pages
	"encoding/json"
	"html/template"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/qrcode"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

const (
	// maxShown is how many passes the dashboard lists.
	maxShown = 100
	// mostLinks is how many links it makes at once: each is shown.
	mostLinks = 100
)

var (
	//go:embed list.html
	listSource string
	//go:embed one.html
	oneSource string
	//go:embed order.html
	orderSource string

	listPage, onePage, orderPart = dashboard.NewSection(listSource), dashboard.NewSection(oneSource), dashboard.NewSection(orderSource)
)

// tab is the page of the passes of a room, and what it leads to.
func (o operators) tab() admin.Tab {
	const all = "/rooms/{room}/passes"
	return admin.Tab{
		Path: "passes", Name: "Passes",
		Of: func(in admin.Room) bool { return o.passes.Of(in.Queue().Name()) != nil },
		Pages: []admin.Resource{
			{Pattern: "GET " + all, Answer: o.withPasses(o.showPasses)},
			{Pattern: "GET " + all + "/{pass}", Answer: o.withPasses(o.showPass)},
			{Pattern: "POST " + all + "/ask", Answer: o.withPasses(o.ask)},
			{Pattern: "POST " + all + "/change", Answer: admin.Patient(o.withPasses(o.change))},
		},
	}
}

// kindsInWords say what passes are good for.
var kindsInWords = map[waitlist.PassKind]string{
	waitlist.PassIn: "in with the next free slot", waitlist.PassAhead: "ahead of everybody without a pass", waitlist.PassJoin: "may join the line",
}

// shown is a pass on a page.
type shown struct {
	waitlist.Pass
	Room, For string
	State     string // in a word: good, used up, expired or revoked
}

func (o operators) shownOf(p waitlist.Pass) shown {
	s := shown{p, p.Room, kindsInWords[p.Kind], "good"}
	switch {
	case !p.RevokedAt.IsZero():
		s.State = "revoked"
	case !o.passes.gate.Now().Before(p.ExpiresAt):
		s.State = "expired"
	case p.Used >= p.Uses:
		s.State = "used up"
	}
	return s
}

// shownOfAll is the first pass that can be used, or else the first, with the uses of all.
func (o operators) shownOfAll(list []waitlist.Pass) shown {
	i := slices.IndexFunc(list, func(p waitlist.Pass) bool { return o.shownOf(p).State == "good" })
	s := o.shownOf(list[max(0, i)])
	s.Used, s.Uses = 0, 0
	for _, p := range list {
		s.Used, s.Uses = s.Used+p.Used, s.Uses+p.Uses
	}
	return s
}

// show answers with a page of the passes.
func (o operators) show(w http.ResponseWriter, r *http.Request, in admin.Room, path string, page dashboard.Section, about any) {
	text, err := page.Show(about)
	if err != nil {
		o.failed(w, r, in, err)
		return
	}
	o.ShowPage(w, r, in, path, text)
}

// failed answers where something could not be done.
func (o operators) failed(w http.ResponseWriter, r *http.Request, in admin.Room, err error) {
	o.Refuse(w, r, in, http.StatusServiceUnavailable, o.why(in, err))
}

func (o operators) showPasses(w http.ResponseWriter, r *http.Request, in admin.Room, of *Room) {
	list, err := of.o.Record.Latest(r.Context(), of.Config.Room, maxShown+1)
	if err != nil {
		o.failed(w, r, in, err)
		return
	}
	view := struct {
		Room, Site string
		Most       int
		More, Only bool
		Passes     []shown
	}{Room: of.Config.Room, Site: of.site(), Most: maxShown, More: len(list) > maxShown, Only: of.Only}
	for _, p := range list[:min(len(list), maxShown)] {
		view.Passes = append(view.Passes, o.shownOf(p))
	}
	o.show(w, r, in, "passes", listPage, view)
}

// link is a way to use a pass.
type link struct {
	Code    string // known only for a while after the pass is made
	URL     string
	Picture template.URL // of the URL; "" for none
}

// showPass answers with one pass, or with those that were just made at once.
func (o operators) showPass(w http.ResponseWriter, r *http.Request, in admin.Room, of *Room) {
	list, err := of.o.Record.Called(r.Context(), of.Config.Room, r.PathValue("pass"), mostLinks)
	if err != nil || len(list) == 0 {
		if err == nil {
			o.Refuse(w, r, in, http.StatusNotFound, "No pass has this id or name.")
			return
		}
		o.failed(w, r, in, err)
		return
	}
	view := struct {
		shown
		Site   string
		Links  []link
		Hidden string // why there are none; "" for that nobody can use it
		Count  int    // how many passes they are
	}{shown: o.shownOfAll(list), Count: len(list), Site: cmp.Or(siteIn(r.URL.Query().Get("site")), of.site())}
	for _, p := range list {
		if o.shownOf(p).State != "good" {
			continue
		}
		if !o.IsOperator(r) {
			view.Hidden = admin.ForOperators
			break
		}
		path, err := of.Link(p.ID)
		if err != nil {
			o.failed(w, r, in, err)
			return
		}
		one := link{Code: of.known.codeOf(p.ID, o.passes.gate.Now()), URL: view.Site + path}
		if view.Site != "" && len(list) == 1 {
			picture, err := qrcode.URL(one.URL)
			if err != nil {
				o.failed(w, r, in, err)
				return
			}
			one.Picture = template.URL(picture) //nolint:gosec // it is drawn here
		}
		view.Links = append(view.Links, one)
	}
	o.show(w, r, in, "passes", onePage, view)
}

// siteIn is the beginning of the addresses of a site that somebody has typed; "" for none.
func siteIn(typed string) string {
	typed = strings.TrimSpace(typed)
	if typed != "" && !strings.Contains(typed, "://") {
		typed = "https://" + typed
	}
	u, err := url.Parse(typed)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// site is what links begin with: what an operator has made passes with last, or the host of the room's.
func (r *Room) site() string {
	if site := r.known.site.Load(); site != nil {
		return *site
	}
	if r.Host != "" {
		return "https://" + r.Host
	}
	return ""
}

// orderOf is what a form orders, as the API takes it.
func orderOf(r *http.Request) PassOrder {
	people, err := strconv.Atoi(strings.TrimSpace(r.PostFormValue("people")))
	if err != nil {
		people = 0 // which is refused
	}
	uses, count := people, 1
	if r.PostFormValue("links") == "each" {
		uses, count = min(people, 1), min(people, mostLinks+1)
	}
	return PassOrder{
		Name: strings.TrimSpace(r.PostFormValue("name")), Kind: waitlist.PassKind(r.PostFormValue("kind")), Uses: &uses, Count: &count, For: r.PostFormValue("for"),
	}
}

// ask answers a form with the question whether passes are to be made, or revoked.
func (o operators) ask(w http.ResponseWriter, r *http.Request, in admin.Room, of *Room) {
	if !o.ReadForm(w, r, in) {
		return
	}
	if r.PostFormValue("do") != "make" {
		o.askToRevoke(w, r, in, of)
		return
	}
	order := orderOf(r)
	body, err := json.Marshal(order)
	like, count, fault := waitlist.Pass{}, 0, ""
	if err == nil {
		like, count, fault = parsePass(body, o.passes.gate.Now())
	}
	switch {
	case err != nil || fault != "":
		o.Refuse(w, r, in, http.StatusUnprocessableEntity, "No pass was made.", inForm.Replace(fault))
		return
	case count > mostLinks:
		o.Refuse(w, r, in, http.StatusUnprocessableEntity, "No pass was made: here are at most "+strconv.Itoa(mostLinks)+" links made at once. fairdoor pass make makes more.")
		return
	}
	like.Room = of.Config.Room
	about, err := orderPart.Show(struct {
		shown
		Count int
		Each  bool // the uses are those of each
	}{o.shownOf(like), count, true})
	if err != nil {
		o.failed(w, r, in, err)
		return
	}
	q := dashboard.Question{About: about, Fields: map[string]string{"do": "make", "order": string(body), "site": r.PostFormValue("site")}}
	if like.Kind == waitlist.PassIn {
		q.Warnings = append(q.Warnings, "Everybody who waits without a pass waits longer for each of them.")
	}
	o.Ask(w, r, in, "Make "+like.Name+"?", "passes/change", q)
}

// inForm has the names of fields as the form has them.
var inForm = strings.NewReplacer("name is", "What it is for is", "uses is", "The number of people is", "count is", "The number of people is")

func (o operators) askToRevoke(w http.ResponseWriter, r *http.Request, in admin.Room, of *Room) {
	which, sessions := r.PostFormValue("pass"), r.PostFormValue("do") == "end"
	list, err := of.o.Record.Called(r.Context(), of.Config.Room, which, waitlist.MostPasses)
	switch {
	case err != nil:
		o.failed(w, r, in, err)
		return
	case len(list) == 0:
		o.Refuse(w, r, in, http.StatusNotFound, "Nothing was changed: no pass has this id or name.")
		return
	}
	about, err := orderPart.Show(struct {
		shown
		Count int
		Each  bool
	}{o.shownOfAll(list), len(list), false})
	if err != nil {
		o.failed(w, r, in, err)
		return
	}
	q := dashboard.Question{About: about, Final: true, Fields: map[string]string{"do": r.PostFormValue("do"), "pass": which}}
	text := "Nobody uses it any more, and who has used it is ahead of nobody. Who is in by it stays in."
	if sessions {
		text = "Nobody uses it any more, and who is in by it is out at once."
	}
	q.Text = text
	o.Ask(w, r, in, "Revoke "+list[0].Name+"?", "passes/change", q)
}

// change makes or revokes what its operator has been asked about.
func (o operators) change(w http.ResponseWriter, r *http.Request, in admin.Room, of *Room) {
	if !o.ReadForm(w, r, in) {
		return
	}
	if r.PostFormValue("do") == "make" {
		o.makeInPage(w, r, in, of)
		return
	}
	which, sessions := r.PostFormValue("pass"), r.PostFormValue("do") == "end"
	done, err := o.revoke(r, in, of, which, sessions)
	switch {
	case err != nil:
		o.failed(w, r, in, err)
	case done.named == 0 || done.Revoked == 0 && !sessions:
		o.Refuse(w, r, in, http.StatusNotFound, "Nothing was changed: no such pass is in force.")
	default:
		text := "The pass is revoked, on every gate."
		if sessions {
			text += " Sessions that have ended: " + strconv.Itoa(done.Sessions) + "."
		}
		o.Tell(w, r, in, "passes", text, "", nil)
	}
}

func (o operators) makeInPage(w http.ResponseWriter, r *http.Request, in admin.Room, of *Room) {
	made, fault, err := o.make(r, in, of, []byte(r.PostFormValue("order")))
	switch {
	case err != nil:
		o.failed(w, r, in, err)
		return
	case fault != "":
		o.Refuse(w, r, in, http.StatusUnprocessableEntity, "No pass was made.", inForm.Replace(fault))
		return
	}
	of.known.made.Store(&made)
	page, text := "passes/"+made[0].ID, made[0].Name+" is made."
	if len(made) > 1 {
		page, text = "passes/"+url.PathEscape(made[0].Name), strconv.Itoa(len(made))+" passes are made."
	}
	if site := siteIn(r.PostFormValue("site")); site != "" {
		of.known.site.Store(&site)
	}
	var undo map[string]string
	if len(made) == 1 {
		undo = map[string]string{"do": "revoke", "pass": made[0].ID, "page": "passes"}
	}
	o.Tell(w, r, in, page, text, "passes/change", undo)
}

// find finds those who came by the passes of a name or a code.
func (o operators) find(ctx context.Context, in admin.Room, text string) (found []queue.ID, err error) {
	of := o.passes.Of(in.Queue().Name())
	if of == nil {
		return nil, nil
	}
	list, err := of.o.Record.Called(ctx, of.Config.Room, text, waitlist.MostPasses)
	for _, p := range list {
		found = slices.AppendSeq(found, iter.Seq[queue.ID](of.Visitors(p)))
	}
	return found, err
}
