// Package reply writes the answers that the gate gives programs: JSON, and
// problem+json (RFC 9457) for what went wrong; and those that are for one person.
package reply

import (
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// JSON answers with a value.
func JSON(w http.ResponseWriter, value any) { JSONWith(w, http.StatusOK, value) }

// JSONWith answers with a value and a status.
func JSONWith(w http.ResponseWriter, status int, value any) {
	send(w, status, "application/json", value)
}

// Created answers with a value that was made, and where it is from now on.
func Created(w http.ResponseWriter, location string, value any) {
	w.Header().Set("Location", location)
	send(w, http.StatusCreated, "application/json", value)
}

// Problem answers with problem+json; faults are all that is wrong with what was sent.
func Problem(w http.ResponseWriter, status int, detail string, faults ...string) {
	send(w, status, "application/problem+json", struct {
		Title  string   `json:"title"`
		Status int      `json:"status"`
		Detail string   `json:"detail"`
		Errors []string `json:"errors,omitempty"`
	}{http.StatusText(status), status, strings.TrimSuffix(detail+" "+strings.Join(faults, "; "), " "), faults})
}

func send(w http.ResponseWriter, status int, contentType string, value any) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	// An answer that cannot be written is one that nobody waits for.
	_ = encoder.Encode(value)
}

// ForOne answers with what is for one person, and may have links with tokens in it: no cache keeps
// it, and no other site learns where its reader came from.
func ForOne(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "strict-origin")
	if h.Get("Vary") == "" {
		h.Set("Vary", "Accept, Accept-Language, Cookie")
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // somebody who does not read the answer has gone
	}
}

// SentJSON says whether the body of a request is JSON.
func SentJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}
