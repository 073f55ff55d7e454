package stage

import (
	"io"
	"net/http"
)

const head = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Shop</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark }
body { max-width: 32rem; margin: 15vh auto; padding: 0 1.5rem; font: 1.0625rem/1.6 system-ui, sans-serif }
button { padding: .5rem 1.25rem; font: inherit }
</style>
`

// Shop is a site of one page, with an API for its app. Whoever leaves gives the place back at once,
// if the room's enabled_origin_commands allow it.
func Shop() http.Handler {
	shop := http.NewServeMux()
	shop.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, head+`<h1>Welcome to the shop</h1>
<p>You are in. This is the site that the gate protects.</p>
<form method="post" action="/leave"><button>Leave</button></form>
`)
	})
	shop.HandleFunc("GET /api/offers", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"offers": ["lamp", "chair", "kettle"]}`+"\n")
	})
	shop.HandleFunc("POST /leave", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Fairdoor-Command", "revoke")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, head+`<h1>Goodbye</h1>
<p>Your place is free for the next in line. <a href="/">Come again</a></p>
`)
	})
	return shop
}
