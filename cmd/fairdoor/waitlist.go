package main

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
	"github.com/fairdoor-gate/fairdoor/proxy/guests/operate"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

func newWaitlistCommand() *cobra.Command {
	return adminGroup(&cobra.Command{
		Use:   "waitlist",
		Short: "Operate the waitlists of a running gate",
		Long: `Operate the waitlists of a running gate, by its admin API.

WAITLIST is the name that it has in the configuration. An entry, a person on a list,
has an ID, which "fairdoor waitlist entries" tells.`,
		Example: `  fairdoor waitlist list
  fairdoor waitlist release beta --count 100
  fairdoor waitlist release beta --count 10 --every 1m --at "2026-12-01 09:00"
  fairdoor waitlist entries beta --search ada@example.com
  fairdoor waitlist remove beta 17
  fairdoor waitlist export beta beta.csv`,
	}, newWaitlistListCommand, newEntriesCommand, newReleaseCommand, newPlansCommand, newCancelCommand, newPauseCommand, newResumeCommand,
		newPriorityCommand, newPointsCommand, newTakeBackCommand, newRemoveCommand, newReferralsCommand, newGrantCommand, newDenyCommand, newWaitlistImportCommand, newExportCommand, newLogCommand)
}

// path is a resource of the waitlist.
func (t task) path(names ...string) string {
	return client.Path(append([]string{"waitlists", t.args[0]}, names...)...)
}

func newReleaseCommand(flags *adminFlags) *cobra.Command {
	var count int
	var every time.Duration
	var at string
	cmd := adminTask(flags, "release WAITLIST", "Invite the next, now or by a plan", func(t task) error {
		if count < 1 {
			return usageError{fmt.Errorf("--count: say how many to invite, at least 1")}
		}
		if every == 0 && at == "" {
			return t.release(count)
		}
		return t.plan(count, every, at)
	})
	cmd.Long = `Invite the next people in order of rank: now, at a time (--at), or again and
again (--every), from now or from that time on.

No more people are invited than spots are free.`
	cmd.Flags().SortFlags = false
	cmd.Flags().IntVar(&count, "count", 0, "how many to invite (each time)")
	cmd.Flags().DurationVar(&every, "every", 0, "time from one release to the next, such as 1m or 24h")
	cmd.Flags().StringVar(&at, "at", "", `when: "2026-12-01 09:00", in the time of this machine, or 2026-12-01T09:00:00Z`)
	return cmd
}

func (t task) release(count int) error {
	var done operate.ReleasedJSON
	if err := t.api.Order(t.ctx, http.MethodPost, t.path("release"), map[string]int{"count": count}, &done); err != nil {
		return err
	}
	if done.Released == count {
		return t.say("Invited %d.", count)
	}
	l, err := client.Get[operate.WaitlistJSON](t.ctx, t.api, t.path())
	if err != nil {
		return err
	}
	why := "nobody else waits"
	if l.Capacity > 0 && l.Held >= l.Capacity {
		why = "no other spot is free (" + spots(l) + " are held)"
	}
	return t.say("Invited %d of %d: %s.", done.Released, count, why)
}

func (t task) plan(count int, every time.Duration, at string) error {
	order := operate.PlanOrder{Count: count}
	if every != 0 {
		order.Every = every.String()
	}
	if at != "" {
		when, err := parseMoment(at)
		if err != nil {
			return err
		}
		order.At = &when
	}
	var p operate.PlanJSON
	if err := t.api.Order(t.ctx, http.MethodPost, t.path("plans"), order, &p); err != nil {
		return err
	}
	if p.Every == "" {
		return t.say("Plan %d: %d at %s.", p.ID, p.Count, moment(p.At))
	}
	return t.say("Plan %d: %d every %s, from %s on.", p.ID, p.Count, p.Every, moment(p.At))
}

// parseMoment reads a time of RFC 3339, or one without a zone, which is that of this machine.
func parseMoment(text string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	t, err := time.ParseInLocation("2006-01-02 15:04", text, time.Local)
	if err != nil {
		return t, usageError{fmt.Errorf(`--at: %q is not a time such as "2026-12-01 09:00" or 2026-12-01T09:00:00Z`, text)}
	}
	return t, nil
}

func newCancelCommand(flags *adminFlags) *cobra.Command {
	return adminTask(flags, "cancel WAITLIST PLAN", "Cancel a planned release", func(t task) error {
		return t.order(http.MethodDelete, t.path("plans", t.args[1]), nil, "Plan %s is cancelled.", t.args[1])
	})
}

func newPauseCommand(flags *adminFlags) *cobra.Command {
	cmd := adminTask(flags, "pause WAITLIST", "Invite nobody until resume", func(t task) error {
		const told = "%s is paused: nobody is invited. People can sign up and accept."
		return t.order(http.MethodPatch, t.path(), map[string]bool{"paused": true}, told, t.args[0])
	})
	cmd.Long = "Invite nobody, by hand or by plan, until resume. People can sign up and accept, and invites expire."
	return cmd
}

