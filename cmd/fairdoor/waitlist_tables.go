package main

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"
)

// table writes rows with a heading, in columns.
func (t task) table(heading string, rows []string) error {
	table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, heading)
	for _, row := range rows {
		fmt.Fprintln(table, row)
	}
	return table.Flush()
}

// row joins cells. Strangers have written some, so they are shown without what a terminal obeys.
func row(cells ...any) string {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		texts[i] = strings.Map(func(r rune) rune {
			if unicode.IsPrint(r) {
				return r
			}
			return '?'
		}, fmt.Sprint(cell))
	}
	return strings.Join(texts, "\t")
}

// moment shows a time of the API to the second.
func moment(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return at.UTC().Format(time.RFC3339)
}

// waitlistStatus is how a waitlist stands, as the admin API has it.
type waitlistStatus struct {
	Name     string         `json:"name"`
	Room     string         `json:"room"`
	Paused   bool           `json:"paused"`
	Entries  map[string]int `json:"entries"`
	Capacity int            `json:"capacity"`
	Held     int            `json:"held"`
	Mails    int            `json:"mailsWaiting"`
}

// spots tells how many are held, and of how many.
func (l waitlistStatus) spots() string {
	if l.Capacity == 0 {
		return strconv.Itoa(l.Held)
	}
	return fmt.Sprintf("%d/%d", l.Held, l.Capacity)
}

func newWaitlistListCommand(flags *adminFlags) *cobra.Command {
	cmd := waitlistTask(flags, "list", "Show the waitlists", func(t task) error {
		var lists []waitlistStatus
		if err := t.api.get(t.ctx, "/api/v1/waitlists", &lists); err != nil {
			return err
		}
		var rows []string
		for _, l := range lists {
			status := "open"
			if l.Paused {
				status = "paused"
			}
			e := l.Entries
			rows = append(rows, row(l.Name, l.Room, status, e["unconfirmed"], e["waiting"], e["invited"], e["accepted"], e["expired"], l.spots(), l.Mails))
		}
		return t.table("WAITLIST\tROOM\tSTATUS\tUNCONFIRMED\tWAITING\tINVITED\tACCEPTED\tEXPIRED\tSPOTS HELD\tMAILS WAITING", rows)
	})
	cmd.Long = `Show the waitlists: how many people have each status, how many spots are held of
how many, and how many mails are still to be sent.`
	return cmd
}

// entry is a person on a waitlist, as the admin API has it.
type entry struct {
	ID            int64  `json:"id"`
	Email         string `json:"email"`
	UserID        string `json:"userId"`
	Status        string `json:"status"`
	Rank          int    `json:"rank"`
	Priority      int    `json:"priority"`
	ReferralsMade int    `json:"referralsMade"`
	ReferralsHeld int    `json:"referralsHeld"`
	JoinedAt      string `json:"joinedAt"`
}

func (e entry) row() string {
	rank, referrals := "-", strconv.Itoa(e.ReferralsMade)
	if e.Rank > 0 {
		rank = strconv.Itoa(e.Rank)
	}
	if e.ReferralsHeld > 0 {
		referrals += fmt.Sprintf(" (+%d)", e.ReferralsHeld)
	}
	return row(e.ID, rank, e.Status, e.Priority, referrals, moment(e.JoinedAt), cmp.Or(e.Email, "-"), cmp.Or(e.UserID, "-"))
}

