package world

import (
	"cmp"
	"slices"
	"time"
)

// never is after the end of every world.
const never = time.Duration(1<<63 - 1)

// invitee is what an observer of everything knows of a guest. What has not happened is never.
type invitee struct {
	waited    time.Duration // when they were told last that they wait
	firstWait time.Duration // and first
	invited   time.Duration // when they surely have an invite: from its mail, or from when they are told
	told      time.Duration // when they were told last that they are invited; 0 for never
	firstTold time.Duration // and first
	mailed    time.Duration // when the mail server took the mail of their invite
	expired   time.Duration // when they are told that it has expired
	refused   time.Duration // when they are refused
	accepted  time.Duration
	leaves    time.Duration // when they send that they leave
	left      time.Duration // when they are told that they have
}

// invitees are the guests of a history.
func invitees(h *History) []invitee {
	if h.Plan.Waitlist == nil {
		return nil
	}
	all := make([]invitee, len(h.Plan.Waitlist.Guests))
	for i := range all {
		all[i] = invitee{waited: -1, firstWait: never, invited: never, firstTold: never, mailed: never, expired: never, refused: never, accepted: never, leaves: never, left: never}
	}
	for i := range h.Events {
		if e := &h.Events[i]; e.Guest > 0 {
			all[e.Guest-1].note(e)
		}
	}
	return all
}

func (i *invitee) note(e *Event) {
	switch what := e.What; {
	case what == Standing && e.Text == "waiting":
		i.waited, i.firstWait = e.Sent, min(i.firstWait, e.At)
	case what == Standing && e.Text == "invited":
		i.invited, i.told, i.firstTold = min(i.invited, e.At), e.Sent, min(i.firstTold, e.At)
	case what == Standing && e.Text == "expired":
		i.expired = min(i.expired, e.At)
	case what == Mailed && e.Text == "invite":
		i.invited, i.mailed = min(i.invited, e.At), min(i.mailed, e.At)
	case what == Standing && e.Text == "accepted":
		i.accepted = min(i.accepted, e.At)
	case what == Accepts:
		i.invited, i.accepted = min(i.invited, e.At), min(i.accepted, e.At)
	case what == Refused:
		i.refused = min(i.refused, e.At)
	case what == Leaves && e.Text == "":
		i.leaves = min(i.leaves, e.Sent)
	case what == Leaves:
		i.left = min(i.left, e.At)
	}
}

// holdsUntil is until when a guest surely holds a spot who has had an invite.
// While something goes wrong, the clock by which it ends may.
func (i *invitee) holdsUntil(h *History) time.Duration {
	ttl := h.Plan.Waitlist.Settings.InviteTTL
	until := never
	if i.accepted == never {
		until = i.told
		if i.mailed < never && h.quiet(i.mailed, i.mailed+ttl) {
			until = max(until, i.mailed+ttl)
		}
	}
	return min(until, i.expired, i.refused, i.leaves)
}

