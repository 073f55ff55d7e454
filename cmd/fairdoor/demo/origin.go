package demo

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"net/http"
	"time"
)

// Config is what a sample site is made of.
type Config struct {
	// Places is how many places the site shows. The site takes everyone who comes:
	// the limit is the gate's affair. Default 3.
	Places int

	// Session is the session_duration of the site's room. Default 15s.
	Session time.Duration

	// Log gets the site's own log, one event at a time; it must not call the
	// site. Default: none.
	Log func(Event)
}

// Origin is the sample site as an HTTP handler:
//
//	GET  /       the page; takes a place
//	GET  /seats  who is in, as JSON; keeps the place
//	POST /leave  goodbye; gives the place back
//	GET  /tickets  another page, which has no places
//
// It knows nothing of the gate but the command by which it ends sessions.
type Origin struct {
	mux   *http.ServeMux
	seats *seats
	in    *template.Template
	out   *template.Template
}

var (
	//go:embed page/in.html
	inHTML string
	//go:embed page/goodbye.html
	goodbyeHTML string
	//go:embed page/page.css
	pageCSS string
	//go:embed page/page.js
	pageJS string
)

// NewOrigin returns a sample site without visitors. End it with Close.
func NewOrigin(c Config) (*Origin, error) {
	if c.Places == 0 {
		c.Places = 3
	}
	if c.Session == 0 {
		c.Session = 15 * time.Second
	}
	if c.Log == nil {
		c.Log = func(Event) {}
	}
	o := &Origin{seats: newSeats(c.Places, c.Session, c.Log), mux: http.NewServeMux()}
	// Style and script are in the page: of one who has left and no longer has a
	// ticket the gate would not let their browser fetch them.
	parts := template.FuncMap{
		"style":  func() template.CSS { return template.CSS(pageCSS) },
		"script": func() template.JS { return template.JS(pageJS) },
	}
	var err error
	if o.in, err = template.New("in").Funcs(parts).Parse(inHTML); err != nil {
		return nil, fmt.Errorf("parsing the site's page: %w", err)
	}
	if o.out, err = template.New("goodbye").Funcs(parts).Parse(goodbyeHTML); err != nil {
		return nil, fmt.Errorf("parsing the site's page: %w", err)
	}
	o.mux.HandleFunc("GET /{$}", o.page)
	o.mux.HandleFunc("GET /seats", o.list)
	o.mux.HandleFunc("POST /leave", o.leave)
	o.mux.HandleFunc("GET /tickets", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "Tickets of the sample site: you are in.")
	})
	return o, nil
}

// ServeHTTP answers a visitor whom the gate has let in.
func (o *Origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "private, no-store")
	o.mux.ServeHTTP(w, r)
}

// Close forgets all visitors.
func (o *Origin) Close() { o.seats.close() }

func (o *Origin) page(w http.ResponseWriter, r *http.Request) {
	visitor, name, known := visitorOf(r, o.seats.now())
	if !known {
		http.SetCookie(w, &http.Cookie{Name: cookieName, Value: visitor, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	}
	o.seats.take(visitor, name)
	places := o.describe(visitor)
	render(w, o.in, struct {
		placesJSON
		Name, Other string
	}{places, name, OtherVisitor(r.Host, freeName(o.seats.now()))})
}

func (o *Origin) list(w http.ResponseWriter, r *http.Request) {
	visitor, _, known := visitorOf(r, nil)
	if !known || !o.seats.keep(visitor) {
		// The page then asks for itself again, and so for a place.
		http.Error(w, "You have no place here: ask for the page.", http.StatusConflict)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// Whoever does not read the answer has gone.
	_ = json.NewEncoder(w).Encode(o.describe(visitor))
}

func (o *Origin) leave(w http.ResponseWriter, r *http.Request) {
	if visitor, _, known := visitorOf(r, nil); known {
		o.seats.free(visitor)
	}
	// The gate ends the session at once, instead of a session_duration later.
	w.Header().Set("Fairdoor-Command", "revoke")
	render(w, o.out, nil)
}

// placesJSON is who is in.
type placesJSON struct {
	Session int         `json:"session"` // seconds that a silent visitor's place is kept
	Places  []placeJSON `json:"places"`
}

type placeJSON struct {
	Name string `json:"name"` // "" for a free place
	You  bool   `json:"you"`
	Left int    `json:"left"` // seconds until the place is free, unless its visitor asks for something
}

func (o *Origin) describe(visitor string) placesJSON {
	j := placesJSON{Session: seconds(o.seats.session)}
	for _, t := range o.seats.now() {
		place := placeJSON{Name: t.name}
		if t.name != "" {
			place.You, place.Left = t.visitor == visitor, seconds(time.Until(t.ends))
		}
		j.Places = append(j.Places, place)
	}
	return j
}

func seconds(d time.Duration) int { return max(0, int(math.Ceil(d.Seconds()))) }

func render(w http.ResponseWriter, page *template.Template, data any) {
	var text bytes.Buffer
	if err := page.Execute(&text, data); err != nil {
		http.Error(w, "The page could not be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(text.Bytes())
}
