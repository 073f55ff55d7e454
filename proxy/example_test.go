package proxy_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// A site has the gate around its own handler, in one process.
func ExampleNew_middleware() {
	site := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "Welcome to the shop")
	})
	key, err := cookie.ParseKey(cookie.NewKey()) // keep it: tickets are good for as long as their key is known
	if err != nil {
		log.Fatal(err)
	}
	gate, err := proxy.New(context.Background(), proxy.Config{
		Handler: site,
		Keys:    []cookie.Key{key},
		Rooms: []proxy.RoomConfig{{
			Name: "shop", Routes: []route.Route{{Path: "/"}}, Basics: config.Basics{JSON: true},
			Settings: queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 60},
		}},
	}, proxy.Options{Store: memstore.New()})
	if err != nil {
		log.Fatal(err)
	}
	defer gate.Close()

	visitors := httptest.NewServer(gate) // and gate.Admin() on a listener of its own
	defer visitors.Close()
	for range 2 {
		answer, err := http.Get(visitors.URL)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("waits:", answer.Header.Get("Fairdoor-Room") == "shop")
		_ = answer.Body.Close()
	}
	// Output:
	// waits: false
	// waits: true
}