func newEntriesCommand(flags *adminFlags) *cobra.Command {
	var status, search string
	var limit int
	var after int64
	cmd := waitlistTask(flags, "entries NAME", "Show who is on a waitlist", func(t task) error {
		query := url.Values{"status": {status}, "q": {search}, "limit": {strconv.Itoa(limit)}, "after": {strconv.FormatInt(after, 10)}}
		var page struct {
			Entries []entry `json:"entries"`
			Total   int     `json:"total"`
		}
		if err := t.api.get(t.ctx, t.path("entries")+"?"+query.Encode(), &page); err != nil {
			return err
		}
		var rows []string
		for _, e := range page.Entries {
			rows = append(rows, e.row())
		}
		if len(rows) == limit && len(rows) < page.Total {
			fmt.Fprintf(t.warning, "There are %d. The next follow with --after %d.\n", page.Total, page.Entries[limit-1].ID)
		}
		return t.table("ID\tRANK\tSTATUS\tPRIORITY\tREFERRALS\tJOINED\tEMAIL\tUSER", rows)
	})
	cmd.Long = `Show who is on a waitlist, in order of rank. In the column of referrals, those in
parentheses are being checked: see "fairdoor waitlist referrals".`
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&status, "status", "", "only those who are unconfirmed, waiting, invited, accepted, expired or removed")
	cmd.Flags().StringVar(&search, "search", "", "only those with this in their address or user name, or with this referral code")
	cmd.Flags().IntVar(&limit, "limit", 100, "how many, from 1 to 1000")
	cmd.Flags().Int64Var(&after, "after", 0, "begin after the entry with this id")
	return cmd
}

func newPlansCommand(flags *adminFlags) *cobra.Command {
	return waitlistTask(flags, "plans NAME", "Show the planned releases", func(t task) error {
		var listed struct {
			Plans []plan `json:"plans"`
		}
		if err := t.api.get(t.ctx, t.path("plans"), &listed); err != nil {
			return err
		}
		var rows []string
		for _, p := range listed.Plans {
			rows = append(rows, row(p.ID, p.Count, moment(p.At), cmp.Or(p.Every, "-")))
		}
		return t.table("PLAN\tCOUNT\tNEXT\tEVERY", rows)
	})
}

func newReferralsCommand(flags *adminFlags) *cobra.Command {
	cmd := waitlistTask(flags, "referrals NAME", "Show the referrals that are being checked", func(t task) error {
		type person struct {
			ID    int64  `json:"id"`
			Email string `json:"email"`
		}
		var listed struct {
			Referrals []struct {
				Referee  person `json:"referee"`
				Referrer person `json:"referrer"`
				Reason   string `json:"reason"`
				At       string `json:"at"`
			} `json:"referrals"`
		}
		if err := t.api.get(t.ctx, t.path("referrals")+"?limit=1000", &listed); err != nil {
			return err
		}
		var rows []string
		for _, r := range listed.Referrals {
			rows = append(rows, row(r.Referee.ID, cmp.Or(r.Referee.Email, "-"), r.Referrer.ID, cmp.Or(r.Referrer.Email, "-"), strings.ReplaceAll(r.Reason, "_", " "), moment(r.At)))
		}
		return t.table("ID\tEMAIL\tBROUGHT BY\tEMAIL\tWHY\tCONFIRMED", rows)
	})
	cmd.Long = `Show the first 1000 referrals that look suspicious, and so count for nothing until
an operator grants them: their address is somebody's but for tags and dots, many
came from one network in a short time or have addresses of one domain, or the
domain is one for throwaway mails.`
	return cmd
}

func newLogCommand(flags *adminFlags) *cobra.Command {
	var limit int
	cmd := waitlistTask(flags, "log NAME", "Show what operators have done", func(t task) error {
		var listed struct {
			Log []struct {
				At     string `json:"at"`
				By     string `json:"by"`
				Action string `json:"action"`
				Entry  int64  `json:"entry"`
				Detail string `json:"detail"`
			} `json:"log"`
		}
		if err := t.api.get(t.ctx, t.path("log")+"?limit="+strconv.Itoa(limit), &listed); err != nil {
			return err
		}
		var rows []string
		for _, l := range listed.Log {
			entry := "-"
			if l.Entry != 0 {
				entry = strconv.FormatInt(l.Entry, 10)
			}
			rows = append(rows, row(moment(l.At), l.By, l.Action, entry, l.Detail))
		}
		return t.table("TIME\tBY\tACTION\tENTRY\tDETAIL", rows)
	})
	cmd.Long = "Show what operators have done to a waitlist, the latest first."
	cmd.Flags().IntVar(&limit, "limit", 100, "how many lines, from 1 to 1000")
	return cmd
}
