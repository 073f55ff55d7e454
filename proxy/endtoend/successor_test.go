package endtoend_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/certtest"
)

var handedOver = regexp.MustCompile(`"msg":"handing over","to":(\d+)`)

// succeed has the process that is a gate now hand over, and returns the one that is the gate then.
func (g *gate) succeed(now *os.Process) (next *os.Process) {
	g.t.Helper()
	before := len(handedOver.FindAllString(g.log.String(), -1))
	require.NoError(g.t, now.Signal(syscall.SIGUSR2))
	var found [][]string
	g.until("the gate hands over", func() bool {
		found = handedOver.FindAllStringSubmatch(g.log.String(), -1)
		return len(found) > before
	})
	pid, err := strconv.Atoi(found[before][1])
	require.NoError(g.t, err)
	next, err = os.FindProcess(pid)
	require.NoError(g.t, err)
	g.t.Cleanup(func() { _ = next.Kill() })
	return next
}

// somebody is one with cookies, who takes a connection of their own for each request.
func somebody(t *testing.T) *http.Client {
	t.Helper()
	return withCookies(t, &http.Transport{DisableKeepAlives: true})
}

// withCookies is one with cookies.
func withCookies(t *testing.T, transport *http.Transport) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Jar: jar, Timeout: patience, Transport: transport}
}

// body is what a page says.
func body(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	resp, err := c.Get(url)
	if !assert.NoError(t, err) {
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	assert.NoError(t, err)
	return string(text)
}

// reach is how the visitors of a gate reach it.
type reach struct {
	tls       bool
	proto     string // that answers have
	transport func() *http.Transport
}

// reaches are the ways in which a gate is reached. All certificates are good for the visitors.
var reaches = map[string]reach{
	"by connections of their own": {false, "HTTP/1.1", func() *http.Transport { return &http.Transport{DisableKeepAlives: true} }},
	"by one that is kept alive":   {false, "HTTP/1.1", func() *http.Transport { return &http.Transport{} }},
	"by TLS": {true, "HTTP/1.1", func() *http.Transport {
		return &http.Transport{DisableKeepAlives: true, TLSClientConfig: anyCertificate()}
	}},
	"by HTTP/2": {true, "HTTP/2.0", func() *http.Transport {
		return &http.Transport{TLSClientConfig: anyCertificate(), ForceAttemptHTTP2: true}
	}},
}

func anyCertificate() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }

func TestAGateIsReplacedUnderLoadWithoutARefusedConnection(t *testing.T) {
	t.Parallel()
	replaceInAllWays(t, 500)
}

// replaceInAllWays replaces gates that are reached in each way.
func replaceInAllWays(t *testing.T, requests int64) {
	t.Helper()
	for name, by := range reaches {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replace(t, by, requests)
		})
	}
}

// replace replaces a gate twice while people ask, and after each time half as many requests as are
// said have to be answered, as all of those meanwhile.
func replace(t *testing.T, by reach, requests int64) {
	t.Helper()
	const slots, meanwhile = 8, 100 // requests while an upload is under way, which takes shorter than the old gate stays
	begun := make(chan struct{})
	args := []string{"--origin", site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			hello(w, r)
			return
		}
		first := make([]byte, len("first"))
		_, err := io.ReadFull(r.Body, first)
		assert.NoError(t, err)
		close(begun)
		rest, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		_, _ = w.Write(append(first, rest...))
	}), "--total-active-users", strconv.Itoa(slots), "--new-users-per-minute", "1000", "--refresh-interval", "1s", "--refresh-jitter", "0"}
	if by.tls {
		cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
		require.NoError(t, certtest.Write(cert, key, "127.0.0.1"))
		args = append(args, "--tls-cert", cert, "--tls-key", key)
	}
	g := serve(t, nil, args...)
	if by.tls {
		g.url = strings.Replace(g.url, "http:", "https:", 1)
	}
	somebody := func(t *testing.T) *http.Client { return withCookies(t, by.transport()) }
	in := make([]*http.Client, slots)
	for i := range in {
		in[i] = somebody(t)
		require.Equal(t, "in", body(t, in[i], g.url))
	}
	resp, err := in[0].Get(g.url)
	require.NoError(t, err)
	require.Equal(t, by.proto, resp.Proto)
	require.NoError(t, resp.Body.Close())
	waits := somebody(t)
	require.NotEqual(t, "in", body(t, waits, g.url))

	var (
		crowd   sync.WaitGroup
		asked   atomic.Int64
		stopped = make(chan struct{})
	)
	for _, c := range in {
		crowd.Go(func() {
			for {
				assert.Equal(t, "in", body(t, c, g.url), "who is in stays in")
				asked.Add(1)
				select {
				case <-stopped:
					return
				default:
				}
			}
		})
	}
	upload, send := io.Pipe()
	crowd.Go(func() {
		resp, err := in[0].Post(g.url, "text/plain", upload)
		if !assert.NoError(t, err) {
			return
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		assert.NoError(t, err)
		assert.Equal(t, "first and last", string(text), "an upload that is under way is finished")
	})
	_, err = io.WriteString(send, "first")
	require.NoError(t, err)
	<-begun
	enough := func(requests int64) {
		for until := asked.Load() + requests; asked.Load() < until; {
			some := min(asked.Load()+100, until)
			g.until("requests are answered", func() bool { return asked.Load() >= some })
		}
	}
	first := g.cmd.Process
	second := g.succeed(first)
	enough(meanwhile)
	assert.NoError(t, first.Signal(syscall.Signal(0)), "it waits for the upload that is under way")
	_, err = io.WriteString(send, " and last")
	require.NoError(t, err)
	require.NoError(t, send.Close())
	g.until("the first gate has ended", func() bool { return first.Signal(syscall.Signal(0)) != nil })
	enough(requests/2 - meanwhile)
	g.succeed(second)
	enough(requests / 2)
	close(stopped)
	crowd.Wait()
	t.Logf("%d requests were answered", asked.Load())
	assert.NotContains(t, g.log.String(), `"level":"error"`)

	assert.Equal(t, http.StatusOK, g.ready())
	assert.EqualValues(t, slots, g.status()["estimated_total_active_users"], "nobody is counted twice")
	assert.NotEqual(t, "in", body(t, waits, g.url), "all slots are taken still")
	require.Equal(t, http.StatusOK, g.patch(`{"total_active_users": 9}`))
	comes := somebody(t)
	assert.NotEqual(t, "in", body(t, comes, g.url), "somebody is ahead")
	g.until("who waited gets the slot", func() bool { return body(t, waits, g.url) == "in" })
	assert.NotEqual(t, "in", body(t, comes, g.url))
}

func TestASuccessorThatCannotStartChangesNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "fairdoor.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	write("origin: " + site(t, hello) + "\nrooms: [{name: default, total_active_users: 5, new_users_per_minute: 5}]\n")
	g := serve(t, nil, "--config", file)
	write("nothing: right")
	g.signal(syscall.SIGUSR2)
	g.until("it says why", func() bool { return strings.Contains(g.log.String(), "not handed over: this gate goes on") })
	assert.Contains(t, g.log.String(), "nothing: unknown key")
	assert.Equal(t, "in", body(t, somebody(t), g.url))
}
