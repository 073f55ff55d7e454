package queue

import "time"

// Ahead says whether a pass puts its visitor ahead in line, and of whom.
type Ahead uint8

// The values of Ahead.
const (
	NotAhead    Ahead = iota
	AheadOfLine       // of everybody without a pass
	AheadOfAll        // of those, too
)

// By is by how much a place that is put ahead goes by an earlier time than that of the arrival. It
// is longer than anybody waits, and short enough for nodes, which tell the moments of the last 49
// days apart.
func (a Ahead) By() time.Duration { return time.Duration(a) * 10 * 24 * time.Hour }

// Priority is that of a place in an exact line that is put ahead: higher than any that guests have.
func (a Ahead) Priority() int16 {
	if a == NotAhead {
		return 0
	}
	return 30_000 + int16(a)
}

// IsAhead reports whether a waiting ticket's place was put ahead.
func (t *Ticket) IsAhead() bool {
	by := t.CameAt.Sub(t.ArrivedAt)
	return t.CameAt != 0 && (by == AheadOfLine.By() || by == AheadOfAll.By())
}

// GoesAhead reports whether the time of arrival by which a place goes is that of one that was put ahead.
func GoesAhead(arrived, now Instant) bool { return now.Sub(arrived) > AheadOfLine.By()/2 }

// PutAhead has the place of a waiting ticket go by an earlier time.
func (t *Ticket) PutAhead(a Ahead) {
	came := t.Came()
	t.CameAt, t.ArrivedAt = came, came.Add(-a.By())
}

// UsedFrom is the moment from which on an admission has used the place of a waiting ticket.
func (t *Ticket) UsedFrom() Instant {
	if t.IsAhead() {
		return t.CameAt
	}
	return t.ArrivedAt
}
