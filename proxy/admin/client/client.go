// Package client asks the admin API of a running gate. What the API takes and answers has the types
// of package admin.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode"
)

// ErrNotFound means that the gate has no such resource.
var ErrNotFound error = StatusError(http.StatusNotFound)

// A StatusError is the status of an answer that is no success.
type StatusError int

func (s StatusError) Error() string { return fmt.Sprintf("%d %s", int(s), http.StatusText(int(s))) }

// DefaultAddress is where the admin API of a gate is, unless somebody says otherwise.
const DefaultAddress = "127.0.0.1:9090"

// URL is that of the admin API at an address, in the form of the gate's configuration, or at a URL.
func URL(address string) (string, error) {
	scheme, rest, isURL := strings.Cut(address, "://")
	switch {
	case !isURL:
		scheme, rest = "http", address
	case scheme != "http" && scheme != "https":
		return "", fmt.Errorf("%q is neither an address nor an http or https URL", address)
	}
	if strings.HasPrefix(rest, ":") {
		rest = "127.0.0.1" + rest // it is an address to listen on
	}
	return scheme + "://" + strings.TrimSuffix(rest, "/"), nil
}

// ReadToken reads the token of the admin API from a file.
func ReadToken(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading the admin token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", fmt.Errorf("reading the admin token: %s is empty", file)
	}
	return token, nil
}

// API is a running gate's admin API.
type API struct {
	URL   string // with http or https, and without a slash at its end
	Token string // that the API asks for; "" for none
	As    string // the name that is noted with changes; "" for none
}

// Path is the resource of the API that has these names below /api/v1.
func Path(names ...string) string {
	path := "/api/v1"
	for _, name := range names {
		path += "/" + url.PathEscape(name)
	}
	return path
}

// Get reads what the gate says of a resource, for which it has 30 seconds.
func Get[T any](ctx context.Context, a API, path string) (told T, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return told, a.Send(ctx, http.MethodGet, path, "", nil, &told)
}

// Order sends the gate an order as JSON, unless it is nil, and reads the answer unless into is nil.
// It takes as long as the gate takes.
func (a API) Order(ctx context.Context, method, path string, order, into any) error {
	if order == nil {
		return a.Send(ctx, method, path, "", nil, into)
	}
	body, err := json.Marshal(order)
	if err != nil {
		return fmt.Errorf("asking the gate: %w", err)
	}
	return a.Send(ctx, method, path, "application/json", bytes.NewReader(body), into)
}

// Send sends the gate a body, which may be nil, and reads the answer unless into is nil.
func (a API) Send(ctx context.Context, method, path, contentType string, body io.Reader, into any) error {
	answer, err := a.Open(ctx, method, path, contentType, body)
	if err != nil {
		return err
	}
	defer answer.Close()
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(answer).Decode(into); err != nil {
		return fmt.Errorf("reading what the gate said of %s: %w", path, err)
	}
	return nil
}

// Open sends the gate a body, which may be nil, and returns the answer to read and close. An answer
// that is no success is an error with the gate's words, and a StatusError: ErrNotFound for a resource
// that there is not.
func (a API) Open(ctx context.Context, method, path, contentType string, body io.Reader) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, method, a.URL+path, body)
	if err != nil {
		return nil, fmt.Errorf("asking the gate: %w", err)
	}
	for name, value := range map[string]string{"Content-Type": contentType, "Fairdoor-As": oneLine(a.As)} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if a.Token != "" {
		req.Header.Set("Authorization", "Bearer "+a.Token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking the gate (is it running, and its admin API at %s?): %w", a.URL, err)
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		defer resp.Body.Close()
		return nil, failed(path, resp)
	}
	return resp.Body, nil
}

// oneLine is a text that a header can have.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// failed is the error for an answer that is no success: the gate's own words, if it is the gate's.
func failed(path string, resp *http.Response) error {
	var problem struct{ Detail string }
	_ = json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&problem)
	err := StatusError(resp.StatusCode)
	switch {
	case problem.Detail == "" && resp.StatusCode == http.StatusNotFound: // it is not the gate who has no such resource
		return fmt.Errorf("asking the gate for %s: %s, which is not how a gate says it: check the address", path, resp.Status)
	case problem.Detail == "":
		return fmt.Errorf("asking the gate for %s: %w", path, err)
	}
	return fmt.Errorf("the gate says %w: %s", err, problem.Detail)
}
