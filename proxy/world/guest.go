package world

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/cookie"
)

// guestPrefix begins what the site is told of a guest.
const guestPrefix = "guest "

// guest is somebody who has signed up for the second room, on one device.
type guest struct {
	*visitor
	*Guest

	world   *world
	number  int               // from 1 on
	cookies map[string]string // by name
	status  string            // what they were told last
	unsure  bool              // whether they have accepted: there was no answer
	done    bool              // they have left the list
	before  string            // the cookie of the list that they had then
}

func newGuest(w *world, number int) *guest {
	g := &guest{Guest: &w.plan.Waitlist.Guests[number-1], world: w, number: number, cookies: map[string]string{}}
	g.visitor = g.device("")
	return g
}

// device is a device of the guest, or of a friend of theirs.
func (g *guest) device(name string) *visitor {
	return &visitor{
		Person: &Person{Number: 60_000 + g.number}, network: ownNetwork(60_000 + g.number), jar: &jar{tabs: 1}, world: g.world, random: source(g.world.plan.Seed, g.Name+name), copied: fmt.Sprint(guestPrefix, g.number),
	}
}

// mailbox is where the mails of a guest go.
func (g *guest) mailbox() string { return fmt.Sprintf("guest%d@people.example", g.number) }

// guestAt is whose an address is; 0 for nobody's.
func (w *world) guestAt(address string) int {
	var n int
	_, _ = fmt.Sscanf(address, "guest%d@", &n)
	return n
}

// say notes an event of this guest.
func (g *guest) say(what What, sent time.Duration, text string) {
	g.world.history.add(Event{What: what, Who: nobody, Guest: g.number, Sent: sent, Text: text})
}

// live is a guest's life.
func (g *guest) live() {
	g.wait(g.Joins + g.upTo(time.Millisecond))
	for !g.over() && !g.signUp() {
		g.wait(g.around(5 * time.Second))
	}
	accepted := false
	for !g.over() && !accepted && !g.leaving() {
		if g.Vanishes && g.status == "waiting" {
			return
		}
		g.wait(g.around(6 * time.Second))
		if g.status == "" {
			g.confirm()
		}
		if g.status != "" && !g.leaving() {
			g.look()
		}
		accepted = g.status == "invited" && g.accept() || g.status == "accepted"
	}
	if accepted && !g.leaving() {
		g.enterAll()
	}
	if g.leaving() && !g.over() && g.status != "" {
		g.leave()
	}
}

// leaving says whether the guest wants no more.
func (g *guest) leaving() bool { return g.Leaves > 0 && g.world.history.now() >= g.Leaves }

// standing is what JSON tells of an entry.
type standing struct {
	Status       string `json:"status"`
	ReferralCode string `json:"referralCode"`
	Rank         int    `json:"rank"`
	Referees     int    `json:"referralsMade"`
}

// signUp signs the guest up, and says whether that was acknowledged.
func (g *guest) signUp() bool {
	a := g.send(http.MethodPost, listPath, url.Values{"email": {g.mailbox()}, "referral": {g.world.post.code(g.Referrer)}})
	g.hearStanding(a)
	return !a.lost && a.status < 300
}

// confirm follows the link of a mail, if there is one.
func (g *guest) confirm() {
	if token := g.world.post.tokenOf(g.mailbox(), "confirm"); token != "" {
		g.hearStanding(g.send(http.MethodPost, listPath+"/confirm", url.Values{"token": {token}}))
	}
	if token := g.world.post.tokenOf(g.mailbox(), "place"); g.status == "" && token != "" {
		g.hearStanding(g.send(http.MethodPost, listPath, url.Values{"secret": {token}}))
	}
}

// look asks for the guest's place.
func (g *guest) look() { g.hearStanding(g.send(http.MethodGet, listPath, nil)) }

// hearStanding reads what the guest is told of their entry.
func (g *guest) hearStanding(a *answer) {
	var told struct{ Waitlist standing }
	if a.lost || a.status != http.StatusOK || json.Unmarshal(a.body, &told) != nil || told.Waitlist.Status == "unconfirmed" {
		return
	}
	g.status = told.Waitlist.Status
	g.world.history.add(Event{
		What: Standing, Who: nobody, Guest: g.number, Sent: a.sent, Text: g.status, Rank: told.Waitlist.Rank, Referees: told.Waitlist.Referees,
	})
	if told.Waitlist.ReferralCode != "" {
		g.world.post.tell(g.number, told.Waitlist.ReferralCode)
	}
}

