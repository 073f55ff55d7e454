package world

import (
	"fmt"
	"net/http"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/proxy/guests/mail"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// Waitlist is that of a second room, which lets in those who were invited. Its record is a real
// SQLite file: the database runs in the goroutine that asks it, so it does the same each time. It
// has as many slots as invites: no guest has to wait for another.
type Waitlist struct {
	Settings waitlist.Settings
	Room     queue.Settings
	Size     int           // how many are invited by a release
	Every    time.Duration // from one release to the next
	Guests   []Guest
	Outages  []Outage // of the mail server
}

// Guest is somebody who signs up.
type Guest struct {
	Name     string
	Joins    time.Duration
	Referrer int           // who has told them, from 1 on; 0 for nobody
	Accepts  time.Duration // how long they take to accept an invite
	Friends  int           // how many others get the cookie of their accepted invite
	Leaves   time.Duration // after the beginning; 0 for never
	Vanishes bool          // they never look again once they are told that they wait
}

// Outage is a time in which the mail server does not take mails.
type Outage struct {
	At, Lasts time.Duration
	Way       string // of [outages]
}

// outages are the ways in which mails are not taken.
var outages = []string{"down", "refusing", "slow"}

// String tells the waitlist at the end of a line; nothing where there is none.
func (l *Waitlist) String() string {
	if l == nil {
		return ""
	}
	text := fmt.Sprintf("; %d people sign up for %d spots, %d each %v are invited for %v", len(l.Guests), l.Settings.Capacity, l.Size, l.Every, l.Settings.InviteTTL)
	for _, o := range l.Outages {
		text += fmt.Sprintf("; the mail server is %s at %s for %v", o.Way, moment(o.At), o.Lasts)
	}
	return text
}

// drawWaitlist draws a waitlist in one plan of two with a gate and a journal: gates that share one
// need a PostgreSQL, which runs in no world.
func (p *Plan) drawWaitlist() {
	r := source(p.Seed, "waitlist")
	if p.Gates > 1 || p.Redis || r.IntN(2) == 0 {
		return
	}
	pick := func(of ...int) int { return of[r.IntN(len(of))] }
	seconds := func(of ...int) time.Duration { return time.Duration(pick(of...)) * time.Second }
	upTo := func(d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }
	l := &Waitlist{Settings: waitlist.DefaultSettings(), Size: 1 + r.IntN(4), Every: seconds(20, 45, 90, 300)}
	l.Settings.Capacity, l.Settings.InviteTTL, l.Settings.ConfirmEmail = pick(2, 3, 5, 10), seconds(40, 80, 150), r.IntN(3) > 0
	l.Room = queue.Settings{
		TotalActiveUsers: l.Settings.Capacity, NewUsersPerMinute: 600, SessionDuration: seconds(20, 60), RefreshInterval: 5 * time.Second,
	}.WithDefaults()
	for i := range pick(8, 15, 25) {
		g := Guest{Name: "guest " + name(i), Joins: upTo(p.Lasts / 2), Accepts: upTo(l.Settings.InviteTTL * 4 / 3)}
		if i > 0 && r.IntN(3) == 0 {
			g.Referrer = 1 + r.IntN(i)
		}
		if r.IntN(3) == 0 {
			g.Friends = pick(1, 4, 8)
		}
		if r.IntN(3) == 0 {
			g.Leaves = g.Joins + upTo(p.Lasts/2)
		}
		g.Vanishes = r.IntN(5) == 0
		l.Guests = append(l.Guests, g)
	}
	for range r.IntN(3) {
		l.Outages = append(l.Outages, Outage{At: upTo(p.Lasts / 2), Lasts: seconds(10, 60, 240), Way: outages[r.IntN(len(outages))]})
	}
	p.Waitlist = l
}

// The second room.
const (
	clubName, clubPath = "club", "/club"
	listName           = "beta"
	listPath           = guests.Paths + listName
	shopURL            = "https://shop.example"
)

// openWaitlist has a process keep the waitlist.
func (w *world) openWaitlist(p *process) {
	l := w.plan.Waitlist
	p.config.Rooms = append(p.config.Rooms, proxy.RoomConfig{
		Name: clubName, Routes: []route.Route{{Path: clubPath}}, Settings: l.Room,
		Basics: config.Basics{JSON: true, Admission: config.Invited},
	})
	p.config.Parts = p.config.Parts.With(guests.Name, []guests.Config{{
		Name: listName, Room: clubName, Settings: l.Settings, URL: shopURL,
		SMTP: &mail.SMTP{Host: "mail.example", TLS: mail.NoTLS, From: "hello@shop.example", Dial: w.post.dial(p)},
	}})
}

// inviteAll has the guests of a waitlist live, and an operator plan the releases.
func (w *world) inviteAll() {
	if w.plan.Waitlist == nil {
		return
	}
	for i := range w.plan.Waitlist.Guests {
		w.people.Go(func() { newGuest(w, i+1).live() })
	}
	w.people.Go(func() {
		for wait(time.Second + 17); w.history.now() < w.plan.Lasts && !w.schedule(); {
			wait(time.Second)
		}
	})
}

// schedule plans the releases, and says whether that was done.
func (w *world) schedule() bool {
	_, p := w.machines[0].handler()
	if p == nil {
		return false
	}
	order := fmt.Sprintf(`{"count": %d, "every": %q}`, w.plan.Waitlist.Size, w.plan.Waitlist.Every)
	a := p.operate(http.MethodPost, "/api/v1/waitlists/"+listName+"/plans", order)
	if a.status != http.StatusOK {
		return false
	}
	w.note(releasesPlanned)
	return true
}

// releasesPlanned is noted when the operator has planned the releases.
const releasesPlanned = "an operator plans the releases"
