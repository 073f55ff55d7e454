package operate

import (
	"bytes"
	_ "embed" // for the pages
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

const (
	// maxFile bounds a file that the dashboard imports, in bytes: it travels in a form.
	maxFile = 2 << 20
	// auditShown is how many lines of the audit log the dashboard shows.
	auditShown = 20
)

var (
	//go:embed waitlist.html
	pageSource string
	//go:embed import.html
	importSource string
	//go:embed plan.html
	planSource string

	listPage, importPart, planPart = dashboard.NewSection(pageSource), dashboard.NewSection(importSource), dashboard.NewSection(planSource)
)

// Path is that of the page of a room's waitlist, below the room's.
const Path = "waitlist"

// tab is the page of a room's waitlist, and what it leads to.
func (o *operators) tab() admin.Tab {
	const page = "/rooms/{room}/" + Path
	return admin.Tab{
		Path: Path, Name: "Waitlist",
		Of: func(in admin.Room) bool { _, found := o.listOf(in); return found },
		Pages: []admin.Resource{
			{Pattern: "GET " + page, Answer: o.withList(o.show)},
			{Pattern: "GET " + page + "/mails", Answer: admin.Patient(o.withList(o.showMails))},
			{Pattern: "GET " + page + "/mails/{mail}", Answer: o.withList(o.showMail)},
			{Pattern: "POST " + page + "/ask", Answer: o.withList(o.ask)},
			{Pattern: "POST " + page + "/import", Answer: o.withList(o.askToImport)},
			{Pattern: "POST " + page + "/change", Answer: admin.Patient(o.withList(o.change))},
		},
	}
}

// listOf is the waitlist of a room.
func (o *operators) listOf(in admin.Room) (Waitlist, bool) {
	for l := range o.All {
		if l.Room() == in.Queue().Name() {
			return l, true
		}
	}
	return nil, false
}

// withList finds the waitlist of the room that the path names.
func (o *operators) withList(next func(http.ResponseWriter, *http.Request, admin.Room, Waitlist)) http.HandlerFunc {
	return o.WithRoom(func(w http.ResponseWriter, r *http.Request, in admin.Room) {
		l, found := o.listOf(in)
		if !found {
			o.Lacks(w, r, in, http.StatusNotFound, "The room has no waitlist, from which people are invited. Add one for room: "+in.Queue().Name()+" to waitlists: in the configuration, "+admin.ReadAgain)
			return
		}
		next(w, r, in, l)
	})
}

// step is one of the way from a sign-up to the door.
type step struct {
	Name  string
	Count int
}

// view is what the page of a waitlist shows.
type view struct {
	WaitlistJSON
	Steps    []step
	Total    int    // of the steps
	Slowed   string // why nobody is invited, in a sentence; "" where somebody can be
	Plans    []PlanJSON
	Judge    int // referrals that wait for an operator; at most 100
	Audit    []waitlist.Audit
	Resource string // of the API
	Mails    bool   // they are kept for operators
}

func (o *operators) viewOf(r *http.Request, l Waitlist) (v view, err error) {
	j, failed := describeWaitlist(r.Context(), l)
	plans, err := l.Record().Plans(r.Context())
	failed = errors.Join(failed, err)
	held, err := l.Record().Held(r.Context(), 0, 100)
	failed = errors.Join(failed, err)
	audit, err := l.Record().Log(r.Context(), 0, auditShown)
	_, kept := l.Mails()
	if kept {
		j.MailsWaiting = 0 // nobody waits for what is not sent
	}
	v = view{WaitlistJSON: j, Slowed: j.slowed(), Judge: len(held), Audit: audit, Resource: "/api/v1/waitlists/" + l.Name(), Mails: kept}
	for _, p := range plans {
		v.Plans = append(v.Plans, describePlan(p))
	}
	for _, s := range []struct {
		status waitlist.Status
		name   string
	}{
		{waitlist.Unconfirmed, "Have not confirmed their address"}, {waitlist.Waiting, "Wait"}, {waitlist.Invited, "Are invited"},
		{waitlist.Accepted, "Have accepted"}, {waitlist.Expired, "Let their invite expire"},
	} {
		v.Steps = append(v.Steps, step{s.name, j.Entries[s.status]})
		v.Total += j.Entries[s.status]
	}
	return v, errors.Join(failed, err)
}

// slowed says why nobody more can be invited now; "" where somebody can.
func (j WaitlistJSON) slowed() string {
	switch {
	case j.Paused:
		return "Nobody is invited: operators have paused the waitlist. Planned invites wait, too."
	case j.Capacity > 0 && j.Held >= j.Capacity:
		return "Nobody more is invited: all " + strconv.Itoa(j.Capacity) + " spots are held by people who are invited or have accepted. The capacity is in the configuration."
	case j.MailsWaiting > 0:
		return strconv.Itoa(j.MailsWaiting) + " mails are still to be sent."
	}
	return ""
}

// free is how many could be invited now.
func (j WaitlistJSON) free() int {
	if j.Capacity == 0 {
		return j.Entries[waitlist.Waiting]
	}
	return max(0, min(j.Capacity-j.Held, j.Entries[waitlist.Waiting]))
}

func (o *operators) show(w http.ResponseWriter, r *http.Request, in admin.Room, l Waitlist) {
	v, err := o.viewOf(r, l)
	if err != nil {
		o.failed(w, r, in, l, err)
		return
	}
	text, err := listPage.Show(v)
	if err != nil {
		o.failed(w, r, in, l, err)
		return
	}
	o.ShowPage(w, r, in, Path, text)
}

// failed answers where the record has not done what was asked.
func (o *operators) failed(w http.ResponseWriter, r *http.Request, in admin.Room, l Waitlist, err error) {
	status, detail := o.why(r, l, err)
	o.Refuse(w, r, in, status, detail)
}

// ask answers a form with the question whether it is to be done.
func (o *operators) ask(w http.ResponseWriter, r *http.Request, in admin.Room, l Waitlist) {
	if !o.ReadForm(w, r, in) {
		return
	}
	j, err := describeWaitlist(r.Context(), l)
	if err != nil {
		o.failed(w, r, in, l, err)
		return
	}
	do := r.PostFormValue("do")
	q, title := dashboard.Question{Fields: map[string]string{"do": do}}, ""
	switch do {
	case "release":
		n, err := strconv.Atoi(strings.TrimSpace(r.PostFormValue("count")))
		if err != nil || n < 1 {
			o.Refuse(w, r, in, http.StatusUnprocessableEntity, "Nobody was invited: how many is a whole number from 1.")
			return
		}
		if j.Paused {
			o.Refuse(w, r, in, http.StatusConflict, "Nobody was invited: the waitlist is paused. End the pause first.")
			return
		}
		title, q.Final, q.Fields["count"] = "Invite "+strconv.Itoa(n)+" people?", true, strconv.Itoa(n)
		q.Text = strconv.Itoa(j.Entries[waitlist.Waiting]) + " wait. " + strconv.Itoa(min(n, j.free())) + " are invited now, in the order of the list, and told by mail."
		if n > j.free() {
			q.Warnings = []string{"Fewer are invited than you asked for: no more wait, or no more spots are free."}
		}
	case "pause":
		title, q.Text = "Pause "+l.Name()+"?", "Nobody is invited, not by plans either, until the pause ends. People can sign up, and accept the invites that they have."
	case "resume":
		title, q.Text = "End the pause of "+l.Name()+"?", "Invites go on, those of plans whose time has come among them."
	case "plan":
		if !o.askToPlan(w, r, in, &q) {
			return
		}
		title = "Plan invites?"
	case "cancel":
		title, q.Final, q.Text, q.Fields["plan"] = "Cancel the plan?", true, "It invites nobody any more. Who is invited stays invited.", r.PostFormValue("plan")
	default:
		o.Refuse(w, r, in, http.StatusNotFound, "Nothing was changed.")
		return
	}
	o.Ask(w, r, in, title, Path+"/change", q)
}

// askToPlan adds a plan to a question; if it cannot, it has answered instead.
func (o *operators) askToPlan(w http.ResponseWriter, r *http.Request, in admin.Room, q *dashboard.Question) bool {
	order := map[string]any{"count": 0}
	if n, err := strconv.Atoi(strings.TrimSpace(r.PostFormValue("count"))); err == nil {
		order["count"] = n
	}
	for name, text := range map[string]string{"at": admin.TimeIn(r, "at"), "every": r.PostFormValue("every")} {
		if text != "" {
			order[name] = text
		}
	}
	body, err := json.Marshal(order)
	plan, fault := parsePlan(body, o.Clock())
	if err == nil && fault == "" {
		q.About, err = planPart.Show(describePlan(plan))
	}
	if err != nil || fault != "" {
		o.Refuse(w, r, in, http.StatusUnprocessableEntity, "Nothing was planned: how many is a whole number from 1, and the time is one to come.")
		return false
	}
	q.Fields["plan"] = string(body)
	return true
}

// change does what its operator has been asked about.
func (o *operators) change(w http.ResponseWriter, r *http.Request, in admin.Room, l Waitlist) {
	r.Body = http.MaxBytesReader(w, r.Body, 4*maxFile) // a file grows as a form
	if err := r.ParseForm(); err != nil {
		o.Refuse(w, r, in, http.StatusBadRequest, "Nothing was changed: the form could not be read.")
		return
	}
	by, now := o.by(r), o.Clock()
	text, undo, err := "", map[string]string(nil), error(nil)
	switch r.PostFormValue("do") {
	case "release":
		n, _ := strconv.Atoi(r.PostFormValue("count"))
		n, err = l.Record().Release(r.Context(), n, by, now)
		text = strconv.Itoa(n) + " invites are on their way."
		if n > 0 && errors.Is(err, waitlist.ErrPaused) { // which came between
			err = nil
		}
	case "pause":
		err, text, undo = l.Record().Pause(r.Context(), by, now), l.Name()+" is paused.", map[string]string{"do": "resume"}
	case "resume":
		err, text, undo = l.Record().Resume(r.Context(), by, now), l.Name()+" goes on.", map[string]string{"do": "pause"}
	case "plan":
		plan, fault := parsePlan([]byte(r.PostFormValue("plan")), now)
		if fault != "" {
			o.Refuse(w, r, in, http.StatusUnprocessableEntity, "Nothing was planned: the time has passed.")
			return
		}
		plan.ID, err = l.Record().Schedule(r.Context(), plan, by, now)
		text, undo = "It is planned.", map[string]string{"do": "cancel", "plan": strconv.FormatInt(plan.ID, 10)}
	case "cancel":
		id, _ := strconv.ParseInt(r.PostFormValue("plan"), 10, 64)
		err, text = l.Record().Cancel(r.Context(), id, by, now), "The plan is cancelled."
	case "import":
		var asked bool
		if text, asked, err = o.importFile(w, r, in, l); asked {
			return
		}
	default:
		o.Refuse(w, r, in, http.StatusNotFound, "Nothing was changed.")
		return
	}
	if err != nil {
		o.failed(w, r, in, l, err)
		return
	}
	o.Tell(w, r, in, Path, text, Path+"/change", undo)
}

// column is a column of a file, and what it becomes.
type column struct {
	Name, Becomes string // Becomes is "" for what is not read
	First         string // its first value
}

// Readable lists what it may become.
func (column) Readable() []string { return waitlist.Readable() }

// Words are the name of what it may become.
func (column) Words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// askToImport answers a file with what each of its columns becomes, and the question whether it is to
// be imported.
func (o *operators) askToImport(w http.ResponseWriter, r *http.Request, in admin.Room, l Waitlist) {
	r.Body = http.MaxBytesReader(w, r.Body, maxFile+maxFile/8)
	file, _, err := r.FormFile("file")
	var text []byte
	if err == nil {
		defer file.Close()
		text, err = io.ReadAll(file)
	}
	if err != nil || len(text) > maxFile {
		o.Refuse(w, r, in, http.StatusRequestEntityTooLarge, "Nothing was imported: choose a file of at most 2 MiB. fairdoor waitlist import takes larger ones.")
		return
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 { // a form would change it
		o.Refuse(w, r, in, http.StatusUnprocessableEntity, "Nothing was imported: the file is not in UTF-8. Save it as CSV in UTF-8, which spreadsheets have as a choice, and import that.")
		return
	}
	o.askAboutColumns(w, r, in, l, string(text), nil, "")
}

// askAboutColumns asks what the columns of a file become. The operator has chosen some, or none yet.
func (o *operators) askAboutColumns(w http.ResponseWriter, r *http.Request, in admin.Room, l Waitlist, text string, chosen map[string]string, fault string) {
	columns, lines, err := readFile(text, chosen)
	if err != nil && !errors.Is(err, waitlist.ErrColumns) || len(columns) == 0 {
		o.Refuse(w, r, in, http.StatusUnprocessableEntity, "Nothing was imported: the first line has to name the columns, with commas between them.")
		return
	}
	q := dashboard.Question{Final: true, Fields: map[string]string{"do": "import", "file": text}}
	switch {
	case fault != "":
		q.Warnings = []string{fault}
	case err != nil:
		q.Warnings = []string{"Choose which column is the email or the user id: without one nobody can be added."}
	}
	q.About, err = importPart.Show(struct {
		Columns []column
		Lines   int
	}{columns, lines})
	if err != nil {
		o.failed(w, r, in, l, err)
		return
	}
	o.Ask(w, r, in, "Import this list into "+l.Name()+"?", Path+"/change", q)
}

// readFile reads what the columns of a file become, and how many lines follow the first. The error is
// that of [waitlist.ReadColumns].
func readFile(text string, chosen map[string]string) (columns []column, lines int, err error) {
	read, fault := waitlist.ReadColumns(strings.NewReader(text), chosen)
	becomes := map[string]string{}
	for what, name := range read.Read {
		becomes[name] = what
	}
	in := csv.NewReader(strings.NewReader(text))
	in.FieldsPerRecord = -1
	header, err := in.Read()
	if err != nil {
		return nil, 0, errors.Join(fault, err)
	}
	for _, name := range header {
		name = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))
		columns = append(columns, column{Name: name, Becomes: becomes[name]})
		delete(becomes, name) // of two with the same name, the first is read
	}
	for {
		line, err := in.Read()
		if errors.Is(err, io.EOF) {
			return columns, lines, fault
		}
		for i := range columns {
			if lines == 0 && i < len(line) {
				columns[i].First = line[i]
			}
		}
		lines++ // one that cannot be read is told by the import
	}
}