// checkCapacity counts the spots that are surely held.
func checkCapacity(h *History, breach func(time.Duration, string, ...any)) {
	type change struct {
		at time.Duration
		by int
	}
	var changes []change
	for _, i := range invitees(h) {
		if until := i.holdsUntil(h); i.invited < until {
			changes = append(changes, change{i.invited, 1}, change{until, -1})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	held, most := 0, 0
	for _, c := range changes {
		if held += c.by; held > max(most, h.Plan.Waitlist.Settings.Capacity) {
			most = held
			breach(c.at, "%d spots are held of %d", held, h.Plan.Waitlist.Settings.Capacity)
		}
	}
}

// checkInvitesLast finds invites that were over before their time: it begins with the mail.
func checkInvitesLast(h *History, breach func(time.Duration, string, ...any)) {
	for n, i := range invitees(h) {
		ttl := h.Plan.Waitlist.Settings.InviteTTL
		over := min(i.expired, i.refused)
		switch name := h.Plan.Waitlist.Guests[n].Name; {
		case over == never || i.accepted < over || i.leaves < over || !h.quiet(min(i.mailed, over-ttl), over):
		case i.mailed == never || i.mailed > over:
			breach(over, "the invite of %s is over, and no mail has been sent", name)
		case over < i.mailed+ttl:
			breach(over, "the invite of %s is over %v after its mail", name, over-i.mailed)
		}
	}
}

// checkInvitesAreGiven finds people who wait although a spot was free during a release that others
// cannot have used up.
func checkInvitesAreGiven(h *History, breach func(time.Duration, string, ...any)) {
	all, l := invitees(h), h.Plan.Waitlist
	for n, i := range all {
		for from := i.firstWait; from < never && from+l.patience() <= i.waited; from += l.patience() {
			to := from + l.patience()
			if !h.quiet(from, to) || !h.scheduled(from) {
				continue
			}
			held, given := 0, 0 // at most
			for m := range all {
				if o := &all[m]; m != n && h.signedUp(m) <= to && o.waited < to && min(o.expired, o.left) > from {
					held++
					given += oneIf(o.invited > from)
				}
			}
			if held < l.Settings.Capacity && given < l.Size {
				breach(to, "%s waits from %s on, and no more than %d spots of %d were held", l.Guests[n].Name, moment(from), held, l.Settings.Capacity)
				return
			}
		}
	}
}

func oneIf(is bool) int {
	if is {
		return 1
	}
	return 0
}

// patience is how long a spot may stay free that somebody waits for.
func (l *Waitlist) patience() time.Duration { return l.Every + 10*time.Second }

// scheduled says whether the releases were planned before a moment.
func (h *History) scheduled(at time.Duration) bool {
	return h.planned() < at
}

// signedUp is when a guest may have been on the list for the first time.
func (h *History) signedUp(guest int) time.Duration { return h.Plan.Waitlist.Guests[guest].Joins }

// checkInvitesAreOne finds guests who wait for their room although fewer people than it has slots
// can hold one: however many devices have the cookie of one invite, they are one person.
func checkInvitesAreOne(h *History, breach func(time.Duration, string, ...any)) {
	l := h.Plan.Waitlist
	if l == nil {
		return
	}
	active, waits := make([]time.Duration, len(l.Guests)), make([]time.Duration, len(l.Guests))
	for i := range h.Events {
		e := &h.Events[i]
		if e.What != GuestSeen && e.What != GuestWait {
			continue
		}
		guest := e.Guest - 1
		if e.What == GuestSeen {
			waits[guest] = 0
		} else if waits[guest] == 0 {
			waits[guest] = e.At
		}
		active[guest] = e.At
		if since := waits[guest]; since > 0 && e.At-since > 2*l.Room.RefreshInterval && h.quiet(since-l.Room.SessionDuration, e.At) {
			people := 0
			for o, at := range active {
				if o != guest && at > 0 && at >= since-l.Room.SessionDuration-slack {
					people++
				}
			}
			if people < l.Room.TotalActiveUsers {
				breach(e.At, "%s waits for a slot of %d, which no more than %d others can hold", l.Guests[guest].Name, l.Room.TotalActiveUsers, people)
				return
			}
		}
	}
}

// checkErased finds people who have left and of whom something is known.
func checkErased(h *History, breach func(time.Duration, string, ...any)) {
	const underWay = 40 * time.Second
	left := map[int]time.Duration{}
	for i := range h.Events {
		e := &h.Events[i]
		since, gone := left[e.Guest]
		switch {
		case e.What == Leaves && e.Text != "":
			left[e.Guest] = e.At
		case e.What == Ghost:
			breach(e.At, "%s: %s", h.Plan.Waitlist.Guests[e.Guest-1].Name, e.Text)
		case e.What == Mailed && gone && e.At > since+underWay:
			breach(e.At, "%s gets a mail, who left at %s", h.Plan.Waitlist.Guests[e.Guest-1].Name, moment(since))
		}
	}
}

// checkInvitesAreSent finds guests who have an invite, and whose mail does not come though the mail
// server takes mails again: gates try after a minute, and then after twice as long each time.
func checkInvitesAreSent(h *History, breach func(time.Duration, string, ...any)) {
	for n, i := range invitees(h) {
		if i.firstTold == never || i.mailed < never {
			continue
		}
		by := i.firstTold + goesOnWithin
		for _, o := range h.Plan.Waitlist.Outages {
			if o.At <= by {
				by = max(by, o.At+o.Lasts+80*time.Second)
				if o.Lasts >= time.Minute {
					by += o.Lasts
				}
			}
		}
		if i.told > by && h.quiet(i.firstTold, by) {
			breach(by, "%s is invited, by %s at the latest, and gets no mail", h.Plan.Waitlist.Guests[n].Name, moment(i.firstTold))
			return
		}
	}
}