// accept accepts the invite of a mail after a while, and says whether that was done.
func (g *guest) accept() bool {
	token := g.world.post.tokenOf(g.mailbox(), "invite")
	if token == "" {
		return false
	}
	g.wait(g.Accepts)
	if g.over() || g.leaving() {
		return false
	}
	a := g.send(http.MethodPost, listPath+"/invite", url.Values{"token": {token}})
	switch {
	case a.lost:
		g.unsure = true
	case a.status == http.StatusGone && !g.unsure:
		g.say(Refused, a.sent, "")
	case a.status == http.StatusOK:
		g.say(Accepts, a.sent, "")
		g.hearStanding(a)
	}
	return g.status == "accepted"
}

// enterAll has the guest and their friends, who have the guest's cookie alone, visit the room until
// the guest leaves.
func (g *guest) enterAll() {
	var all sync.WaitGroup
	for i := range g.Friends {
		friend := *g
		friend.visitor = g.device(fmt.Sprint(" friend ", i))
		friend.cookies = map[string]string{listCookie: g.cookies[listCookie]}
		all.Go(func() {
			friend.wait(friend.upTo(20 * time.Second))
			friend.visit()
		})
	}
	g.visit()
	all.Wait()
}

// visit asks for pages of the room until the guest leaves.
func (g *guest) visit() {
	for !g.over() && !g.leaving() {
		a := g.send(http.MethodGet, clubPath, nil)
		switch {
		case a.waits() && a.room.InWaitingRoom:
			g.say(GuestWait, a.sent, "")
			g.wait(min(a.retry(), 5*time.Second) + g.upTo(time.Second))
		default:
			g.wait(g.around(8 * time.Second))
		}
	}
}

// leave takes the guest off the list, and tries what should not work any more.
func (g *guest) leave() {
	g.before = g.cookies[listCookie]
	for !g.over() && !g.done {
		g.say(Leaves, g.world.history.now(), "")
		a := g.send(http.MethodDelete, listPath, nil)
		g.done = !a.lost && (a.status == http.StatusNoContent || a.status == http.StatusNotFound)
		g.wait(g.around(3 * time.Second))
	}
	if !g.done {
		return
	}
	g.say(Leaves, 0, "done")
	for range 3 {
		g.wait(g.around(20 * time.Second))
		if g.over() {
			return
		}
		g.haunt()
	}
}

// haunt tries the cookie and the links of somebody who has left, on a device of nobody's.
func (g *guest) haunt() {
	post := g.world.post
	for _, try := range []struct {
		method, path, field, kind string
	}{
		{http.MethodGet, listPath, "", ""},
		{http.MethodPost, listPath, "secret", "place"},
		{http.MethodPost, listPath + "/confirm", "token", "confirm"},
		{http.MethodPost, listPath + "/invite", "token", "invite"},
		{http.MethodGet, clubPath, "", ""},
	} {
		ghost, form := *g, url.Values(nil)
		ghost.cookies = map[string]string{}
		if try.kind == "" {
			ghost.cookies[listCookie] = g.before
		} else if token := post.tokenOf(g.mailbox(), try.kind); token != "" {
			form = url.Values{try.field: {token}}
		} else {
			continue
		}
		a := ghost.send(try.method, try.path, form)
		if knows := a.status == http.StatusOK && strings.Contains(string(a.body), "referralCode"); !a.lost && (a.in() || knows) {
			g.say(Ghost, a.sent, try.method+" "+try.path+" still works for somebody who has left")
		}
	}
}

// send sends a request, as an app does, and keeps the cookies of the answer.
func (g *guest) send(method, path string, form url.Values) *answer {
	sent := g.world.history.now()
	a := &answer{header: http.Header{}, whole: true, sent: sent}
	g.travel()
	handler, p := g.world.machines[0].handler()
	if a.lost = p == nil; a.lost {
		g.travel()
		return a
	}
	ctx, done := p.on.front.connect(p.lives)
	defer done()
	var sends []string
	for _, name := range []string{listCookie, referralCookie, clubCookie} {
		if value := g.cookies[name]; value != "" {
			sends = append(sends, name+"="+value)
		}
	}
	handler.ServeHTTP(a, g.request(ctx, request{method: method, path: path, accept: asJSON, form: form.Encode()}, sent, strings.Join(sends, "; ")))
	a.lost = ctx.Err() != nil
	g.travel()
	if !a.lost {
		a.read()
		g.keepAll(a.header)
	}
	return a
}

// The cookies of a guest.
var (
	listCookie     = cookie.Name("." + listName)
	referralCookie = cookie.Name("." + listName + ".referral")
	clubCookie     = cookie.Name(clubName)
)

// keepAll keeps the cookies of an answer.
func (g *guest) keepAll(h http.Header) {
	for _, line := range h["Set-Cookie"] {
		now, attributes, _ := strings.Cut(line, ";")
		name, value, _ := strings.Cut(now, "=")
		if strings.Contains(attributes, "Max-Age=0") {
			value = ""
		}
		g.cookies[name] = value
	}
}
