package proxy_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/listen/listentest"
)

// serve has a server of the gate's own serve a handler, and returns its address. When the test
// ends, nothing is left that keeps the server from shutting down.
func serve(t *testing.T, h http.Handler) string {
	address, s := listentest.Serve(t, listen.Config{Handler: h})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), gatetest.Patience)
		defer cancel()
		assert.NoError(t, s.Shutdown(ctx))
	})
	return address
}

func TestAnEventStreamOfTheGatesOwnServerIsAsAnyOther(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	base := "http://" + serve(t, f)
	comes := func() *gatetest.Visitor {
		v := f.Visitor()
		v.Base = base
		v.Get("/")
		return v
	}
	first, second := comes(), comes()
	f.Pass(time.Second)
	l, other := first.Listen(""), second.Listen("")
	assert.Equal(t, "text/event-stream", l.Header.Get("Content-Type"))
	for _, l := range []*gatetest.Listener{l, other} {
		l.Next("place")
		l.Next("numbers")
	}
	assert.Equal(t, 2., f.Streams())

	assert.Equal(t, http.StatusNoContent, second.Send(http.MethodPost, "/.fairdoor/leave", nil).Status)
	assert.Equal(t, 2, f.Status("shop").Queued, "their page may be open")
	other.HangUp()
	f.Soon(func() bool { return f.Streams() == 1 && f.Status("shop").Queued == 1 })
	f.Pass(2 * time.Second)
	assert.Equal(t, 1., l.Next("numbers").Data["usersQueued"])

	f.Pass(9 * time.Minute) // the session of the visitor who is in ends
	l.EndsWith("admitted")
	f.Soon(func() bool { return f.Streams() == 0 })

	third := comes()
	l = third.Listen("")
	l.Next("place")
	f.Drain()
	assert.NotContains(t, l.Rest(), "admitted")
}
