package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

func TestADecisionThatNobodyAnswersIsAnErrorThatNoCacheKeeps(t *testing.T) {
	core, logs := observer.New(zap.ErrorLevel)
	f := gatetest.Start(t, func(_ *proxy.Config, o *proxy.Options) { o.Log = zap.New(core) })
	w := httptest.NewRecorder()
	f.AnswerTo(w, httptest.NewRequest(http.MethodGet, "http://shop.example/", http.NoBody), room.Decision{Outcome: 200})
	assert.Equal(t, http.StatusServiceUnavailable, w.Code)
	assert.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	assert.Equal(t, 1, logs.FilterMessage("no answer to a decision").Len())
}
