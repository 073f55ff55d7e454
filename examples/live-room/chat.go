package main

import (
	"context"
	_ "embed"
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

// message goes to everyone in a room. Name and Text are empty if it only says how
// many are present.
type message struct {
	Name    string `json:"name,omitempty"`
	Text    string `json:"text,omitempty"`
	Present int    `json:"present,omitempty"`
}

// chat is a site of rooms that people talk in. It lets in everyone who comes: how
// many may is the gate's affair.
type chat struct {
	*http.ServeMux
	mu    sync.Mutex
	rooms map[string][]*websocket.Conn
}

func newChat() *chat {
	c := &chat{ServeMux: http.NewServeMux(), rooms: map[string][]*websocket.Conn{}}
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

// serveMember serves a visitor's websocket for as long as they are in the room.
func (c *chat) serveMember(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has been answered
	}
	defer func() { _ = conn.CloseNow() }()
	ctx, room := r.Context(), r.PathValue("id")
	c.enter(ctx, room, conn)
	defer c.exit(context.WithoutCancel(ctx), room, conn)
	for {
		var m message
		if err := wsjson.Read(ctx, conn, &m); err != nil {
			return
		}
		c.broadcast(ctx, room, message{Name: m.Name, Text: m.Text})
	}
}

func (c *chat) enter(ctx context.Context, room string, conn *websocket.Conn) {
	c.mu.Lock()
	c.rooms[room] = append(c.rooms[room], conn)
	c.mu.Unlock()
	c.broadcast(ctx, room, message{})
}

func (c *chat) exit(ctx context.Context, room string, conn *websocket.Conn) {
	c.mu.Lock()
	c.rooms[room] = slices.DeleteFunc(c.rooms[room], func(other *websocket.Conn) bool { return other == conn })
	if len(c.rooms[room]) == 0 {
		delete(c.rooms, room)
	}
	c.mu.Unlock()
	c.broadcast(ctx, room, message{})
}

// broadcast sends a message to everyone in a room, with how many they are.
func (c *chat) broadcast(ctx context.Context, room string, m message) {
	c.mu.Lock()
	present := slices.Clone(c.rooms[room])
	c.mu.Unlock()
	m.Present = len(present)
	for _, conn := range present {
		// A write fails for those who are gone, or will be soon: their serveMember ends.
		ctx, stop := context.WithTimeout(ctx, time.Second)
		_ = wsjson.Write(ctx, conn, m)
		stop()
	}
}
