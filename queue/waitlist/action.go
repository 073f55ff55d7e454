package waitlist

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// Action is what people can do to move up, as the site defines it.
type Action struct {
	Name   string   // by which it is reported
	Title  string   // that people are shown; "" for the name
	Points int      // that doing it once is worth: from 1 to MostPoints
	Most   int      // points that it can earn one entry; 0 for no bound but Settings.ActionsMax
	Keys   []string // of those who may report it, besides operators
}

// MostPoints bounds what actions can earn an entry.
const MostPoints = 1000

// action returns the action of a name; nil for none.
func (s *Settings) action(name string) *Action {
	i := slices.IndexFunc(s.Actions, func(a Action) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Actions[i]
}

// Report is what the site says that somebody has done.
type Report struct {
	ID     string // at most 128 bytes, unique in the list: a report that is repeated counts once
	Action string
	Points int // from 1 to those of the action; 0 for those
}

// isID reports whether a text is an id of a report.
func isID(id string) bool { return id != "" && len(id) <= 128 && utf8.ValidString(id) }

// Report gives an entry the points of something that somebody has done, once for each id. Points
// add up, whoever reports them and in whatever order: up to the bound of the action, and up to
// Settings.ActionsMax in all. What is beyond a bound counts when something else is taken back. What
// an operator reports is in the audit log; by is "" for a program. The errors are ErrNotFound,
// ErrAction, ErrRange, ErrText for an id that is none, and ErrUsed for one that another report has.
func (l *List) Report(ctx context.Context, number int64, r Report, by Operator, now time.Time) error {
	rule := l.settings.Load().action(r.Action)
	switch {
	case rule == nil:
		return ErrAction
	case !isID(r.ID):
		return ErrText
	case r.Points < 0 || r.Points > rule.Points:
		return ErrRange
	case r.Points == 0:
		r.Points = rule.Points
	}
	return l.onPoints(ctx, number, by, now, func(t *tx, s standing) (audited, error) { return t.report(s, r) })
}

// TakeBack takes the points of a report back, once. The id stays used: a late repeat of the report
// changes nothing. The error is ErrNotFound.
func (l *List) TakeBack(ctx context.Context, number int64, id string, by Operator, now time.Time) error {
	return l.onPoints(ctx, number, by, now, func(t *tx, s standing) (audited, error) { return t.takeBack(s, id) })
}

// Reported returns the action of a report, also if it was taken back. The error is ErrNotFound.
func (l *List) Reported(ctx context.Context, number int64, id string) (action string, err error) {
	found, err := one(ctx, l.db.reader, `SELECT action FROM actions WHERE waitlist = $1 AND id = $2 AND number = $3`, []any{l.name, id, number}, &action)
	if err == nil && !found {
		err = ErrNotFound
	}
	return action, err
}

// onPoints changes the points of an entry that is not removed.
func (l *List) onPoints(ctx context.Context, number int64, by Operator, now time.Time, do func(*tx, standing) (audited, error)) error {
	var a audited
	err := l.write(ctx, now, func(t *tx) error {
		s, found, err := t.find(`number = $2`, number)
		switch {
		case err != nil:
			return err
		case !found || s.status == Removed:
			a.refused = ErrNotFound
			return nil
		}
		if a, err = do(t, s); err != nil || a.action == "" || by == "" {
			return err
		}
		a.number = number
		_, err = t.audit(0, by, a, t.now)
		return err
	})
	if err != nil {
		return err
	}
	return a.refused
}

// report counts a report that is new. The id is not in the audit log: it may say who somebody is.
func (t *tx) report(s standing, r Report) (audited, error) {
	added, err := t.count(`INSERT INTO actions (waitlist, id, number, action, points, at) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
		t.list, r.ID, s.number, r.Action, r.Points, t.now)
	if err != nil {
		return audited{}, err
	}
	if added == 1 {
		return audited{action: "points", detail: fmt.Sprintf("%s: %d", r.Action, r.Points)}, t.earn(s)
	}
	same, err := t.scan(`SELECT 1 FROM actions WHERE waitlist = $1 AND id = $2 AND number = $3 AND action = $4 AND points = $5`,
		[]any{t.list, r.ID, s.number, r.Action, r.Points}, new(int))
	if err == nil && !same {
		return audited{refused: ErrUsed}, nil
	}
	return audited{}, err
}

func (t *tx) takeBack(s standing, id string) (audited, error) {
	var action string
	var points int
	taken, err := t.scan(`UPDATE actions SET taken_at = $4 WHERE waitlist = $1 AND id = $2 AND number = $3 AND taken_at = 0 RETURNING action, points`,
		[]any{t.list, id, s.number, t.now}, &action, &points)
	if err != nil {
		return audited{}, err
	}
	if taken {
		return audited{action: "take_back", detail: fmt.Sprintf("%s: %d", action, points)}, t.earn(s)
	}
	before, err := t.scan(`SELECT 1 FROM actions WHERE waitlist = $1 AND id = $2 AND number = $3`, []any{t.list, id, s.number}, new(int))
	if err == nil && !before {
		return audited{refused: ErrNotFound}, nil
	}
	return audited{}, err
}

// earn brings what actions have earned an entry up to date.
func (t *tx) earn(s standing) error {
	var before int64
	if err := t.must(`SELECT earned FROM entries WHERE waitlist = $1 AND number = $2`, []any{t.list, s.number}, &before); err != nil {
		return err
	}
	moves, err := pointsOf(t.ctx, t.on, t.list, s.number, t.settings)
	if err != nil {
		return err
	}
	earned := int64(0)
	for _, m := range moves {
		earned += int64(m.Points)
	}
	earned = min(earned, int64(t.settings.ActionsMax))
	if earned == before {
		return nil
	}
	if earned > before && s.status == Waiting {
		t.tell(EventMovedUp, s.number)
	}
	return t.exec(`UPDATE entries SET priority = priority + $3, earned = $4, version = $5 WHERE waitlist = $1 AND number = $2`,
		t.list, s.number, earned-before, earned, t.version)
}

// Move is something that has moved an entry up.
type Move struct {
	Action string `json:"action"` // "" for referrals
	Title  string `json:"title,omitempty"`
	Points int    `json:"points"` // within the bound of the action
}

// Moves returns what has moved an entry up, by actions in the order of their names, behind what
// referrals have earned. Together that is what the entry was moved up by: what is beyond
// Settings.ActionsMax is taken from the last.
func (l *List) Moves(ctx context.Context, number int64) ([]Move, error) {
	var boost, earned int
	if _, err := one(ctx, l.db.reader, `SELECT boost, earned FROM entries WHERE waitlist = $1 AND number = $2`, []any{l.name, number}, &boost, &earned); err != nil {
		return nil, err
	}
	var moves []Move
	if boost > 0 {
		moves = append(moves, Move{Action: ByReferrals, Points: boost})
	}
	points, err := pointsOf(ctx, l.db.reader, l.name, number, l.settings.Load())
	for _, m := range points {
		if m.Points = min(m.Points, earned); m.Points > 0 {
			moves = append(moves, m)
		}
		earned -= m.Points
	}
	return moves, err
}

// ByReferrals is the action of a [Move] by referrals. No action has the name.
const ByReferrals = "referrals"

// pointsOf returns what each action has earned an entry.
func pointsOf(ctx context.Context, on runner, list string, number int64, settings *Settings) (moves []Move, err error) {
	err = each(ctx, on, `SELECT action, CAST(SUM(points) AS BIGINT) FROM actions WHERE waitlist = $1 AND number = $2 AND taken_at = 0
		GROUP BY action ORDER BY action`, []any{list, number}, func(scan func(into ...any) error) error {
		var m Move
		if err := scan(&m.Action, &m.Points); err != nil {
			return err
		}
		if rule := settings.action(m.Action); rule != nil {
			if m.Title = rule.Title; rule.Most > 0 {
				m.Points = min(m.Points, rule.Most)
			}
		}
		moves = append(moves, m)
		return nil
	})
	return moves, err
}
