package proxy_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/listen/listentest"
)

// serve has a server of the gate's own serve a handler, and returns its address. When the test ends, nothing is left that keeps the server
// from shutting down.
func serve(t *testing.T, h http.Handler) string {
	address, s := listentest.Serve(t, listen.Config{Handler: h})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		assert.NoError(t, s.Shutdown(ctx))
	})
	return address
}

func TestAnEventStreamOfTheGatesOwnServerIsAsAnyOther(t *testing.T) {
	f := start(t)
	f.full()
	base := "http://" + serve(t, f)
	comes := func() *visitor {
		v := f.visitor()
		v.base = base
		v.get("/")
		return v
	}
	first, second := comes(), comes()
	f.pass(time.Second)
	l, other := first.listen(""), second.listen("")
	assert.Equal(t, "text/event-stream", l.header.Get("Content-Type"))
	for _, l := range []*listener{l, other} {
		l.next("place")
		l.next("numbers")
	}
	assert.Equal(t, 2., f.streams())

	assert.Equal(t, http.StatusNoContent, second.send(http.MethodPost, "/.fairdoor/leave", nil).status)
	assert.Equal(t, 2, f.status("shop").Queued, "their page may be open")
	other.hangUp()
	f.soon(func() bool { return f.streams() == 1 && f.status("shop").Queued == 1 })
	f.pass(2 * time.Second)
	assert.Equal(t, 1., l.next("numbers").data["usersQueued"])

	f.pass(9 * time.Minute) // the session of the visitor who is in ends
	l.endsWith("admitted")
	f.soon(func() bool { return f.streams() == 0 })

	third := comes()
	l = third.listen("")
	l.next("place")
	f.Drain()
	assert.NotContains(t, l.rest(), "admitted")
}
