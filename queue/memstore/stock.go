package memstore

import "github.com/fairdoor-gate/fairdoor/queue"

// learnStock takes in what a node has heard from the origin.
func (r *room) learnStock(s queue.Stock) {
	if s.At <= r.stock.At {
		return
	}
	s = r.stock.Later(s)
	if s.Left != r.stock.Left || !r.stock.Known() {
		r.journal.stock(s)
	}
	if s.Items != r.stock.Items {
		r.journal.items(s.Items)
	}
	r.stock = s
	r.goByStock()
}

// goByStock holds everyone new while the room is sold out.
func (r *room) goByStock() {
	r.settings = r.current.Settings
	if r.settings.SoldOut(r.stock) {
		r.settings.QueueAll = true
	}
}
