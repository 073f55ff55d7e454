package waitlist

import (
	"cmp"
	"context"
	"strconv"
	"time"
)

// Operator names who does something to a list, for the audit log: a person, a token, or a program.
type Operator string

// theGate is named for what is done by no operator.
const theGate Operator = "the gate"

// MostPriority is the most that an operator can give, up or down. Referrals come on top of it.
const MostPriority = 30_000

// mostChanged is how many entries one transaction changes, so that others get their turn while many
// are changed. A part of a sweep takes some 1,000 statements then: it is done in time even if the
// way to the database and back takes 20 ms.
const mostChanged = 100

// Audit is a line of the audit log: what an operator has done, or that the gate had to give an
// invite up. It has no personal data of people on the list. The admin API has it as JSON.
type Audit struct {
	ID       int64     `json:"id"`
	At       time.Time `json:"at"`
	Operator Operator  `json:"by"`
	Action   string    `json:"action"`          // release, schedule, cancel, pause, resume, remove, priority, points, take_back, status, referral, import or export; undelivered is by the gate
	Number   int64     `json:"entry,omitempty"` // of the entry that it was done to; 0 if to the list
	Detail   string    `json:"detail,omitempty"`
}

// audited is what an operation says for the audit log; or, if it is refused, why.
type audited struct {
	action  string
	number  int64
	detail  string
	refused error
}

// operate writes what an operator does, and a line of the audit log with it.
func (l *List) operate(ctx context.Context, by Operator, now time.Time, do func(*tx) (audited, error)) error {
	return l.proceed(ctx, new(int64), by, now, do)
}

// proceed is operate for an operation that takes several transactions. They share a line of the
// audit log: the first one writes it and sets line to its id, and each of the others brings its
// detail up to date.
func (l *List) proceed(ctx context.Context, line *int64, by Operator, now time.Time, do func(*tx) (audited, error)) error {
	var a audited
	var written int64
	err := l.write(ctx, now, func(t *tx) (err error) {
		if a, err = do(t); err != nil || a.refused != nil {
			return err
		}
		written, err = t.audit(*line, by, a, t.now)
		return err
	})
	if err != nil {
		return err
	}
	*line = cmp.Or(written, *line)
	return a.refused
}

// audit writes a line of the audit log, or the detail of the one that is there, and returns its id.
func (t *tx) audit(line int64, by Operator, a audited, now int64) (int64, error) {
	if line != 0 {
		return line, t.exec(`UPDATE audit SET detail = $3 WHERE waitlist = $1 AND id = $2`, t.list, line, a.detail)
	}
	err := t.must(`INSERT INTO audit (waitlist, id, at, operator, action, number, detail)
		SELECT $1, COALESCE(MAX(id), 0) + 1, $2, $3, $4, $5, $6 FROM audit WHERE waitlist = $1 RETURNING id`,
		[]any{t.list, now, string(by), a.action, a.number, a.detail}, &line)
	return line, err
}

// Log returns lines of the audit log, the newest first, from the one before the given; 0 is from
// the newest.
func (l *List) Log(ctx context.Context, before int64, most int) (lines []Audit, err error) {
	err = each(ctx, l.db.reader, `SELECT id, at, operator, action, number, detail FROM audit
		WHERE waitlist = $1 AND id < $2 ORDER BY id DESC LIMIT $3`, []any{l.name, cmp.Or(before, 1<<62), most},
		func(scan func(into ...any) error) error {
			var a Audit
			var at int64
			err := scan(&a.ID, &at, &a.Operator, &a.Action, &a.Number, &a.Detail)
			a.At = when(at)
			lines = append(lines, a)
			return err
		})
	return lines, err
}

// Pause stops invites: nothing is released, by hand, by plan, or in the place of spots that have
// ended, until Resume. People can sign up and accept, and invites expire.
func (l *List) Pause(ctx context.Context, by Operator, now time.Time) error {
	return l.operate(ctx, by, now, func(t *tx) (audited, error) {
		t.paused = 1
		return audited{action: "pause"}, nil
	})
}

// Resume ends a pause. Spots that have ended meanwhile go to the next.
func (l *List) Resume(ctx context.Context, by Operator, now time.Time) error {
	return l.operate(ctx, by, now, func(t *tx) (audited, error) {
		t.paused = 0
		return audited{action: "resume"}, nil
	})
}

