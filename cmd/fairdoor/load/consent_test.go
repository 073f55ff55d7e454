package load_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/load"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// elsewhere is a host that is not this machine.
type elsewhere struct{ http.Handler }

func (e elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestAnotherHostHasToConsentToTheCrowd(t *testing.T) {
	const token, hash = "correct horse battery", "9028ea0d15decaa35b2da21c0290af3b1a5ba0a30a591906f89b5074e209ea72"
	for said, consents := range map[string]bool{
		hash: true, hash + "  -\n": true, "": false, token: false, hash[1:]: false, "404": false,
	} {
		for _, path := range []string{load.ConsentPath, proxy.LoadTokenPath} {
			host := http.NewServeMux()
			if said != "404" {
				host.HandleFunc("shop.example"+path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(said)) })
			}
			gate, err := url.Parse("https://shop.example/sale")
			require.NoError(t, err)
			c := load.Config{Gate: gate, Token: token}
			err = c.Consents(t.Context(), elsewhere{host})
			if consents {
				assert.NoError(t, err, said)
			} else {
				assert.ErrorContains(t, err, "load_token: "+hash+", or write that to https://shop.example/.well-known/fairdoor-load", said)
			}
		}
	}
}

func TestACrowdElsewhereNeedsAToken(t *testing.T) {
	for token, fault := range map[string]string{
		"": "must be at this machine", "short": "token is too short", "long enough, by far": "token is too short", "long enough, by far!": "",
	} {
		gate, err := url.Parse("https://shop.example/")
		require.NoError(t, err)
		crowd := simulate.Article()
		crowd.Room = queue.Settings{}.WithDefaults()
		c := load.Config{Crowd: crowd, Gate: gate, Token: token, PageView: time.Second, Connections: 1}
		if err := c.Validate(); fault == "" {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, fault, token)
		}
	}
}
