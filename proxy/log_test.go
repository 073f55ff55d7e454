package proxy_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestALogLineAboutAVisitorHasTheSupportCodeOfTheirPage(t *testing.T) {
	core, logged := observer.New(zap.DebugLevel)
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers, s.RefreshJitter = 1, 0 }),
		func(_ *proxy.Config, o *proxy.Options) { o.Log = zap.New(core) })
	f.Full()
	waits := f.Waits()
	code := waits.Get("/", gatetest.AsJSON).Told("supportCode")
	assert.Contains(t, waits.Get("/").Body, code)
	f.Patch(`{"total_active_users": 2}`)
	f.Pass(21 * time.Second)
	require.True(t, waits.Get("/").In())

	about := func() *observer.ObservedLogs {
		return logged.Filter(func(e observer.LoggedEntry) bool { return e.ContextMap()["supportCode"] == code })
	}
	assert.Zero(t, about().Len())
	f.Site.Will(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	require.Equal(t, http.StatusBadGateway, waits.Get("/").Status)
	f.Soon(func() bool { return about().Len() == 1 })
	assert.Equal(t, "a visitor was told that the origin did not answer", about().All()[0].Message)
}
