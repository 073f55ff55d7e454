package event

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// Header is the first line of a published order. Entries and Digest are those of one gate: how many
// came to it, and the SHA-256 of their names, each with a line feed behind it, in the order of
// their places.
type Header struct {
	Room     string    `json:"room"`
	Event    string    `json:"event"`
	Prequeue time.Time `json:"prequeue_start_time"`
	Start    time.Time `json:"event_start_time"`
	Seed     string    `json:"seed"`
	SeedHash string    `json:"seed_hash"`
	Entries  int       `json:"entries"`
	Digest   string    `json:"digest"`
}

// Line is a line of a published order, after the first.
type Line struct {
	Place int    `json:"place"` // from 1, among those of the list
	Entry string `json:"entry"`
	Draw  string `json:"draw"` // the entry's value, in hexadecimal
}

// Order is a published order.
type Order struct {
	Header
	Lines []Line
}

// NewOrder returns the order of the entries that have come to a gate. A name that is among them
// twice is one entry.
func NewOrder(room string, d *Draw, entries []string) Order {
	o := Order{Header: Header{Room: room, Event: d.Event, Prequeue: d.Prequeue.UTC(), Start: d.Start.UTC(), Seed: d.Seed(), SeedHash: d.SeedHash()}}
	for _, entry := range entries {
		o.Lines = append(o.Lines, Line{Entry: entry, Draw: fmt.Sprintf("%016x", d.Value(entry))})
	}
	o.Lines = ranked(o.Lines)
	o.Entries, o.Digest = len(o.Lines), digest(o.Lines)
	return o
}

// ranked returns the lines in the order of their draws, each entry once.
func ranked(lines []Line) []Line {
	slices.SortFunc(lines, func(a, b Line) int { return cmp.Or(cmp.Compare(a.Draw, b.Draw), cmp.Compare(a.Entry, b.Entry)) })
	lines = slices.CompactFunc(lines, func(a, b Line) bool { return a.Entry == b.Entry })
	for i := range lines {
		lines[i].Place = i + 1
	}
	return lines
}

func digest(lines []Line) string {
	sum := sha256.New()
	for _, l := range lines {
		_, _ = io.WriteString(sum, l.Entry+"\n")
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Write writes the order as lines of JSON: the header, and then a line for each place.
func (o *Order) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	if err := lines.Encode(o.Header); err != nil {
		return fmt.Errorf("writing an order: %w", err)
	}
	for _, l := range o.Lines {
		if err := lines.Encode(l); err != nil {
			return fmt.Errorf("writing an order: %w", err)
		}
	}
	return out.Flush()
}

// ReadOrder reads what Write writes, and checks that it is what a gate has written: each value
// follows from the seed, the seed from its hash, the places from the values, and nothing was added,
// left out, moved or altered since the header was written. The error says in a sentence what is
// wrong.
func ReadOrder(r io.Reader) (Order, error) {
	var o Order
	in := json.NewDecoder(bufio.NewReader(r))
	in.DisallowUnknownFields()
	if err := in.Decode(&o.Header); err != nil || o.Seed == "" {
		return o, fmt.Errorf("the first line is not the header of an order")
	}
	seed, err := hex.DecodeString(o.Seed)
	if err != nil {
		return o, fmt.Errorf("the seed is not in hexadecimal")
	}
	if hash := sha256.Sum256(seed); hex.EncodeToString(hash[:]) != o.SeedHash {
		return o, fmt.Errorf("the seed does not have the hash that was shown before: another seed was put in its place")
	}
	for number := 2; ; number++ {
		var l Line
		if err := in.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			return o, fmt.Errorf("line %d is not an entry", number)
		}
		if err := o.take(number, l, seed); err != nil {
			return o, err
		}
	}
	switch {
	case len(o.Lines) < o.Entries:
		return o, fmt.Errorf("there are %d entries, and the header says %d: entries are missing", len(o.Lines), o.Entries)
	case len(o.Lines) > o.Entries:
		return o, fmt.Errorf("there are %d entries, and the header says %d: entries were added", len(o.Lines), o.Entries)
	case digest(o.Lines) != o.Digest:
		return o, fmt.Errorf("the entries do not have the digest that the header says: they are not those that the gate has listed")
	}
	return o, nil
}

// take checks a line against the seed and the line before.
func (o *Order) take(number int, l Line, seed []byte) error {
	if want := fmt.Sprintf("%016x", value(seed, o.Event, o.Prequeue, l.Entry)); l.Draw != want {
		return fmt.Errorf("line %d: the entry %s has drawn %s by the seed, and the list says %s: the entry or its draw was altered", number, l.Entry, want, l.Draw)
	}
	if last := len(o.Lines) - 1; last >= 0 && o.Lines[last].Draw >= l.Draw {
		return fmt.Errorf("line %d: the entry %s stands behind an entry that has drawn more: it was moved, or is there twice", number, l.Entry)
	}
	if l.Place != len(o.Lines)+1 {
		return fmt.Errorf("line %d: the entry %s has place %d, and is the %d. of the list: an entry is missing or was added, or the place was altered",
			number, l.Entry, l.Place, len(o.Lines)+1)
	}
	o.Lines = append(o.Lines, l)
	return nil
}

// Join returns the order of the entries of several gates together. The error says in a sentence why
// the orders are not of one draw.
func Join(orders []Order) (Order, error) {
	joined := Order{Header: orders[0].Header}
	for i := range orders {
		o := &orders[i]
		if o.Room != joined.Room || o.Event != joined.Event || !o.Prequeue.Equal(joined.Prequeue) || o.Seed != joined.Seed {
			return joined, fmt.Errorf("the lists are not of one draw: the event, the room, the start of the prequeue or the seed differ")
		}
		joined.Lines = append(joined.Lines, o.Lines...)
	}
	joined.Lines = ranked(joined.Lines)
	joined.Entries, joined.Digest = len(joined.Lines), digest(joined.Lines)
	return joined, nil
}