func newResumeCommand(flags *adminFlags) *cobra.Command {
	return adminTask(flags, "resume WAITLIST", "End a pause", func(t task) error {
		return t.order(http.MethodPatch, t.path(), map[string]bool{"paused": false}, "%s is not paused any more.", t.args[0])
	})
}

func newPriorityCommand(flags *adminFlags) *cobra.Command {
	cmd := adminTask(flags, "priority WAITLIST ID PRIORITY", "Move somebody up or down", func(t task) error {
		priority, err := strconv.Atoi(t.args[2])
		if err != nil {
			return usageError{fmt.Errorf("%q is not a whole number", t.args[2])}
		}
		var e operate.EntryJSON
		if err := t.api.Order(t.ctx, http.MethodPatch, t.path("entries", t.args[1]), map[string]int{"priority": priority}, &e); err != nil {
			return err
		}
		return t.sayStanding(e.ID, e.Status, e.Priority, e.Rank)
	})
	cmd.Long = `Set the priority of an entry, from -30000 to 30000. The highest comes first, and
among equals the first who signed up. What referrals earn later is added.`
	cmd.Example = `  fairdoor waitlist priority beta 17 100
  fairdoor waitlist priority beta -- 17 -100`
	return cmd
}

// sayStanding says how an entry stands.
func (t task) sayStanding(id int64, status waitlist.Status, priority, rank int) error {
	if rank == 0 {
		return t.say("Entry %d has priority %d. It does not wait: it is %s.", id, priority, status)
	}
	return t.say("Entry %d has priority %d and rank %d.", id, priority, rank)
}

func newPointsCommand(flags *adminFlags) *cobra.Command {
	var points int
	cmd := adminTask(flags, "points WAITLIST ID ACTION REPORT", "Report what somebody has done to move up", func(t task) error {
		if points < 0 {
			return usageError{fmt.Errorf("--points is %d: must be at least 1, or left out", points)}
		}
		return t.onPoints(http.MethodPost, t.path("entries", t.args[1], "points"), operate.PointsJSON{Action: t.args[2], ID: t.args[3], Points: points})
	})
	cmd.Long = `Report what somebody has done to move up, as programs of the site do: one of the
waitlist's actions. ID is also an address, or a user of the site as user:NAME.
REPORT is a name for this report: under one name it counts once, however often
it is sent.`
	cmd.Example = `  fairdoor waitlist points beta 17 shared post-17
  fairdoor waitlist points beta ada@example.com shared post-17 --points 3`
	cmd.Flags().IntVar(&points, "points", 0, "how many points, if fewer than the action is worth")
	return cmd
}

func newTakeBackCommand(flags *adminFlags) *cobra.Command {
	cmd := adminTask(flags, "take-back WAITLIST ID REPORT", "Take back the points of a report", func(t task) error {
		return t.onPoints(http.MethodDelete, t.path("entries", t.args[1], "points", t.args[2]), nil)
	})
	cmd.Long = "Take back the points of a report, for good: a report of the same name does not count any more."
	return cmd
}

// onPoints gives the gate an order about somebody's points, and says how they stand then.
func (t task) onPoints(method, path string, order any) error {
	var s operate.StandingJSON
	if err := t.api.Order(t.ctx, method, path, order, &s); err != nil {
		return err
	}
	return t.sayStanding(s.ID, s.Status, s.Priority, s.Rank)
}

func newRemoveCommand(flags *adminFlags) *cobra.Command {
	cmd := adminTask(flags, "remove WAITLIST ID", "Take somebody off the list and erase their data", func(t task) error {
		return t.order(http.MethodDelete, t.path("entries", t.args[1]), nil, "Entry %s is removed, and its personal data erased.", t.args[1])
	})
	cmd.Long = "Take somebody off the list and erase all personal data of them. A spot that they hold goes to the next."
	return cmd
}

func newGrantCommand(flags *adminFlags) *cobra.Command {
	return adminTask(flags, "grant WAITLIST ID", "Have a referral count that is being checked", func(t task) error {
		return t.order(http.MethodPost, t.path("referrals", t.args[1]), map[string]bool{"grant": true}, "The referral of entry %s counts.", t.args[1])
	})
}

func newDenyCommand(flags *adminFlags) *cobra.Command {
	return adminTask(flags, "deny WAITLIST ID", "Have a referral not count that is being checked", func(t task) error {
		return t.order(http.MethodPost, t.path("referrals", t.args[1]), map[string]bool{"grant": false}, "The referral of entry %s does not count.", t.args[1])
	})
}
