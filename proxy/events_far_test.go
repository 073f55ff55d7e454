package proxy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestWhoIsFarIsToldSoByPageAndJSONAndHasNoStreamThatStays(t *testing.T) {
	const ahead = 110
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.NewUsersPerMinute = 20 }))
	f.Full()
	first := f.Visitor()
	first.Get("/")
	for range ahead - 1 {
		f.Visitor().Get("/")
	}
	f.Pass(2 * time.Second)
	v := f.Visitor()
	assert.Contains(t, v.Get("/", gatetest.With("Accept", "text/html")).Body, ` data-far="1"`)
	a := v.Get("/", gatetest.AsJSON)
	require.EqualValues(t, ahead, a.Told("usersAhead"))
	assert.Equal(t, true, a.Told("isFar"))
	l := v.Listen("")
	assert.Equal(t, true, l.Next("place").Data["isFar"])
	l.Rest()
	assert.Zero(t, f.Streams())

	assert.Equal(t, false, first.Get("/", gatetest.AsJSON).Told("isFar"))
	first.Listen("").Next("numbers")
	assert.Equal(t, 1., f.Streams())

	f.Patch(`{"stream_within": "24h"}`)
	f.Pass(time.Second)
	assert.Contains(t, v.Get("/", gatetest.With("Accept", "text/html")).Body, ` data-far=""`)
	v.Listen("").Next("numbers")
	assert.Equal(t, 2., f.Streams())
}
