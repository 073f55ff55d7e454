// Package crowd has visitors that are programs: they keep their cookies, as browsers do, and
// understand what a gate answers. Those of fairdoor demo and of fairdoor load are such.
package crowd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/cookiejar"
	"strconv"
	"strings"
	"time"
)

// Visitor sends requests to a gate and keeps the cookies that it gets. It is not safe for
// concurrent use.
type Visitor struct {
	URL       string // of the site, as http://127.0.0.1:8080
	UserAgent string
	http      *http.Client
}

// timeout is how long a request may take.
const timeout = 30 * time.Second

// New returns a visitor without cookies, whose requests go by way of transport. It does not
// follow redirects: the site that it was sent to is the one that it visits.
func New(transport http.RoundTripper, url, userAgent string) *Visitor {
	v := &Visitor{URL: strings.TrimSuffix(url, "/"), UserAgent: userAgent, http: &http.Client{
		Transport: transport, Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	v.Forget()
	return v
}

// Forget drops the visitor's cookies, which makes them a new one.
func (v *Visitor) Forget() {
	// Without options there is nothing that could be wrong with them.
	v.http.Jar, _ = cookiejar.New(nil)
}

// Answer is what a visitor learns from an answer: they are in, or have to wait, or neither.
type Answer struct {
	In    bool          // the site has answered
	Waits bool          // the room has, and the visitor may ask again
	Again time.Duration // how long they are to wait before they do; also of errors where the answer says so

	Wait time.Duration // that the visitor was told to expect, in whole minutes; 0 if it is not known
}

// errAnswer is an answer with an error that is not the room's.
var errAnswer = errors.New("the answer is an error")

// maxBody is how much of an answer is read.
const maxBody = 1 << 20

// Ask sends a request, with more header fields if there are any. It fails if there is no
// answer, or one that is an error; an answer of the room is none.
func (v *Visitor) Ask(ctx context.Context, method, path string, header http.Header) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, v.URL+path, nil)
	if err != nil {
		return Answer{}, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", v.UserAgent)
	resp, err := v.http.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return Answer{}, err
	}
	return read(resp, body)
}

// room is what a room says in JSON.
type room struct {
	Interval  int  `json:"refreshIntervalSeconds"`
	WaitKnown bool `json:"waitTimeKnown"`
	Wait      int  `json:"waitTime"`
}

// read understands an answer. A gate marks those of a room by a header, which something
// between it and the visitor may have removed, and has its JSON in a field of its own.
func read(resp *http.Response, body []byte) (Answer, error) {
	var told struct {
		Room *room `json:"cfWaitingRoom"`
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if strings.HasSuffix(kind, "json") && json.Unmarshal(body, &told) != nil {
		told.Room = nil
	}
	a := Answer{Again: retryAfter(resp)}
	if told.Room != nil {
		if a.Again == 0 {
			a.Again = time.Duration(told.Room.Interval) * time.Second
		}
		if told.Room.WaitKnown {
			a.Wait = time.Duration(told.Room.Wait) * time.Minute
		}
	}
	switch {
	case told.Room != nil || resp.Header.Get("Fairdoor-Room") != "":
		a.Waits = a.Again > 0
	case resp.StatusCode < http.StatusBadRequest:
		a.In = true
	default:
		return a, fmt.Errorf("%w: %s", errAnswer, resp.Status)
	}
	return a, nil
}

// retryAfter is what an answer's Retry-After says in seconds; 0 if it says nothing.
func retryAfter(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
