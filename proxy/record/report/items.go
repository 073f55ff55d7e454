package report

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
)

// Item is what people who waited were told of a thing that there was to buy, while its price and
// whether it was sold out stayed the same.
type Item struct {
	Room    string    `json:"room,omitempty"` // of a family, that was told other than the family has it
	Name    string    `json:"name"`
	Price   string    `json:"price"` // "" where it was not told
	From    time.Time `json:"from"`  // when it was told first
	To      time.Time `json:"to"`    // until when it was told
	First   *int      `json:"leftAtFirst"`
	Last    *int      `json:"leftAtLast"`
	SoldOut bool      `json:"soldOut"`
}

// told is an item as an offer of a record has it: a queue.Item.
type told struct {
	Name    string `json:"name"`
	Price   string `json:"price"`
	Left    *int   `json:"left"`
	SoldOut bool   `json:"soldOut"`
}

// itemsOf are what people were told of all items, in the order in which each was told first.
func itemsOf(minutes []record.Minute, to time.Time) []Item {
	all, open := []Item{}, map[[2]string]int{} // where those that are told still are in all
	for _, m := range minutes {
		if m.Room == nil {
			continue
		}
		for key, at := range open { // what goes on is told again in each minute
			if !slices.ContainsFunc(m.Room.Items, func(o record.Offer) bool { return o.Room == key[0] }) {
				all[at].To = m.At
				delete(open, key)
			}
		}
		for _, offer := range m.Room.Items {
			var list []told
			_ = json.Unmarshal(offer.Items, &list) // what is no list is none
			now := map[string]told{}
			for _, one := range list {
				now[one.Name] = one
			}
			for key, at := range open {
				is, goesOn := now[key[1]]
				if was := &all[at]; key[0] == offer.Room && (!goesOn || is.Price != was.Price || is.SoldOut != was.SoldOut) {
					was.To = offer.At
					delete(open, key)
				}
			}
			for _, one := range list {
				key := [2]string{offer.Room, one.Name}
				if at, goesOn := open[key]; goesOn {
					all[at].Last = one.Left
					continue
				}
				open[key] = len(all)
				all = append(all, Item{Room: offer.Room, Name: one.Name, Price: one.Price, From: offer.At, To: to, First: one.Left, Last: one.Left, SoldOut: one.SoldOut})
			}
		}
	}
	return all
}

// Left writes how many were left, from the first moment to the last.
func (i Item) Left() string {
	switch {
	case i.SoldOut:
		return "sold out"
	case i.First == nil && i.Last == nil:
		return "not told"
	case i.First == nil || i.Last == nil:
		return number(*cmp.Or(i.First, i.Last))
	case *i.First == *i.Last:
		return number(*i.First)
	}
	return number(*i.First) + " → " + number(*i.Last)
}
