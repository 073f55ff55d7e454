//go:build !race

package cheats_test

import (
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kind is how some people try to get in.
type kind struct {
	name   string
	people int
	hands  func(w *world, p *person) []*hand // what a person begins with; one hand without a ticket if it is nil
	play   func(w *world, p *person, h *hand)
	odds   float64 // that the kind has at most in random, where the polite have 1

	knowsTheRhythm bool // in which slots come free, where they do

	ends []time.Time // of the sessions that people of the kind had or have
	won  int         // how many were let in while it was measured
}

// person is one of the crowd. When they have got in, somebody new of their kind takes their place:
// so as many wait all the time.
type person struct {
	kind  *kind
	name  string // in the origin's log
	home  string // their address
	since time.Time
	comes time.Time
	hands []*hand
}

// hand is a client, a tab or an identity that a person asks with.
type hand struct {
	address string
	ticket  *string // tabs share theirs
	first   string  // the first ticket
	due     time.Time
	asked   int
}

// people are in the order in which they come.
type people []*person

func (l people) Len() int           { return len(l) }
func (l people) Less(i, j int) bool { return l[i].comes.Before(l[j].comes) }
func (l people) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *people) Push(x any)        { *l = append(*l, x.(*person)) }
func (l *people) Pop() any          { panic("nobody leaves") }

// How many hands cheats have, how many places of a network count at a gate, and how often the
// impatient ask.
const (
	manyTabs         = 5
	manyIdentities   = 8
	manyJoins        = 10
	placesOfANetwork = 1
	impatience       = 3 * time.Second
)

// What the odds are at most. A visitor who asks all the time at one gate has 1.2 times the odds of
// others, and moreInARhythm times that where slots come free in a rhythm: those who come too late
// for them do so again, so that draws at other moments are worth more than their number.
const (
	never       = 0
	ofOneTicket = 1.2 * gates
	ofOneNet    = 1.2 * gates * placesOfANetwork
	ofMany      = 1.2 * manyIdentities

	moreInARhythm = 4. / 3
)

const (
	polite = "polite"

	politePeople = 1500
	ofAKind      = 100
)

// kinds are all of them.
func kinds() []*kind {
	cheats := []*kind{
		{name: "no cookies", play: (*world).askWithout, odds: never},
		{name: "forged and edited tickets", play: (*world).askWithForged, odds: never},
		{name: "a ticket of another room", play: (*world).askWithForeign, odds: never},
		{name: "the first ticket, again and again", play: (*world).askWithTheFirst, odds: ofOneTicket},
		{name: "the newest ticket, again and again", play: (*world).askImpatiently, odds: ofOneTicket},
		{name: "many joins, and on with the best place", play: (*world).joinForTheBest, odds: ofOneTicket},
		{name: "many tabs", hands: (*world).tabs, play: (*world).waitPolitely, odds: ofOneTicket},
		{name: "a ticket that many clients share", hands: (*world).sharers, play: (*world).waitPolitely, odds: ofOneTicket},
		{name: "HEAD, OPTIONS, POST and prefetches", play: (*world).probe, odds: ofOneTicket},
		{name: "asking as slots come free", play: (*world).aim, odds: ofOneTicket, knowsTheRhythm: true},
		{name: "many identities of one network", hands: (*world).identities, play: (*world).waitPolitely, odds: ofOneNet},
		{name: "the same, and lies about addresses", hands: (*world).identities, play: (*world).lie, odds: ofOneNet},
		{name: "many identities of as many networks", hands: (*world).botnet, play: (*world).waitPolitely, odds: ofMany},
	}
	for _, k := range cheats {
		k.people = ofAKind
	}
	return append(cheats, &kind{name: polite, people: politePeople, play: (*world).waitPolitely, odds: ofOneTicket})
}

// newAddress is that of a network that nobody else has.
func (w *world) newAddress() string {
	w.networks++
	n := w.networks
	return netip.AddrFrom4([4]byte{20 + byte(n>>16), byte(n >> 8), byte(n), 7}).String()
}

// begin has somebody new of the kind want to get in, after a time.
func (p *person) begin(w *world, after time.Duration) {
	p.name, p.home, p.since = strconv.Itoa(len(w.begun)), w.newAddress(), w.now().Add(after)
	w.begun[p.name] = beginning{p.kind.name, p.since}
	if p.kind.hands == nil {
		p.hands = []*hand{w.newHand(p.home)}
	} else {
		p.hands = p.kind.hands(w, p)
	}
	for _, h := range p.hands {
		h.due = h.due.Add(after)
	}
	p.comes = p.soonest().due
}

func (w *world) newHand(address string) *hand {
	return &hand{address: address, ticket: new(string), due: w.now().Add(time.Millisecond + w.upTo(latency))}
}

func (p *person) soonest() *hand {
	return slices.MinFunc(p.hands, func(a, b *hand) int { return a.due.Compare(b.due) })
}

// come has the person ask with the hand that is due.
func (p *person) come(w *world) {
	h := p.soonest()
	p.kind.play(w, p, h)
	h.asked++
	if h.asked == 1 {
		h.first = *h.ticket
	}
	if w.origin.hasSeen(p.name) {
		p.kind.ends = append(p.kind.ends, w.now().Add(settings.SessionDuration))
		p.begin(w, 0)
		return
	}
	p.comes = p.soonest().due
}

// waitPolitely asks when the page has said to.
func (w *world) waitPolitely(p *person, h *hand) { w.check(p, h, http.MethodGet, nil) }

// check asks with the newest ticket of a hand, which is due again when it is told to be.
func (w *world) check(p *person, h *hand, method string, header http.Header) reply {
	a := w.ask(method, "/", p.name, h.address, *h.ticket, header)
	*h.ticket, h.due = a.ticket, w.now().Add(a.after+w.upTo(latency))
	return a
}

