package redisstore

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/anteroom-gate/anteroom/queue"
)

// reportArgs writes the report as the scripts read it.
func (s *Store) reportArgs(p *queue.Report) []any {
	args := []any{p.Node, p.Seq, int64(p.Now), p.Epoch, rand.Text(), s.slack.Milliseconds(), flag(p.Whole), len(p.Nodes)}
	for _, n := range p.Nodes {
		args = append(args, n)
	}
	args = append(args, len(p.Cells), len(p.Sessions), len(p.Revoked))
	for _, c := range p.Cells {
		args = append(args, int64(c.Bucket), int64(c.Until), c.People)
	}
	for _, list := range [...][]queue.Session{p.Sessions, p.Revoked} {
		for _, session := range list {
			args = append(args, string(session.ID[:]), int64(session.Expires))
		}
	}
	return append(args, int64(p.Admitted.Minute), p.Admitted.Visitors)
}

// inOrder returns the order in which admit.lua wants the claims: by bucket,
// newcomers last.
func inOrder(claims []queue.Claim) []int {
	order := make([]int, len(claims))
	for i := range order {
		order[i] = i
	}
	rank := func(c queue.Claim) int64 {
		if c.Newcomer() {
			return math.MaxInt64
		}
		return int64(c.Cell.Bucket)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(claims[a]), rank(claims[b])) })
	return order
}

func claimArgs(args []any, claims []queue.Claim, order []int) []any {
	args = append(args, len(claims))
	for _, i := range order {
		c := claims[i]
		args = append(args, string(c.ID[:]), int64(c.Cell.Bucket), int64(c.Cell.Until), int64(c.Due), flag(c.HeldOnly))
	}
	return args
}

// configurationArgs appends a configuration as conf.lua reads it.
func configurationArgs(args []any, c queue.Configuration) ([]any, error) {
	settings, err := json.Marshal(c.Settings)
	if err != nil {
		return nil, fmt.Errorf("writing the settings: %w", err)
	}
	s := c.Settings
	return append(args, c.Version, settings, c.Overrides, c.By, int64(c.At),
		s.TotalActiveUsers, s.NewUsersPerMinute, s.SessionDuration.Milliseconds(), s.PlaceLasts().Milliseconds(),
		s.Method.String(), s.Pace().String(), flag(s.QueueAll), flag(!s.DisableSessionRenewal), flag(s.Fleeting)), nil
}

func flag(is bool) string {
	if is {
		return "1"
	}
	return "0"
}
