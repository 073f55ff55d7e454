// Package stagetest runs the examples in their tests.
package stagetest

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// Addresses returns free addresses.
func Addresses(t testing.TB) stage.Addresses {
	t.Helper()
	return stage.Addresses{Shop: porttest.Address(t), Gate: porttest.Address(t), Admin: porttest.Address(t)}
}

// Start runs an example until the test ends, and waits until its gate, whose
// admin API listens at the address, is ready.
func Start(t testing.TB, admin string, run func(ctx context.Context, out io.Writer) error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	out := &Output{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		assert.NoError(t, run(ctx, out), "the example ends well")
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	require.Eventually(t, func() bool {
		select {
		case <-ended:
			return true
		default:
		}
		answer, err := http.Get("http://" + admin + "/readyz")
		if err != nil {
			return false
		}
		return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
	}, 2*time.Minute, 50*time.Millisecond, "the gate gets ready")
	select {
	case <-ended:
		require.FailNow(t, "the example has ended", out.String())
	default:
	}
}

// Output keeps what an example says.
type Output struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write adds to what was said.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String is what was said so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Visitor is somebody with cookies of their own, who trusts any certificate.
func Visitor(t testing.TB) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Jar: jar, Timeout: 30 * time.Second, Transport: transport}
}

// Text asks for a page and returns it.
func Text(t testing.TB, visitor *http.Client, method, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)
	answer, err := visitor.Do(req)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(text)
}
