package main

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
	"github.com/fairdoor-gate/fairdoor/proxy/guests/operate"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// spots tells how many are held, and of how many.
func spots(l operate.WaitlistJSON) string {
	if l.Capacity == 0 {
		return strconv.Itoa(l.Held)
	}
	return fmt.Sprintf("%d/%d", l.Held, l.Capacity)
}

func newWaitlistListCommand(flags *adminFlags) *cobra.Command {
	cmd := adminTask(flags, "list", "Show the waitlists", func(t task) error {
		lists, err := client.Get[[]operate.WaitlistJSON](t.ctx, t.api, client.Path("waitlists"))
		if err != nil {
			return err
		}
		const heading = "WAITLIST\tROOM\tSTATUS\tUNCONFIRMED\tWAITING\tINVITED\tACCEPTED\tEXPIRED\tSPOTS HELD\tMAILS WAITING"
		return table(t, heading, lists, func(l operate.WaitlistJSON) []any {
			status, e := "open", l.Entries
			if l.Paused {
				status = "paused"
			}
			return []any{l.Name, l.Room, status, e["unconfirmed"], e["waiting"], e["invited"], e["accepted"], e["expired"], spots(l), l.MailsWaiting}
		})
	})
	cmd.Long = `Show the waitlists: how many people have each status, how many spots are held of
how many, and how many mails are still to be sent.`
	return cmd
}

func entryCells(e operate.EntryJSON) []any {
	rank, referrals := "-", strconv.Itoa(e.ReferralsMade)
	if e.Rank > 0 {
		rank = strconv.Itoa(e.Rank)
	}
	if e.ReferralsHeld > 0 {
		referrals += fmt.Sprintf(" (+%d)", e.ReferralsHeld)
	}
	return []any{e.ID, rank, e.Status, e.Priority, referrals, moment(e.JoinedAt), cmp.Or(e.Email, "-"), cmp.Or(e.UserID, "-")}
}

func newEntriesCommand(flags *adminFlags) *cobra.Command {
	var status, search string
	var limit int
	var after int64
	cmd := adminTask(flags, "entries WAITLIST", "Show who is on a waitlist", func(t task) error {
		query := url.Values{"status": {status}, "q": {search}, "limit": {strconv.Itoa(limit)}, "after": {strconv.FormatInt(after, 10)}}
		page, err := client.Get[operate.EntriesJSON](t.ctx, t.api, t.path("entries")+"?"+query.Encode())
		if err != nil {
			return err
		}
		if shown := len(page.Entries); shown == limit && shown < page.Total {
			fmt.Fprintf(t.warning, "There are %d. The next follow with --after %d.\n", page.Total, page.Entries[limit-1].ID)
		}
		return table(t, "ID\tRANK\tSTATUS\tPRIORITY\tREFERRALS\tJOINED\tEMAIL\tUSER", page.Entries, entryCells)
	})
	cmd.Long = `Show who is on a waitlist, in order of rank. In the column of referrals, those in
parentheses are being checked: see "fairdoor waitlist referrals".`
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&status, "status", "", "only those who are unconfirmed, waiting, invited, accepted, expired or removed")
	takesOneOf(cmd.Flags(), "status", "unconfirmed", "waiting", "invited", "accepted", "expired", "removed")
	cmd.Flags().StringVar(&search, "search", "", "only those with this in their address or user name, or with this referral code")
	cmd.Flags().IntVar(&limit, "limit", 100, "how many, from 1 to 1000")
	cmd.Flags().Int64Var(&after, "after", 0, "begin after the entry with this id")
	return cmd
}

func newPlansCommand(flags *adminFlags) *cobra.Command {
	return adminTask(flags, "plans WAITLIST", "Show the planned releases", func(t task) error {
		listed, err := client.Get[operate.PlansJSON](t.ctx, t.api, t.path("plans"))
		if err != nil {
			return err
		}
		return table(t, "PLAN\tCOUNT\tNEXT\tEVERY", listed.Plans, func(p operate.PlanJSON) []any {
			return []any{p.ID, p.Count, moment(p.At), cmp.Or(p.Every, "-")}
		})
	})
}

func newReferralsCommand(flags *adminFlags) *cobra.Command {
	cmd := adminTask(flags, "referrals WAITLIST", "Show the referrals that are being checked", func(t task) error {
		listed, err := client.Get[operate.ReferralsJSON](t.ctx, t.api, t.path("referrals")+"?limit=1000")
		if err != nil {
			return err
		}
		return table(t, "ID\tEMAIL\tBROUGHT BY\tEMAIL\tWHY\tCONFIRMED", listed.Referrals, func(r operate.ReferralJSON) []any {
			why := strings.ReplaceAll(string(r.Reason), "_", " ")
			return []any{r.Referee.ID, cmp.Or(r.Referee.Email, "-"), r.Referrer.ID, cmp.Or(r.Referrer.Email, "-"), why, moment(r.At)}
		})
	})
	cmd.Long = `Show the first 1000 referrals that look suspicious, and so count for nothing until
an operator grants them: their address is somebody's but for tags and dots, many
came from one network in a short time or have addresses of one domain, or the
domain is one for throwaway mails.`
	return cmd
}

func newLogCommand(flags *adminFlags) *cobra.Command {
	var limit int
	cmd := adminTask(flags, "log WAITLIST", "Show what operators have done", func(t task) error {
		listed, err := client.Get[operate.AuditJSON](t.ctx, t.api, t.path("audit")+"?limit="+strconv.Itoa(limit))
		if err != nil {
			return err
		}
		return table(t, "TIME\tBY\tACTION\tENTRY\tDETAIL", listed.Audit, func(l waitlist.Audit) []any {
			entry := "-"
			if l.Number != 0 {
				entry = strconv.FormatInt(l.Number, 10)
			}
			return []any{moment(l.At), l.Operator, l.Action, entry, l.Detail}
		})
	})
	cmd.Long = "Show what operators have done to a waitlist, the latest first."
	cmd.Flags().IntVar(&limit, "limit", 100, "how many lines, from 1 to 1000")
	return cmd
}
