package proxy_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
)

func TestScriptThatWaitsIsServedToEveryPage(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	a := f.Visitor().Get("/.fairdoor/wait.js", gatetest.With("Sec-Fetch-Dest", "script"), gatetest.With("Sec-Fetch-Site", "cross-site"), gatetest.With("Accept", "*/*"))
	assert.Equal(t, http.StatusOK, a.Status, "whoever waits, or asks from another site")
	assert.Equal(t, "text/javascript; charset=utf-8", a.Header.Get("Content-Type"))
	assert.Equal(t, "public, max-age=3600", a.Header.Get("Cache-Control"))
	assert.Equal(t, "*", a.Header.Get("Access-Control-Allow-Origin"), "as a module, too")
	assert.Contains(t, a.Body, "fairdoor")
	assert.Less(t, len(a.Body), 2048, "and is short")
	assert.Empty(t, a.Header["Set-Cookie"])
	assert.Empty(t, f.Site.Requests())
}
