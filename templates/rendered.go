package templates

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Rendered is a page or a JSON answer with gaps for a visitor's own values. It is immutable
// and safe for concurrent use.
type Rendered struct {
	text   []byte
	gaps   []gap
	packed []packed // the text before each gap, and after the last, as [Rendered.AppendGzip] sends it
	placed bool     // some gaps are for the numbers of a place
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
	bucketID
	arrivedAt
	refreshInterval
	claimUntil
	refreshLeft
	address
	placedAt
	shuffleEntry
	supportCode
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

const stampLen = len("2006-01-02T15:04:05.000Z")

// AppendTo appends the text to dst, with a visitor's own values in the gaps. A page of a room
// that rejects always shows 0 seconds. A page that was rendered for a place is for visitors
// whose place has the same shape. AppendTo allocates nothing if dst has space.
func (r *Rendered) AppendTo(dst []byte, v Visitor) []byte {
	own := r.valuesOf(v)
	from := 0
	for _, c := range r.gaps {
		dst = own.append(append(dst, r.text[from:c.at]...), c.value)
		from = c.at
	}
	return append(dst, r.text[from:]...)
}

// values are a visitor's own values, ready to be written.
type values struct {
	Visitor
	stamp [stampLen]byte
}

func (r *Rendered) valuesOf(v Visitor) values {
	own := values{Visitor: v}
	if len(r.gaps) > 0 {
		putStamp(&own.stamp, v.LastUpdated)
	}
	if r.placed {
		own.Place = v.Place.resolved()
	}
	return own
}

// append appends one of the values.
func (o *values) append(dst []byte, value ownValue) []byte {
	switch value {
	case lastUpdated:
		return append(dst, o.stamp[:]...)
	case lastUpdatedTime:
		return append(append(dst, o.stamp[11:19]...), " UTC"...)
	case refreshInterval:
		return strconv.AppendInt(dst, int64(max(o.RefreshSeconds, 1)), 10)
	case refreshLeft:
		return strconv.AppendInt(dst, int64(max(o.LeftSeconds, 1)), 10)
	case claimUntil:
		return appendStamp(dst, o.ClaimUntil)
	case bucketID:
		return appendStamp(dst, o.BucketID)
	case arrivedAt:
		return appendStamp(dst, o.ArrivedAt)
	case placedAt:
		return appendStamp(dst, o.PlacedAt)
	case shuffleEntry:
		return append(dst, o.Entry...)
	case supportCode:
		if o.SupportCode == (SupportCode{}) {
			return dst
		}
		return append(dst, o.SupportCode[:]...)
	case address:
		return appendEscaped(dst, cmp.Or(o.Address, "/"))
	case positionOrdinal:
		return appendOrdinal(dst, o.Place.number(position))
	default:
		return strconv.AppendUint(dst, o.Place.number(value), 10)
	}
}

// appendStamp appends a time as putStamp writes it.
func appendStamp(dst []byte, t time.Time) []byte {
	var stamp [stampLen]byte
	putStamp(&stamp, t)
	return append(dst, stamp[:]...)
}

// appendEscaped appends a text as HTML.
func appendEscaped(dst []byte, text string) []byte {
	for i := range len(text) {
		switch c := text[i]; c {
		case '&':
			dst = append(dst, "&amp;"...)
		case '\'':
			dst = append(dst, "&#39;"...)
		case '"':
			dst = append(dst, "&#34;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// Ordinal is the variable positionOrdinal for a position: "7th", or "" for none.
func Ordinal(position int) string {
	if position <= 0 {
		return ""
	}
	return string(appendOrdinal(nil, uint64(position)))
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
	return own{
		address: "/", refresh: 0, refreshLeft: 0, position: n, positionOrdinal: Ordinal(n), usersAhead: d.UsersAhead, usersQueued: d.UsersQueued,
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
	o.lastUpdated, o.clock, o.address = mark(lastUpdated), mark(lastUpdatedTime), mark(address)
	if d.ClaimRequired {
		o.claimUntil = mark(claimUntil)
	}
	if d.Refreshes() {
		o.refresh, o.refreshLeft, o.arrived, o.support = mark(refreshInterval), mark(refreshLeft), mark(arrivedAt), mark(supportCode)
	}
	if d.counts() {
		o.bucket = mark(bucketID)
	}
	if d.Refreshes() && d.ordersBuckets() && !(d.Event.Prequeueing && d.Event.Shuffle) {
		o.placed = mark(placedAt)
	}
	if d.Drawn {
		o.entry = mark(shuffleEntry)
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
	r.placed = slices.ContainsFunc(r.gaps, func(g gap) bool { return g.value >= ticketNumber })
	return r
}
