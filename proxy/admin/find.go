package admin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// MaxFound is how many visitors a search finds at most.
const MaxFound = 100

// StatusGone is the Status of somebody who is neither in nor counted in line.
const StatusGone = "gone"

// LetIn begins the sentence that tells when somebody was let in.
const LetIn = "They were let in"

// FoundJSON are the visitors that a search has found.
type FoundJSON struct {
	Visitors []FoundVisitor `json:"visitors"`
	Failing  []string       `json:"failing,omitempty"` // rooms whose store does not answer
}

// FoundVisitor is a visitor whom a search has found, with where they are in sentences.
type FoundVisitor struct {
	Room        string     `json:"room"`
	SupportCode string     `json:"supportCode"`
	ID          string     `json:"id,omitempty"`    // absent of somebody who waits, but in an exact line
	Label       string     `json:"label,omitempty"` // what the site calls them
	Status      string     `json:"status"`          // active, waiting or gone
	Ahead       bool       `json:"ahead"`           // operators have put them ahead of everybody
	Story       []Sentence `json:"story"`
}

// Sentence is one of a story. It ends with a moment, if it has one.
type Sentence struct {
	Text string    `json:"text"`
	At   time.Time `json:"at,omitzero"`
}

// getFound answers with the visitors whom the query is about.
func (a *api) getFound(w http.ResponseWriter, r *http.Request) {
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	if q == "" {
		reply.Problem(w, http.StatusUnprocessableEntity, "Say whom to find: ?q= and a support code, a name, or an id.")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	reply.JSON(w, a.find(ctx, q))
}

// find finds visitors of all rooms: by their support code, a part of what the site calls them, their
// id, the site's own name for them, or what features know them by. Of those who wait, but in an exact
// line, it knows those who have checked in at this gate lately.
func (a *api) find(ctx context.Context, q string) FoundJSON {
	found := FoundJSON{Visitors: []FoundVisitor{}}
	for of := range a.Gate.Rooms() {
		list, err := a.findIn(ctx, of, q)
		if err != nil {
			a.log(of).Warn("visitors not known", zap.Error(err))
			found.Failing = append(found.Failing, of.Queue().Name())
		}
		found.Visitors = append(found.Visitors, list...)
	}
	found.Visitors = found.Visitors[:min(len(found.Visitors), MaxFound)]
	return found
}

// findIn is find in one room, with what features have kept of visitors: of those who are there it
// comes first.
func (a *api) findIn(ctx context.Context, of Room, q string) ([]FoundVisitor, error) {
	list, failed := a.findPresent(ctx, of, q)
	for _, part := range a.parts {
		if part.Past == nil {
			continue
		}
		for _, v := range part.Past(ctx, of, q) {
			at := slices.IndexFunc(list, func(p FoundVisitor) bool { return p.SupportCode == v.SupportCode })
			if at < 0 {
				v.Ahead = of.IsAhead(a.Clock(), v.SupportCode)
				list = append(list, v)
				continue
			}
			now := list[at].Story
			if len(v.Story) > 0 && now[0].Text == LetIn && strings.HasPrefix(v.Story[len(v.Story)-1].Text, LetIn) {
				now = now[1:]
			}
			list[at].Story = slices.Concat(v.Story, now)
		}
	}
	for i := range list {
		list[i].Story = gathered(list[i].Story)
	}
	return list, failed
}

// mostAlike is of how many sentences that is at most which happens again and again in a story.
const mostAlike = 4

// gathered is a story in which what happened several times in a row, in the same words, is told once,
// with how often it happened again and when it did last.
func gathered(story []Sentence) (short []Sentence) {
	for len(story) > 0 {
		of, times := 1, 1
		for n := 1; n <= mostAlike && times == 1; n++ {
			of, times = n, timesAlike(story, n)
		}
		if times == 1 {
			short, story = append(short, story[0]), story[1:]
			continue
		}
		again := Sentence{"The same happened again, at last", story[of*(times-1)].At}
		if times > 2 {
			again.Text = fmt.Sprintf("The same happened %d times more, at last", times-1)
		}
		if again.At.IsZero() {
			again.Text = strings.TrimSuffix(again.Text, ", at last") + "."
		}
		short, story = append(append(short, story[:of]...), again), story[of*times:]
	}
	return short
}

// timesAlike is how often the first n sentences of a story are there in a row, by their words.
func timesAlike(story []Sentence, n int) (times int) {
	same := func(a, b Sentence) bool { return a.Text == b.Text }
	times = 1
	for n*(times+1) <= len(story) && slices.EqualFunc(story[:n], story[n*times:n*(times+1)], same) {
		times++
	}
	return times
}

// findPresent finds those who are there. Those who wait are found even if the store does not answer.
func (a *api) findPresent(ctx context.Context, of Room, q string) ([]FoundVisitor, error) {
	var list []FoundVisitor
	code, _ := CodeIn(q)
	known, failed := a.knownBy(ctx, of, q)
	for p := range of.Queue().Presents(a.Clock()) {
		if hasLine(of) || len(list) == MaxFound || ctx.Err() != nil { // an exact line names them
			break
		}
		if known[p.Short] || of.SupportCode(p.Short) == code || strings.EqualFold(q, hex.EncodeToString(p.Short[:])) {
			list = append(list, a.present(of, p))
		}
	}
	if of.Queue().StoreFailing() {
		return list, errStoreAway
	}
	roster, err := of.Queue().Everybody(ctx)
	if err != nil {
		return list, err
	}
	is := func(id queue.ID, note string) bool {
		return of.SupportCode([8]byte(id[:8])) == code || strings.EqualFold(q, id.String()) || id == room.SubjectID(of.Queue().Name(), q) ||
			note != "" && strings.Contains(strings.ToLower(LabelOf(note)), strings.ToLower(q)) || known[[8]byte(id[:8])]
	}
	for _, s := range roster.Seated {
		if is(s.ID, s.Note) {
			list = append(list, a.seated(of, s))
		}
	}
	for _, in := range roster.Line {
		if is(in.ID, in.Note) {
			list = append(list, a.inLine(of, in))
		}
	}
	return list, failed
}

// codesIn are the support codes of those who are surely in.
func (a *api) codesIn(ctx context.Context, of Room) map[string]bool {
	codes := map[string]bool{}
	if of.Queue().StoreFailing() {
		return codes
	}
	roster, err := of.Queue().Everybody(ctx)
	if err != nil {
		return codes
	}
	for _, s := range roster.Seated {
		codes[of.SupportCode([8]byte(s.ID[:8]))] = true
	}
	return codes
}

// knownBy are the first halves of the ids of visitors whom features know by a text.
func (a *api) knownBy(ctx context.Context, of Room, text string) (known map[[8]byte]bool, failed error) {
	known = map[[8]byte]bool{}
	for _, part := range a.parts {
		if part.Find == nil {
			continue
		}
		ids, err := part.Find(ctx, of, text)
		failed = errors.Join(failed, err)
		for _, id := range ids {
			known[[8]byte(id[:8])] = true
		}
	}
	return known, failed
}

// heard has the digits that people may have heard as letters, and leaves out what they add.
var heard = strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1", "U", "V")

// CodeIn is the support code that somebody has written, as gates write it.
func CodeIn(text string) (code string, ok bool) {
	clean := heard.Replace(strings.ToUpper(text))
	if len(clean) != 8 {
		return "", false
	}
	return clean[:4] + "-" + clean[4:], true
}

func (a *api) describeFound(of Room, short [8]byte, status string) FoundVisitor {
	code := of.SupportCode(short)
	return FoundVisitor{Room: of.Queue().Name(), SupportCode: code, Status: status, Ahead: of.IsAhead(a.Clock(), code)}
}

// seated tells of somebody who is in.
func (a *api) seated(of Room, s queue.Seat) FoundVisitor {
	v := a.describeFound(of, [8]byte(s.ID[:8]), "active")
	v.ID, v.Label = s.ID.String(), LabelOf(s.Note)
	v.Story = []Sentence{{LetIn, s.AcceptedAt.Time()}, {"If they ask for nothing more, their session ends", s.Expires.Time()}}
	return v
}

// present tells of somebody who waits, where they are in the order of arrival, or draw.
func (a *api) present(of Room, p room.Present) FoundVisitor {
	n := of.Queue().Numbers()
	v := a.describeFound(of, p.Short, "waiting")
	if v.Ahead || queue.GoesAhead(p.Arrived, queue.At(a.Clock())) { // by a time of arrival that is not theirs
		v.Story = append(v.Story, Sentence{Text: "They wait, put ahead of the line."})
	} else {
		v.Story = append(v.Story, Sentence{"They wait. Their place is that of somebody who came", p.Arrived.Time()})
	}
	if ahead, known := n.Ahead(p.Arrived); known {
		v.Story = append(v.Story, Sentence{Text: People(ahead, "is", "are") + " ahead of them."})
	}
	v.Story = append(v.Story, Sentence{Text: "Their page says that they wait " + waitInWords(n.Wait(p.Arrived)) + "."}, Sentence{"Their next check-in is due", p.Due.Time()})
	return a.goOn(v, n)
}

// inLine tells of somebody in an exact line.
func (a *api) inLine(of Room, in queue.Waiter) FoundVisitor {
	n := of.Queue().Numbers()
	v := a.describeFound(of, [8]byte(in.ID[:8]), "waiting")
	v.ID, v.Label = in.ID.String(), LabelOf(in.Note)
	v.Story = []Sentence{
		{Text: fmt.Sprintf("They wait, with the ticket number %d, and are number %d in line.", in.Number, in.Ahead+1)},
		{Text: "Their page says that they wait " + waitInWords(n.WaitAt(queue.Place{Number: in.Number, Ahead: in.Ahead})) + "."},
		{"Without a check-in they lose their place", in.Until.Time()},
	}
	return a.goOn(v, n)
}

// goOn tells why somebody waits.
func (*api) goOn(v FoundVisitor, n *estimate.Numbers) FoundVisitor {
	if v.Ahead {
		v.Story = append(v.Story, Sentence{Text: "Operators have put them ahead: with their next check-in the next free slot is theirs."})
	}
	if why := n.Reason(); why != estimate.NoReason {
		v.Story = append(v.Story, Sentence{Text: why.Sentence()})
	}
	return v
}

// waitInWords is a wait as a page tells it.
func waitInWords(w estimate.Wait) string {
	if !w.Known {
		return "for a time that is not known"
	}
	return fmt.Sprintf("about %d min", w.Minutes)
}

// putAhead has a visitor be ahead of everybody who waits, or no longer.
func (a *api) putAhead(ahead bool) http.HandlerFunc {
	return a.withRoom(func(w http.ResponseWriter, r *http.Request, of Room) {
		code, ok := a.codeOf(of, r.PathValue("id"))
		if !ok {
			reply.Problem(w, http.StatusNotFound, "An id is 32 hexadecimal digits, subject: and the subject's name, or code: and a support code.")
			return
		}
		if err := a.favour(r, of, code, ahead); err != nil {
			status, detail, faults := unchanged(err)
			reply.Problem(w, status, detail, faults...)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// favour has the visitor of a support code be ahead, by the operator who asks, or no longer.
func (a *api) favour(r *http.Request, of Room, code string, ahead bool) error {
	if !ahead && hasLine(of) { // a priority in an exact line is never lowered
		return &overrides.FaultsError{Faults: []string{"in an exact line, who was put ahead stays there"}}
	}
	err := of.PutAhead(r.Context(), a.Clock(), code, ahead, a.by(r))
	if err != nil {
		return err
	}
	what := visitorAhead
	if !ahead {
		what = visitorBack
	}
	a.note(r, of, what, code)
	return nil
}

// codeOf is the support code of the visitor that a path names.
func (a *api) codeOf(of Room, text string) (code string, ok bool) {
	if code, ok := strings.CutPrefix(text, "code:"); ok {
		return CodeIn(code)
	}
	id, ok := idOf(of, text)
	return of.SupportCode([8]byte(id[:8])), ok
}
