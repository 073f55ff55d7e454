package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
)

func TestARoomSaysHowManyGaveUpInTheLastHour(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handler()}
	seen := func(ago time.Duration, gaveUp uint64, alone bool) {
		at := now.Add(-ago)
		g.record.Observe(at, record.Sample{Room: "shop", At: at, Known: true, Counted: record.Counted{Alone: alone, GaveUp: gaveUp}})
	}
	seen(30*time.Minute, 0, false)
	seen(20*time.Minute, 2, false)
	assert.NotContains(t, o.send("/rooms/shop", nil).Body.String(), "Gave up", "with other gates it is not known")
	seen(10*time.Minute, 7, true)
	seen(9*time.Minute, 9, true)
	assert.Regexp(t, `In line</p><p class="value">0</p>.*\n.*Gave up</p><p class="value">7</p><p class="hint">In the last hour`, o.send("/rooms/shop", nil).Body.String())
}

func TestATrendIsDrawnSoonAndSaysSinceWhen(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handler()}
	overview := func() string { return o.send("/", nil).Body.String() }
	assert.NotContains(t, overview(), `class="spark"`)
	for _, ago := range []time.Duration{2 * time.Minute, time.Minute, 0} {
		at := now.Add(-ago)
		g.record.Observe(at, record.Sample{Room: "shop", At: at, Known: true, Standing: record.Standing{Queued: 7}})
	}
	assert.Regexp(t, `(?s)at most 7</title><path d="M0 .*L120 .*Last hour: since <time datetime="2021-05-27T15:52:00Z">`, overview())
}
