package world

import "time"

// goesOnWithin is how long it takes at most until the next person has the mail of an invite, after
// a spot has ended.
const goesOnWithin = 10 * time.Second

// ended is when the spot of somebody who has had an invite has surely ended; never if that is not
// known.
func (i *invitee) ended(l *Waitlist) time.Duration {
	switch {
	case i.invited == never || i.leaves < i.invited:
		return never
	case i.left < never && (i.accepted < i.leaves || i.mailed < never && i.leaves < i.mailed+l.Settings.InviteTTL):
		return i.left
	case i.accepted == never && i.mailed < never && i.leaves > i.mailed+l.Settings.InviteTTL:
		return i.mailed + l.Settings.InviteTTL + time.Second
	}
	return never
}

// checkSpotsGoOn finds spots that have ended and after which nobody is invited, though somebody
// waits.
func checkSpotsGoOn(h *History, breach func(time.Duration, string, ...any)) {
	all, l := invitees(h), h.Plan.Waitlist
	if l == nil || len(l.Outages) > 0 {
		return
	}
	for n := range all {
		from := all[n].ended(l)
		if from == never || !h.quiet(from-l.Settings.InviteTTL, from+goesOnWithin) {
			continue
		}
		waits, goesOn := -1, false
		for m := range all {
			o := &all[m]
			if o.firstWait < from && o.waited > from+goesOnWithin {
				waits = m
			}
			goesOn = goesOn || m != n && o.invited >= min(from, all[n].leaves)-time.Second && o.invited <= from+goesOnWithin
		}
		if waits >= 0 && !goesOn {
			breach(from+goesOnWithin, "the spot of %s has ended at %s, nobody is invited, and %s waits", l.Guests[n].Name, moment(from), l.Guests[waits].Name)
			return
		}
	}
}

// checkReleases finds more invites than the operator has planned by then, and spots may have ended.
func checkReleases(h *History, breach func(time.Duration, string, ...any)) {
	all, l := invitees(h), h.Plan.Waitlist
	if l == nil || len(l.Outages) > 0 || !h.quiet(0, h.Ends) {
		return
	}
	planned := h.planned()
	for n := range all {
		at := all[n].invited
		if at == never {
			continue
		}
		invited, ended := 0, 0
		for m := range all {
			o := &all[m]
			invited += oneIf(o.invited <= at)
			ended += oneIf(o.leaves <= at || o.accepted > at && o.invited <= at-l.Settings.InviteTTL+goesOnWithin)
		}
		if released := l.Size * (1 + int((at-planned+time.Second)/l.Every)); invited > released+ended {
			breach(at, "%d people have been invited; %d spots have been released, and %d may have ended", invited, released, ended)
			return
		}
	}
}

// planned is when the releases were planned; never if they were not.
func (h *History) planned() time.Duration {
	for i := range h.Events {
		if e := &h.Events[i]; e.What == Broke && e.Text == releasesPlanned {
			return e.At
		}
	}
	return never
}
