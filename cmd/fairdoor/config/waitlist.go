package config

import (
	"bytes"
	"net/url"
	"reflect"
	"slices"
	"strings"

	roomconfig "github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// guestList is a waitlist that is being checked.
type guestList struct {
	*value
	*Waitlist
}

// checkWaitlists checks each waitlist, and then all of them against each other and against the
// rooms.
func (v *value) checkWaitlists(c *Config) {
	names, rooms := map[string]Position{}, map[string]Position{}
	for i, item := range v.itemsOf("waitlists") {
		if v.stopped {
			return
		}
		l := guestList{item, &c.Waitlists[i]}
		l.check()
		l.belongs(v, c)
		if first, taken := claim(names, l.Name, l.where("name")); taken {
			l.fault(l.where("name"), "%s is the name of another waitlist already, %s", show(l.Name), onLine(first))
		}
		if first, taken := claim(rooms, l.Room, l.where("room")); taken {
			l.fault(l.where("room"), "the room %s has a waitlist already, %s", show(l.Room), onLine(first))
		}
	}
	for i, r := range v.itemsOf("rooms") {
		r.admission(&c.Rooms[i], rooms)
	}
	v.database(c)
}

// database checks where the waitlists and the passes are kept. Gates that share a queue share its
// guest list and its passes, too.
func (v *value) database(c *Config) {
	alone := v.valid("store", "database", "waitlists", "rooms") && c.Store != "memory" && !waitlist.IsURL(c.Database)
	if i := slices.IndexFunc(c.Rooms, func(r Room) bool { return r.takesPasses() }); alone && i >= 0 && i < len(v.itemsOf("rooms")) {
		r := v.itemsOf("rooms")[i]
		r.fault(r.where("passes", "admission"), "gates that share a store need to share their passes: set database to the URL of a PostgreSQL")
	}
	if alone && len(c.Waitlists) > 0 {
		v.fault(v.where("database", "waitlists"), "gates that share a store need to share their waitlists: set database to the URL of a PostgreSQL")
	}
}

// takesPasses says whether the room takes passes.
func (r *Room) takesPasses() bool {
	return r.Features.Passes.Take(&roomconfig.Room{Basics: r.Basics})
}

// admission checks who may enter a room against the rooms that have waitlists.
func (v *value) admission(r *Room, lists map[string]Position) {
	_, listed := lists[r.Name]
	v.refuse(v.valid("admission") && r.Admission == roomconfig.Invited && !listed, "admission",
		"the room has no waitlist: nobody could be invited; add one to waitlists, with room: %s", r.Name)
	v.doubt(r.Features.Guests.Priority > 0 && v.valid("guest_priority", "queueing_method") && (!listed || r.Method != queue.Line), "guest_priority",
		"has no effect: it is for a room with a waitlist and with queueing_method line")
}

// check checks a waitlist by itself.
func (l *guestList) check() {
	l.required("name", "letters, digits, - and _")
	l.required("room", "the name of the room that the waitlist belongs to")
	l.readFiles(waitlistKey, reflect.ValueOf(l.Waitlist).Elem(), "")
	l.disposable()
	l.actions()
	l.smtp()
	l.mails()
}

// actions checks what people can do to move up.
func (l *guestList) actions() {
	names := map[string]Position{}
	for i, item := range l.itemsOf("actions") {
		a := &l.Waitlist.Actions[i]
		item.required("name", "the name by which the action is reported")
		if first, taken := claim(names, a.Name, item.where("name")); taken {
			item.fault(item.where("name"), "%s is the name of another action already, %s", show(a.Name), onLine(first))
		}
		item.refuse(item.valid("name") && a.Name == waitlist.ByReferrals, "name", "%s stands for what referrals earn: choose another", show(a.Name))
	}
}

// mails has the templates of mails checked.
func (l *guestList) mails() {
	if l.layerOf("mail_templates") == 0 || l.CheckMails == nil {
		return
	}
	if err := l.CheckMails(l.MailTemplates); err != nil {
		for fault := range strings.Lines(err.Error()) {
			l.get("mail_templates").reject("%s: %s", l.MailTemplates, strings.TrimSpace(fault))
		}
	}
}

// belongs checks the waitlist's room.
func (l *guestList) belongs(root *value, c *Config) {
	if !l.isGiven("room") || !l.valid("room") || !root.valid("rooms") {
		return
	}
	i := slices.IndexFunc(c.Rooms, func(r Room) bool { return r.Name == l.Room })
	switch {
	case i < 0:
		l.fault(l.where("room"), "there is no room %s", show(l.Room))
	case braces(c.Rooms[i].Path) != "":
		l.fault(l.where("room"), "%s is a room for each value of its path, which has no waitlist: choose another", show(l.Room))
	default:
		l.onItsHost(&c.Rooms[i])
	}
}

// onItsHost checks the address of the site against the hosts of the room, on which the waitlist is
// served.
func (l *guestList) onItsHost(r *Room) {
	u, err := url.Parse(l.URL)
	if err != nil || !l.isGiven("url") || !l.valid("url") {
		return
	}
	asked := u.Hostname()
	for _, to := range append([]Route{{Host: r.Host}}, r.AdditionalRoutes...) {
		if host := strings.ToLower(strings.TrimSuffix(to.Host, ".")); host == "" || host == asked {
			return
		}
	}
	l.fault(l.where("url"), "%s is not a host of the room %s: the waitlist is not served there", show(asked), show(l.Room))
}

// disposable reads the domains of throw-away addresses.
func (l *guestList) disposable() {
	path := l.DisposableDomainsFile
	if l.DisposableDomainsFile = ""; l.layerOf("disposable_domains_file") == 0 || path == "" {
		return
	}
	src, ok := l.get("disposable_domains_file").read(path)
	if !ok {
		return
	}
	var err error
	if l.Disposable, err = waitlist.ReadDomains(bytes.NewReader(src)); err != nil {
		l.get("disposable_domains_file").reject("%s: %v", path, err)
	}
}

// smtp checks how mails are sent.
func (l *guestList) smtp() {
	in := l.get("smtp")
	if in == nil || in.wrong {
		return
	}
	in.required("host", "the server that takes the mails")
	in.required("from", "the address that mails come from")
	l.doubt(!l.isGiven("url"), "smtp", "links in mails begin with the address that this gate listens on: set url to that of the site")
	named, secret := in.isGiven("username"), in.isGiven("password", "password_file")
	if named != secret && in.valid("username", "password", "password_file") {
		in.fault(in.where("username", "password", "password_file"), "username and password go together")
	}
	local := l.SMTP.Host == "localhost" || strings.HasPrefix(l.SMTP.Host, "127.")
	in.doubt(l.SMTP.TLS == "none" && !local, "tls", "mails, which let their readers in, and the password go over the network as plain text")
}
