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

// room is what a waiting room tells, as far as this client uses it.
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
	waiting func(told room, again time.Duration) // shows the wait
}

// newClient returns a client with a cookie jar. The place in line is in a cookie,
// and a new one comes with nearly every answer: without a jar each request would
// be another visitor's, at the end of the line. An app keeps its jar on disk, so
// that the place outlives it.
func newClient(waiting func(told room, again time.Duration)) (*client, error) {
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
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, fmt.Errorf("asking for %s: %w", url, err)
		}
		req.Header.Set("Accept", "application/json")
		answer, err := c.http.Do(req)
		if err != nil {
			return nil, fmt.Errorf("asking for %s: %w", url, err)
		}
		body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
		if err = errors.Join(err, answer.Body.Close()); err != nil {
			return nil, fmt.Errorf("reading %s: %w", url, err)
		}
		// It is the object cfWaitingRoom that tells a room from the site: the status
		// can be 200 for both.
		var told struct {
			Room *room `json:"cfWaitingRoom"`
		}
		switch err := json.Unmarshal(body, &told); {
		case err == nil && told.Room != nil && told.Room.RefreshIntervalSeconds == 0:
			return nil, errRejected
		case err == nil && told.Room != nil:
			if err := c.wait(ctx, *told.Room, time.Duration(told.Room.RefreshIntervalSeconds)*time.Second); err != nil {
				return nil, err
			}
		case retryAfter(answer) > 0:
			// A gate or an origin in trouble.
			if err := c.wait(ctx, room{}, retryAfter(answer)); err != nil {
				return nil, err
			}
		case answer.StatusCode != http.StatusOK:
			return nil, fmt.Errorf("asking for %s: %s", url, answer.Status)
		default:
			return bytes.TrimSpace(body), nil
		}
	}
}

// retryAfter is what a 429 or 503 asks for, 0 for nothing.
func retryAfter(answer *http.Response) time.Duration {
	if answer.StatusCode != http.StatusTooManyRequests && answer.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

func (c *client) wait(ctx context.Context, told room, again time.Duration) error {
	c.waiting(told, again)
	timer := time.NewTimer(again)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