// Remove does what Leave does, for an operator. The error is ErrNotFound.
func (l *List) Remove(ctx context.Context, number int64, by Operator, now time.Time) error {
	return l.onEntry(ctx, number, by, now, func(t *tx, s standing) (audited, error) {
		return audited{action: "remove"}, t.erase(number, t.now, EventRemoved)
	})
}

// SetPriority sets the priority of an entry, from -MostPriority to MostPriority. What referrals and
// actions have earned before is part of it, and what they earn later comes on top. It is for
// people: programs that set priorities would overwrite each other's, and call Report. The errors
// are ErrNotFound and ErrRange.
func (l *List) SetPriority(ctx context.Context, number int64, priority int, by Operator, now time.Time) error {
	if priority < -MostPriority || priority > MostPriority {
		return ErrRange
	}
	return l.onEntry(ctx, number, by, now, func(t *tx, s standing) (audited, error) {
		if s.status == Waiting && int64(priority) > s.priority {
			t.tell(EventMovedUp, number)
		}
		return audited{action: "priority", detail: strconv.Itoa(priority)},
			t.exec(`UPDATE entries SET priority = $3, version = $4 WHERE waitlist = $1 AND number = $2`, t.list, number, priority, t.version)
	})
}

// SetStatus takes an entry to another status: Waiting confirms it, or puts it back in its place and
// takes its spot away; Invited and Accepted give it a spot out of turn; Expired ends its invite;
// Removed removes it. The errors are ErrNotFound, ErrFull if no spot is free, and ErrStatus if
// there is no way from its status to the other.
func (l *List) SetStatus(ctx context.Context, number int64, to Status, by Operator, now time.Time) error {
	return l.onEntry(ctx, number, by, now, func(t *tx, s standing) (audited, error) {
		refused, err := t.move(s, to, t.now)
		return audited{action: "status", detail: string(s.status) + " to " + string(to), refused: refused}, err
	})
}

// onEntry operates on an entry that is not removed.
func (l *List) onEntry(ctx context.Context, number int64, by Operator, now time.Time, do func(*tx, standing) (audited, error)) error {
	return l.operate(ctx, by, now, func(t *tx) (audited, error) {
		s, found, err := t.find(`number = $2`, number)
		if err != nil {
			return audited{}, err
		}
		if !found || s.status == Removed {
			return audited{refused: ErrNotFound}, nil
		}
		a, err := do(t, s)
		a.number = number
		return a, err
	})
}

// move takes an entry to a status. What it refuses it has not begun.
func (t *tx) move(s standing, to Status, now int64) (refused, err error) {
	switch to {
	case s.status:
		return nil, nil
	case Waiting:
		return nil, t.putBack(s, now)
	case Invited, Accepted:
		return t.admit(s, to, now)
	case Expired:
		if s.status != Invited {
			return ErrStatus, nil
		}
		return nil, t.lapse(s.number, now)
	case Removed:
		return nil, t.erase(s.number, now, EventRemoved)
	default:
		return ErrStatus, nil
	}
}

// putBack puts an entry in line. A spot that it holds is not owed to anybody: the operator may
// release it, perhaps to others.
func (t *tx) putBack(s standing, now int64) error {
	if s.status == Unconfirmed {
		return t.confirm(s.number, now)
	}
	if err := t.endSpot(s.number, spotFreed, false, now); err != nil {
		return err
	}
	t.tell(EventPutBack, s.number)
	return t.setStatus(s.number, Waiting)
}

// admit gives an entry a spot, or accepts the one that it has.
func (t *tx) admit(s standing, to Status, now int64) (refused, err error) {
	switch {
	case s.status == Accepted:
		return ErrStatus, nil
	case s.status == Invited:
		return nil, t.take(s.number, now)
	case t.free(1) == 0:
		return ErrFull, nil
	case s.status == Unconfirmed:
		if err := t.confirm(s.number, now); err != nil {
			return nil, err
		}
	}
	if to == Invited {
		who, err := t.invitees(`number = $2`, s.number)
		if err != nil {
			return nil, err
		}
		return nil, t.invite(who, nil, now)
	}
	return nil, t.give(s.number, spotAccepted, now)
}
