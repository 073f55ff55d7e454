package stagetest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Targets are the addresses of pages as sites have them: with queries, blanks and escapes.
var Targets = []string{
	"/?page=2", "/?for=nginx", "/?for=envoy", "/?", "/lamps?a=%20b+c&d=%2Fe&f=?", "/red%20lamps", "/a%2Fb?c=%2F", "/?a=1&a=2&b", "/l%C3%A4mp?q=%C3%A4", "/?u=http://x.test/?y=z",
}

// Shop is a shop with an upload and a chat. It remembers what it was asked for last.
type Shop struct {
	Handler http.Handler // all else

	mu   sync.Mutex
	last string
}

func (s *Shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.last = r.RequestURI
	s.mu.Unlock()
	switch r.URL.Path {
	case "/upload":
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "received %d bytes", n)
	case "/chat":
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = c.CloseNow() }()
		kind, text, err := c.Read(r.Context())
		if err == nil {
			_ = c.Write(r.Context(), kind, append([]byte("heard "), text...))
		}
	default:
		s.Handler.ServeHTTP(w, r)
	}
}

// Asked is the target of the last request, as it came.
func (s *Shop) Asked() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// TakesWhatSitesTake has somebody who is in ask a site whose shop it is for what sites have: the
// targets, a large upload and a websocket. Somebody who waits gets no websocket.
func (s *Shop) TakesWhatSitesTake(t *testing.T, in, waits *http.Client, site string) {
	t.Helper()
	for _, target := range Targets {
		Text(t, in, http.MethodGet, site+target)
		assert.Equal(t, target, s.Asked(), "the shop gets the address as it came")
	}
	const size = 30 << 20
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, site+"/upload?name=a%20b", io.LimitReader(zeros{}, size))
	require.NoError(t, err)
	req.ContentLength = size
	resp, err := in.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("received %d bytes", size), string(text))
	assert.Equal(t, "heard hello", chat(t, in, site))
	_, _, err = websocket.Dial(t.Context(), chatAddress(site), &websocket.DialOptions{HTTPClient: &http.Client{Jar: waits.Jar}}) //nolint:bodyclose // of a failed dial
	assert.Error(t, err, "nobody who waits gets a websocket")
}

// zeros is an endless reader.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func chatAddress(site string) string {
	return strings.Replace(site, "http", "ws", 1) + "/chat?room=a%2Fb"
}

// chat says hello over a websocket, and returns the answer.
func chat(t *testing.T, visitor *http.Client, site string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	u, err := url.Parse(site)
	require.NoError(t, err)
	header := http.Header{}
	for _, cookie := range visitor.Jar.Cookies(u) {
		header.Add("Cookie", cookie.String())
	}
	c, _, err := websocket.Dial(ctx, chatAddress(site), &websocket.DialOptions{HTTPHeader: header}) //nolint:bodyclose // as documented
	if !assert.NoError(t, err) {
		return ""
	}
	defer func() { _ = c.CloseNow() }()
	require.NoError(t, c.Write(ctx, websocket.MessageText, []byte("hello")))
	_, text, err := c.Read(ctx)
	require.NoError(t, err)
	return string(text)
}
