package queue

// Stock is how much the origin has said is left. The zero Stock is not known.
type Stock struct {
	At   Instant // when a node asked the origin; of what several nodes have heard, the latest counts
	Left int
	// Items are what the origin has said of single items last; "" for nothing,
	// and [NoItems] once it has taken that back.
	Items Items
}

// MaxLeftItems is the highest count that an origin may tell.
const MaxLeftItems = 999_999_999

// Known reports whether the origin has said how much is left.
func (s Stock) Known() bool { return s.At != 0 }

// Later returns the later of two, with the items of the other one where it has none.
func (s Stock) Later(o Stock) Stock {
	if o.At <= s.At {
		return s
	}
	if o.Items == "" {
		o.Items = s.Items
	}
	return o
}

// SellsFrom is the moment from which on what is left counts: what was left before the event in
// force, or before the room was set to close, says nothing of now.
func (s *Settings) SellsFrom() Instant { return max(s.Event.Start, s.ClosesFrom) }

// SoldOut reports whether nothing is left, and the room is closed for that. In a room that holds
// every new visitor they wait, as nobody knows what is left when they are let in.
func (s *Settings) SoldOut(stock Stock) bool {
	return s.OnSoldOut == CloseToAll && stock.Known() && stock.Left == 0 && stock.At >= s.SellsFrom() && !s.HoldsNew()
}
