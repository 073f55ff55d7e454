package gatetest

import (
	"io"
	"net/http"

	"github.com/coder/websocket"
)

// Revokes has the site end the session of whoever asks for /logout.
func Revokes(s *Site, header, command string) {
	s.Will(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/logout" {
			w.Header().Set(header, command)
		}
		_, _ = io.WriteString(w, "in")
	})
}

// Talking is a site with a websocket, that ends the session of who posts.
func Talking(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost:
		w.Header().Set("Fairdoor-Command", "revoke")
	case r.URL.Path == "/stream":
		Echo(w, r)
	default:
		_, _ = w.Write([]byte("in"))
	}
}

// Leaves has the site say how much is left at each request, as the path says it.
func Leaves(s *Site) {
	s.Will(func(w http.ResponseWriter, r *http.Request) {
		if left := r.URL.Query().Get("left"); left != "" {
			w.Header().Set("Fairdoor-Left", left)
		}
		_, _ = w.Write([]byte("in"))
	})
}

// Echo answers on a websocket with what it is sent.
func Echo(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	for {
		kind, text, err := conn.Read(r.Context())
		if err != nil || conn.Write(r.Context(), kind, text) != nil {
			return
		}
	}
}
