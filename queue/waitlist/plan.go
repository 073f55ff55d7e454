package waitlist

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// Plan is a release that is still to come, once or again and again.
type Plan struct {
	ID    int64
	Size  int // how many are invited each time
	At    time.Time
	Every time.Duration // from one time to the next; 0 is once

	rest int64 // what is still to come of a release that has begun
}

// Schedule plans a release. Of those that come again, one that was missed is not made up for: the
// next comes at its time. The error is ErrRange.
func (l *List) Schedule(ctx context.Context, p Plan, by Operator, now time.Time) (id int64, err error) {
	if p.Size < 1 || p.Every < 0 || p.Every > 0 && p.Every < time.Second || p.At.UnixMilli() <= 0 {
		return 0, ErrRange
	}
	var planned int64
	err = l.operate(ctx, by, now, func(t *tx) (audited, error) {
		t.lastPlan++
		planned = t.lastPlan
		return audited{action: "schedule", detail: fmt.Sprintf("%d at %s every %s", p.Size, p.At.UTC().Format(time.RFC3339), p.Every)},
			t.exec(`INSERT INTO plans (waitlist, id, size, at, period) VALUES ($1, $2, $3, $4, $5)`,
				t.list, planned, p.Size, p.At.UnixMilli(), p.Every.Milliseconds())
	})
	if err != nil {
		return 0, err
	}
	return planned, nil
}

// Cancel cancels a plan. The error is ErrNotFound.
func (l *List) Cancel(ctx context.Context, id int64, by Operator, now time.Time) error {
	return l.operate(ctx, by, now, func(t *tx) (audited, error) {
		n, err := t.count(`DELETE FROM plans WHERE waitlist = $1 AND id = $2`, t.list, id)
		if err == nil && n == 0 {
			return audited{refused: ErrNotFound}, nil
		}
		return audited{action: "cancel", detail: fmt.Sprint(id)}, err
	})
}

// Plans returns the releases that are still to come, the next first.
func (l *List) Plans(ctx context.Context) ([]Plan, error) {
	return plans(ctx, l.db.reader, l.name, `TRUE`)
}

func plans(ctx context.Context, on runner, list, condition string, args ...any) (found []Plan, err error) {
	err = each(ctx, on, `SELECT id, size, at, period, rest FROM plans WHERE waitlist = $1 AND `+condition+` ORDER BY at, id`,
		append([]any{list}, args...), func(scan func(into ...any) error) error {
			var p Plan
			var at, period int64
			err := scan(&p.ID, &p.Size, &at, &period, &p.rest)
			p.At, p.Every = when(at), time.Duration(period)*time.Millisecond
			found = append(found, p)
			return err
		})
	return found, err
}

// runPlans releases what is due, as far as a transaction may. A plan of which something is left
// stays due for the rest. While the list is paused, plans wait.
func (t *tx) runPlans(now int64) (released int, err error) {
	if t.paused != 0 {
		return 0, nil
	}
	due, err := plans(t.ctx, t.on, t.list, `at <= $2`, now)
	if err != nil {
		return 0, err
	}
	for _, p := range due[:min(len(due), mostChanged)] {
		size := cmp.Or(p.rest, int64(p.Size))
		n, err := t.release(size, now)
		if err != nil {
			return 0, err
		}
		released += n
		if rest := size - int64(n); rest > 0 && t.left() == 0 {
			return released, t.exec(`UPDATE plans SET rest = $3 WHERE waitlist = $1 AND id = $2`, t.list, p.ID, rest)
		}
		if err := t.turn(p, now); err != nil {
			return 0, err
		}
	}
	return released, nil
}

// turn sets a plan that is due to its next time, or ends it.
func (t *tx) turn(p Plan, now int64) error {
	if p.Every == 0 {
		return t.exec(`DELETE FROM plans WHERE waitlist = $1 AND id = $2`, t.list, p.ID)
	}
	at, period := p.At.UnixMilli(), p.Every.Milliseconds()
	return t.exec(`UPDATE plans SET at = $3, rest = 0 WHERE waitlist = $1 AND id = $2`, t.list, p.ID, at+((now-at)/period+1)*period)
}
