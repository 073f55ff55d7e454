package main

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"sync"
)

//go:embed shop.html
var shopPage []byte

// shop is a site of one page and an API. It knows nothing of rooms.
type shop struct {
	*http.ServeMux
	mu     sync.Mutex
	orders []string
}

func newShop() *shop {
	s := &shop{ServeMux: http.NewServeMux()}
	s.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(shopPage)
	})
	s.HandleFunc("GET /api/offers", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"offers": []string{"lamp", "chair", "kettle"}})
	})
	s.HandleFunc("POST /api/orders", s.order)
	s.HandleFunc("POST /api/leave", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Fairdoor-Command", "revoke") // the place is free at once
		reply(w, map[string]any{})
	})
	return s
}

// order takes an order: {"item": "lamp"}.
func (s *shop) order(w http.ResponseWriter, r *http.Request) {
	var order struct{ Item string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&order); err != nil || order.Item == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orders = append(s.orders, order.Item)
	reply(w, map[string]any{"ordered": order.Item, "number": len(s.orders)})
}

func reply(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}
