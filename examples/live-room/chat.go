package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// The pages of the chat: where rooms are chosen, and a room.
var (
	//go:embed lobby.html
	lobbyPage []byte
	//go:embed room.html
	roomPage []byte
)

// message goes to everyone in a room. Name and Text are empty if it only says who is in.
type message struct {
	Name   string   `json:"name,omitempty"`
	Text   string   `json:"text,omitempty"`
	People []string `json:"people,omitempty"`
}

// room has those who are connected in a room, and the names of those who are in, as the gate tells
// them.
type room struct {
	members []*websocket.Conn
	people  []string
	stop    context.CancelFunc // of what follows who is in
}

// chat is a site of rooms that people talk in. It lets in everyone who comes: how
// many may, and who is in, is the gate's affair.
type chat struct {
	*http.ServeMux
	gate  gate
	mu    sync.Mutex
	rooms map[string]*room
}

func newChat(g gate) *chat {
	c := &chat{ServeMux: http.NewServeMux(), gate: g, rooms: map[string]*room{}}
	c.HandleFunc("GET /{$}", page(lobbyPage))
	c.HandleFunc("GET /room/{id}", page(roomPage))
	c.HandleFunc("GET /room/{id}/talk", c.serveMember)
	c.HandleFunc("POST /room/{id}/leave", leave)
	return c
}

func page(html []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(html)
	}
}

// leave gives the visitor's seat back at once, rather than after line_grace.
func leave(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Fairdoor-Command", "revoke")
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// serveMember serves a visitor's websocket for as long as they are in the room. The answer tells the
// gate what they are called.
func (c *chat) serveMember(w http.ResponseWriter, r *http.Request) {
	if about, err := json.Marshal(map[string]string{"name": r.URL.Query().Get("name")}); err == nil {
		w.Header().Set("Fairdoor-Visitor", string(about))
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has been answered
	}
	defer func() { _ = conn.CloseNow() }()
	ctx, room := r.Context(), r.PathValue("id")
	c.enter(room, conn)
	defer c.exit(room, conn)
	c.broadcast(ctx, room, message{})
	for {
		var m message
		if err := wsjson.Read(ctx, conn, &m); err != nil {
			return
		}
		c.broadcast(ctx, room, message{Name: m.Name, Text: m.Text})
	}
}

// enter takes in a member. The first has the chat follow who is in.
func (c *chat) enter(id string, conn *websocket.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.rooms[id]
	if of == nil {
		ctx, stop := context.WithCancel(context.Background())
		of = &room{stop: stop}
		c.rooms[id] = of
		go c.gate.follow(ctx, id, func(names []string) { c.broadcast(ctx, id, message{People: names}) })
	}
	of.members = append(of.members, conn)
}

// exit lets a member go. The last ends what the first began.
func (c *chat) exit(id string, conn *websocket.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.rooms[id]
	of.members = slices.DeleteFunc(of.members, func(other *websocket.Conn) bool { return other == conn })
	if len(of.members) == 0 {
		of.stop()
		delete(c.rooms, id)
	}
}

// broadcast sends a message to everyone in a room, with who is in.
func (c *chat) broadcast(ctx context.Context, id string, m message) {
	c.mu.Lock()
	of := c.rooms[id]
	if of == nil {
		c.mu.Unlock()
		return
	}
	if m.People != nil {
		of.people = m.People
	}
	members := slices.Clone(of.members)
	m.People = of.people
	c.mu.Unlock()
	for _, conn := range members {
		// A write fails for those who are gone, or will be soon: their serveMember ends.
		ctx, stop := context.WithTimeout(ctx, time.Second)
		_ = wsjson.Write(ctx, conn, m)
		stop()
	}
}