func (w *world) askWithout(p *person, h *hand) {
	w.ask(http.MethodGet, "/", p.name, h.address, "", nil)
	h.due = w.now().Add(impatience + w.upTo(latency))
}

func (w *world) askImpatiently(p *person, h *hand) {
	w.check(p, h, http.MethodGet, nil)
	h.due = w.now().Add(impatience + w.upTo(latency))
}

func (w *world) askWithTheFirst(p *person, h *hand) {
	if h.asked > 0 {
		*h.ticket = h.first
	}
	w.askImpatiently(p, h)
}

var (
	placeTold    = regexp.MustCompile(`"usersAhead":(\d+)`)
	intervalTold = regexp.MustCompile(`"refreshIntervalSeconds":(\d+)`)
)

// joinForTheBest joins many times and keeps the ticket with the fewest people ahead, or with the
// shortest interval where no place is told.
func (w *world) joinForTheBest(p *person, h *hand) {
	if h.asked > 0 {
		w.waitPolitely(p, h)
		return
	}
	least := [2]int{1 << 30}
	for range manyJoins {
		a := w.ask(http.MethodGet, "/", p.name, h.address, "", nil)
		told := [2]int{number(placeTold, a.body), number(intervalTold, a.body)}
		if slices.Compare(told[:], least[:]) < 0 {
			least, *h.ticket, h.due = told, a.ticket, w.now().Add(a.after)
		}
	}
}

// number is what an expression finds in a text, or 0.
func number(of *regexp.Regexp, text string) int {
	found := of.FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// tabs are of one browser: their ticket is one.
func (w *world) tabs(p *person) []*hand {
	l := w.several(manyTabs, func() string { return p.home })
	for _, h := range l {
		h.ticket = l[0].ticket
	}
	return l
}

// sharers are clients in several places with one ticket.
func (w *world) sharers(p *person) []*hand {
	l := w.tabs(p)
	for _, h := range l {
		h.address = w.newAddress()
	}
	return l
}

// identities are as many tickets as hands, from one network.
func (w *world) identities(p *person) []*hand {
	return w.several(manyIdentities, func() string { return p.home })
}

func (w *world) botnet(*person) []*hand { return w.several(manyIdentities, w.newAddress) }

// several are hands that begin one after the other, so that tabs have a ticket to share.
func (w *world) several(n int, address func() string) (l []*hand) {
	for i := range n {
		h := w.newHand(address())
		h.due = h.due.Add(time.Duration(i) * 100 * time.Millisecond)
		l = append(l, h)
	}
	return l
}

// askWithForged has a ticket and changes a character of it, joins it with one of another person, or
// makes one up.
func (w *world) askWithForged(p *person, h *hand) {
	if h.asked == 0 {
		w.askImpatiently(p, h)
		return
	}
	forged := []byte(h.first)
	quarter := min(len(forged), len(w.stolen)) / 4
	switch at := quarter + w.random.IntN(2*quarter); w.random.IntN(3) {
	case 0:
		forged[at] ^= 1
	case 1:
		forged = append(forged[:at], w.stolen[at:]...)
	case 2:
		w.random.Shuffle(len(forged), func(i, j int) { forged[i], forged[j] = forged[j], forged[i] })
	}
	w.ask(http.MethodGet, "/", p.name, h.address, string(forged), nil)
	h.due = w.now().Add(impatience + w.upTo(latency))
}

// askWithForeign is in at another room, and shows that room's ticket.
func (w *world) askWithForeign(p *person, h *hand) {
	if h.asked == 0 {
		*h.ticket = w.ask(http.MethodGet, "/fair", "at the fair", h.address, "", nil).ticket
	}
	w.ask(http.MethodGet, "/", p.name, h.address, *h.ticket, nil)
	h.due = w.now().Add(impatience + w.upTo(latency))
}

var probes = []struct {
	method string
	header http.Header
}{
	{http.MethodHead, nil}, {http.MethodOptions, nil}, {http.MethodPost, http.Header{"Accept": {"text/html"}}},
	{http.MethodPost, nil}, {http.MethodGet, http.Header{"Sec-Purpose": {"prefetch"}}}, {http.MethodGet, http.Header{"Sec-Purpose": {"prefetch;prerender"}}},
}

// probe asks by everything but what a person's browser does, with the newest ticket that this
// gives.
func (w *world) probe(p *person, h *hand) {
	with := probes[h.asked%len(probes)]
	w.check(p, h, with.method, with.header)
	h.due = w.now().Add(impatience + w.upTo(latency))
}

// aim waits until the next check-in counts, and then for the next moment at which a session of the
// kind ends: people who cheat together know when their own sessions do.
func (w *world) aim(p *person, h *hand) {
	w.check(p, h, http.MethodGet, nil)
	p.kind.ends = slices.DeleteFunc(p.kind.ends, func(end time.Time) bool { return end.Before(w.now()) })
	for _, end := range p.kind.ends {
		if end.After(h.due) {
			h.due = end.Add(time.Millisecond)
			return
		}
	}
}

// lie says in each request that it comes from elsewhere.
func (w *world) lie(p *person, h *hand) {
	anywhere := w.newAddress()
	w.check(p, h, http.MethodGet, http.Header{"Accept": {"application/json"}, "X-Forwarded-For": {strings.Join([]string{anywhere, "10.0.0.1"}, ", ")},
		"X-Real-Ip": {anywhere}, "Forwarded": {"for=" + anywhere}, "Cf-Connecting-Ip": {anywhere}, "True-Client-Ip": {anywhere}})
}
