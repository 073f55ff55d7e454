package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strconv"
	"time"
)

// room is the answer of a waiting room, as far as this client uses it.
type room struct {
	WaitTimeKnown     bool   `json:"waitTimeKnown"`
	WaitTimeFormatted string `json:"waitTimeFormatted"` // "3 minutes"
	UsersAheadKnown   bool   `json:"usersAheadKnown"`
	UsersAhead        int    `json:"usersAhead"`
}

// client asks for what may be behind a waiting room.
type client struct {
	http    *http.Client
	waiting func(r room, again time.Duration) // shows the wait
}

// newClient returns a client with a cookie jar. The place in line is in a cookie,
// and a new one comes with nearly every answer: without a jar each request would
// be another visitor's, at the end of the line. An app keeps its jar on disk, so
// that the place outlives it.
func newClient(waiting func(r room, again time.Duration)) (*client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, fmt.Errorf("making a cookie jar: %w", err)
	}
	return &client{http: &http.Client{Jar: jar, Timeout: 30 * time.Second}, waiting: waiting}, nil
}

var errRejected = errors.New("the site takes nobody at the moment: come back later")

// get asks for the URL until the site itself answers, as often as the room says
// and no more: asking early gains nothing.
func (c *client) get(ctx context.Context, url string) ([]byte, error) {
	for {
		answer, err := c.ask(ctx, url)
		switch {
		case err != nil:
			return nil, err
		case answer.again() > 0:
			err = c.wait(ctx, answer.room, answer.again())
		case answer.fromRoom():
			return nil, errRejected
		case answer.StatusCode != http.StatusOK:
			return nil, fmt.Errorf("asking for %s: %s", url, answer.Status)
		default:
			return bytes.TrimSpace(answer.body), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// answer is what came back, from the room or from the site.
type answer struct {
	*http.Response
	body []byte
	room room // what the room says; empty if it is the site's answer
}

// fromRoom says whether the answer is the room's. It is the header that makes the
// difference: the status can be 200 for both.
func (a answer) fromRoom() bool { return a.Header.Get("Fairdoor-Room") != "" }

// again is after how long to ask again, 0 for not at all: the room says it, and sites in
// trouble.
func (a answer) again() time.Duration {
	if !a.fromRoom() && a.StatusCode != http.StatusTooManyRequests && a.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// ask sends one request.
func (c *client) ask(ctx context.Context, url string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return answer{}, fmt.Errorf("asking for %s: %w", url, err)
	}
	req.Header.Set("Accept", "application/json")
	response, err := c.http.Do(req)
	if err != nil {
		return answer{}, fmt.Errorf("asking for %s: %w", url, err)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return answer{}, fmt.Errorf("reading %s: %w", url, err)
	}
	return answer{Response: response, body: body, room: roomOf(body)}, nil
}

// roomOf returns what a room says in its answer.
func roomOf(body []byte) room {
	var object struct {
		Room room `json:"cfWaitingRoom"`
	}
	// An answer that is the site's, or that is no JSON, says nothing of a room.
	_ = json.Unmarshal(body, &object)
	return object.Room
}

func (c *client) wait(ctx context.Context, r room, again time.Duration) error {
	c.waiting(r, again)
	timer := time.NewTimer(again)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
