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
	WaitTimeKnown          bool   `json:"waitTimeKnown"`
	WaitTimeFormatted      string `json:"waitTimeFormatted"` // "3 minutes"
	UsersAheadKnown        bool   `json:"usersAheadKnown"`
	UsersAhead             int    `json:"usersAhead"`
	RefreshIntervalSeconds int    `json:"refreshIntervalSeconds"` // 0: nobody is let in, do not ask again
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
		case answer.room != nil && answer.room.RefreshIntervalSeconds == 0:
			return nil, errRejected
		case answer.room != nil:
			err = c.wait(ctx, *answer.room, time.Duration(answer.room.RefreshIntervalSeconds)*time.Second)
		case answer.retryAfter() > 0: // a gate or an origin in trouble
			err = c.wait(ctx, room{}, answer.retryAfter())
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
	room *room // nil if it is the site's
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

// roomOf returns the waiting room that the answer comes from, or nil if it is the
// site's. It is the object cfWaitingRoom that makes the difference: the status can
// be 200 for both.
func roomOf(body []byte) *room {
	var object struct {
		Room *room `json:"cfWaitingRoom"`
	}
	if json.Unmarshal(body, &object) != nil {
		return nil
	}
	return object.Room
}

// retryAfter is what a 429 or 503 asks for, 0 for nothing.
func (a answer) retryAfter() time.Duration {
	if a.StatusCode != http.StatusTooManyRequests && a.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
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
