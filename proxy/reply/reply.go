// Package reply writes the answers that the gate gives programs: JSON, and
// problem+json (RFC 9457) for what went wrong.
package reply

import (
	"encoding/json"
	"net/http"
	"strings"
)

// JSON answers with a value.
func JSON(w http.ResponseWriter, value any) { send(w, http.StatusOK, "application/json", value) }

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
