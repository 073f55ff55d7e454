package templates

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strconv"
	"sync"
	"time"
)

// Rendered is a page or a JSON answer with gaps for a visitor's own values. It is immutable
// and safe for concurrent use.
type Rendered struct {
	text      []byte
	gaps      []gap
	size      int  // of everything but the numbers
	intervals int  // how many gaps are for the refresh interval
	placed    bool // some gaps are for the numbers of a place
}

// A gap is where a visitor's own value goes into the text.
type gap struct {
	at    int
	value ownValue
}

type ownValue byte

const (
	lastUpdated ownValue = iota
	lastUpdatedTime
	arrivedAt
	refreshInterval
	// The numbers of a place in the line.
	ticketNumber
	firstWaitingNumber
	lastWaitingNumber
	position
	usersAhead
	usersQueued
	waitTime
	waitTimeHours
	waitTimeHourMinutes
	positionOrdinal
)

const (
	stampLen = len("2006-01-02T15:04:05.000Z")
	clockLen = len("15:04:05 UTC")
)

// AppendTo appends the text to dst, with a visitor's own values in the gaps. A page of a room
// that rejects always shows 0 seconds. A page that was rendered for a place is for visitors
// whose place has the same shape. AppendTo allocates nothing if dst has space for
// [Rendered.Len] more bytes.
func (r *Rendered) AppendTo(dst []byte, v Visitor) []byte {
	var stamp [stampLen]byte
	if len(r.gaps) > 0 {
		putStamp(&stamp, v.LastUpdated)
	}
	if r.placed {
		v.Place = v.Place.resolved()
	}
	from := 0
	for _, c := range r.gaps {
		dst = append(dst, r.text[from:c.at]...)
		switch c.value {
		case lastUpdated:
			dst = append(dst, stamp[:]...)
		case lastUpdatedTime:
			dst = append(append(dst, stamp[11:19]...), " UTC"...)
		case arrivedAt:
			var arrived [stampLen]byte
			putStamp(&arrived, v.ArrivedAt)
			dst = append(dst, arrived[:]...)
		case refreshInterval:
			dst = strconv.AppendInt(dst, int64(max(v.RefreshSeconds, 1)), 10)
		case positionOrdinal:
			dst = appendOrdinal(dst, v.Place.number(position))
		default:
			dst = strconv.AppendUint(dst, v.Place.number(c.value), 10)
		}
		from = c.at
	}
	return append(dst, r.text[from:]...)
}

// Len is the number of bytes that AppendTo appends for the visitor.
func (r *Rendered) Len(v Visitor) int {
	n := r.size + r.intervals*digits(uint64(max(v.RefreshSeconds, 1)))
	if !r.placed {
		return n
	}
	v.Place = v.Place.resolved()
	for _, c := range r.gaps {
		switch {
		case c.value == positionOrdinal:
			n += digits(v.Place.number(position)) + len("th")
		case c.value >= ticketNumber:
			n += digits(v.Place.number(c.value))
		}
	}
	return n
}

// appendOrdinal appends n as an English ordinal: 1st, 2nd, 11th.
func appendOrdinal(dst []byte, n uint64) []byte {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return append(strconv.AppendUint(dst, n, 10), suffix...)
}

func digits(n uint64) int {
	digits := 1
	for ; n >= 10; n /= 10 {
		digits++
	}
	return digits
}

// putStamp writes t as "2006-01-02T15:04:05.000Z". A year outside of 0 to 9999 becomes the
// nearest of these. Package time writes RFC 3339 four times as fast as any other layout, in
// 60 ns, but without milliseconds.
func putStamp(stamp *[stampLen]byte, t time.Time) {
	t = t.UTC()
	if year := t.Year(); year < 0 || year > 9999 {
		t = t.AddDate(min(max(year, 0), 9999)-year, 0, 0)
	}
	t.AppendFormat(stamp[:0], time.RFC3339)
	millis := t.Nanosecond() / int(time.Millisecond)
	copy(stamp[19:], []byte{'.', '0' + byte(millis/100), '0' + byte(millis/10%10), '0' + byte(millis%10), 'Z'})
}

// marks is the text with which each mark begins. A mark is in the place of a visitor's own
// value while a template is rendered: it is this long random number, and two digits that
// say which value it is for. It is a number, so that it is true in a Mustache section, valid
// in JSON, and not changed by any escaping. It is random, and drawn anew in each process, so
// that no template and no value can have it.
var marks = sync.OnceValue(func() string {
	digits := make([]byte, 40)
	// Reading from crypto/rand never fails: the process would end instead.
	_, _ = rand.Read(digits)
	for i, b := range digits {
		digits[i] = '1' + b%9
	}
	return string(digits)
})

// ownOf are the visitor's own values as a state has them, without the times and the interval.
// The state has to be resolved.
func ownOf(d Data) own {
	n, _ := d.position()
	ordinal := ""
	if n > 0 {
		ordinal = string(appendOrdinal(nil, uint64(n)))
	}
	return own{
		refresh: 0, position: n, positionOrdinal: ordinal, usersAhead: d.UsersAhead, usersQueued: d.UsersQueued,
		number: d.Place.TicketNumber, first: d.Place.FirstWaitingNumber, last: d.Place.LastWaitingNumber,
		waitTime: d.WaitTime, waitTimeHours: d.WaitTime / 60, waitTimeHourMinutes: d.WaitTime % 60,
		waitTimeFormatted: FormatWaitTime(d),
	}
}

// marked are the visitor's own values for a state with marks in their place: in the place of
// the times, of the interval if visitors check in again, and of a place's numbers. A number
// that is zero keeps its value, because it is false in a section. The state has to be
// resolved.
func marked(d Data) own {
	mark := func(v ownValue) string { return fmt.Sprintf("%s%02d", marks(), v) }
	o := ownOf(d)
	o.lastUpdated, o.clock = mark(lastUpdated), mark(lastUpdatedTime)
	if d.Refreshes() {
		o.refresh, o.arrived = mark(refreshInterval), mark(arrivedAt)
	}
	if d.Place == (Place{}) {
		return o
	}
	for v, value := range map[ownValue]*any{
		ticketNumber: &o.number, firstWaitingNumber: &o.first, lastWaitingNumber: &o.last, position: &o.position, usersAhead: &o.usersAhead, usersQueued: &o.usersQueued,
		waitTime: &o.waitTime, waitTimeHours: &o.waitTimeHours, waitTimeHourMinutes: &o.waitTimeHourMinutes,
	} {
		if *value != any(0) && *value != any(uint64(0)) {
			*value = mark(v)
		}
	}
	if o.positionOrdinal != "" {
		o.positionOrdinal = mark(positionOrdinal)
	}
	if d.WaitTime > 1 {
		o.waitTimeFormatted = mark(waitTime) + " minutes"
	}
	return o
}

// split turns a text with marks into one with gaps.
func split(text []byte) *Rendered {
	mark := []byte(marks())
	r := &Rendered{text: make([]byte, 0, len(text))}
	for {
		before, after, found := bytes.Cut(text, mark)
		r.text = append(r.text, before...)
		if !found || len(after) < 2 {
			break
		}
		r.gaps = append(r.gaps, gap{at: len(r.text), value: ownValue(10*(after[0]-'0') + after[1] - '0')})
		text = after[2:]
	}
	r.size = len(r.text)
	for _, c := range r.gaps {
		switch c.value {
		case lastUpdated, arrivedAt:
			r.size += stampLen
		case lastUpdatedTime:
			r.size += clockLen
		case refreshInterval:
			r.intervals++
		default:
			r.placed = true
		}
	}
	return r
}