// chosenInForm are the columns that an operator has chosen in a form: all others are not read. The
// fault is that two become the same.
func chosenInForm(r *http.Request) (chosen map[string]string, fault string) {
	list := slices.DeleteFunc(slices.Clone(r.PostForm["column"]), func(one string) bool { return one == "" })
	chosen = chosenIn(list)
	if len(chosen) < len(list) {
		fault = "Two columns cannot become the same: choose one of them."
	}
	for _, what := range waitlist.Readable() {
		if _, is := chosen[what]; !is {
			chosen[what] = ""
		}
	}
	return chosen, fault
}

// importFile imports the file of a form, and says what has come of it. Where its columns do not do, it
// has asked about them again.
func (o *operators) importFile(w http.ResponseWriter, r *http.Request, in admin.Room, l Waitlist) (text string, asked bool, err error) {
	file := r.PostFormValue("file")
	chosen, fault := chosenInForm(r)
	var done waitlist.Imported
	if fault == "" {
		done, err = l.Record().Import(r.Context(), strings.NewReader(file), chosen, o.by(r), o.Clock())
	}
	if fault != "" || errors.Is(err, waitlist.ErrColumns) {
		o.askAboutColumns(w, r, in, l, file, chosen, fault)
		return "", true, nil
	}
	if err != nil {
		return "", false, err
	}
	text = "Added: " + strconv.Itoa(done.Added) + ". On the list already: " + strconv.Itoa(done.Known) + "."
	if done.Faulty > 0 {
		var lines []string
		for _, fault := range done.Faults[:min(len(done.Faults), 10)] {
			lines = append(lines, strconv.Itoa(fault.Line))
		}
		text += " Left out: " + strconv.Itoa(done.Faulty) + ", such as line " + strings.Join(slices.Compact(lines), ", ") + "."
	}
	return text, false, nil
}
