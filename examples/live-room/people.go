package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// gate is where the chat asks who is in its rooms.
type gate struct{ address, key string }

// follow tells the names of those who are in a room, now and whenever that changes, until ctx ends.
func (g gate) follow(ctx context.Context, room string, tell func(names []string)) {
	for ctx.Err() == nil {
		_ = g.listen(ctx, room, tell) // a gate that has gone may come again
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// listen follows a room by one stream, until that ends.
func (g gate) listen(ctx context.Context, room string, tell func(names []string)) error {
	stream, err := g.ask(ctx, room, "text/event-stream")
	if err != nil {
		return err
	}
	defer stream.Body.Close()
	for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), "event:") {
			continue
		}
		names, err := g.names(ctx, room)
		if err != nil {
			return err
		}
		tell(names)
	}
	return nil
}

// names are those of the people in a room, as the chat has said them, in the order of entry.
func (g gate) names(ctx context.Context, room string) ([]string, error) {
	answer, err := g.ask(ctx, room, "application/json")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var in struct {
		Occupants []struct {
			Data struct {
				Name string `json:"name"`
			} `json:"data"`
		} `json:"occupants"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&in); err != nil {
		return nil, fmt.Errorf("reading who is in: %w", err)
	}
	names := []string{}
	for _, p := range in.Occupants {
		if p.Data.Name != "" { // else they are coming in
			names = append(names, p.Data.Name)
		}
	}
	return names, nil
}

func (g gate) ask(ctx context.Context, room, accept string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+g.address+"/.fairdoor/occupants?room=chat."+room, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+g.key)
	req.Header.Set("Accept", accept)
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking the gate: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("asking the gate: %s", answer.Status)
	}
	return answer, nil
}
