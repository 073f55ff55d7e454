package overrides

import (
	"context"
	"fmt"
	"maps"
	"time"
)

const (
	// aheadFor is for how long a visitor whom operators have put ahead stays that.
	aheadFor = time.Hour
	// mostAhead is how many are put ahead at a time: each request of somebody who waits is looked at
	// while there are any.
	mostAhead = 100
)

// PutAhead has the visitor of a support code be ahead of everybody who waits, on every gate, or no
// longer. It fails with a FaultsError while too many are; other errors are the store's.
func (r *Room) PutAhead(ctx context.Context, now time.Time, code string, ahead bool, by string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.configure(ctx, now, by, func(d Document) (Document, error) {
		at := r.at(now).Time()
		next := d.aheadAt(at)
		if _, is := next[code]; ahead && !is {
			d = d.favoured(at)
		}
		delete(next, code)
		if ahead {
			if next == nil {
				next = map[string]Author{}
			}
			next[code] = Author{By: by, At: at, Until: at.Add(aheadFor)}
		}
		if len(next) > mostAhead {
			return d, &FaultsError{Faults: []string{fmt.Sprintf("%d visitors are put ahead already, which is the most at a time", mostAhead)}}
		}
		d.Ahead = next
		return d, nil
	})
}

// Favours are how many visitors operators have put ahead of others in a minute.
type Favours struct {
	Minute time.Time `json:"minute"`
	People int       `json:"people"`
}

// favoursToldFor is for how long those who wait are told how many were put ahead.
const favoursToldFor = time.Hour

// favoured returns d with one more visitor whom operators have put ahead. It counts who was given
// back their own place, too: they may have been let in meanwhile.
func (d Document) favoured(at time.Time) Document {
	minute, people := at.UTC().Truncate(time.Minute), 1
	before := d.Favours
	d.Favours = nil
	for _, f := range before {
		switch {
		case f.Minute.Equal(minute):
			people += f.People
		case minute.Sub(f.Minute) <= favoursToldFor:
			d.Favours = append(d.Favours, f)
		}
	}
	d.Favours = append(d.Favours, Favours{minute, people})
	return d
}

// NoteFavour counts a visitor to whom operators have given a priority, on every gate.
func (r *Room) NoteFavour(ctx context.Context, now time.Time, by string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.configure(ctx, now, by, func(d Document) (Document, error) { return d.favoured(r.at(now).Time()), nil })
}

// Favoured is how many visitors operators have put ahead of others within the last hour.
func (r *Room) Favoured(now time.Time) (people int) {
	minute := r.at(now).Time().UTC().Truncate(time.Minute)
	for _, f := range r.document().Favours {
		if minute.Sub(f.Minute) <= favoursToldFor {
			people += f.People
		}
	}
	return people
}

// aheadAt are those of d who are ahead at a moment still.
func (d Document) aheadAt(at time.Time) map[string]Author {
	still := maps.Clone(d.Ahead)
	maps.DeleteFunc(still, func(_ string, by Author) bool { return by.endedAt(at) })
	return still
}

// Ahead are the visitors whom operators have put ahead, by their support codes; empty for nobody.
func (r *Room) Ahead() map[string]Author { return r.document().Ahead }

// IsAhead says whether operators have put the visitor of a support code ahead.
func (r *Room) IsAhead(now time.Time, code string) bool {
	by, found := r.Ahead()[code]
	return found && !by.endedAt(r.at(now).Time())
}
