package proxy_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestScriptThatWaitsIsServedToEveryPage(t *testing.T) {
	f := start(t)
	f.full()
	a := f.visitor().get("/.fairdoor/wait.js", with("Sec-Fetch-Dest", "script"), with("Sec-Fetch-Site", "cross-site"), with("Accept", "*/*"))
	assert.Equal(t, http.StatusOK, a.status, "whoever waits, or asks from another site")
	assert.Equal(t, "text/javascript; charset=utf-8", a.header.Get("Content-Type"))
	assert.Equal(t, "public, max-age=3600", a.header.Get("Cache-Control"))
	assert.Equal(t, "*", a.header.Get("Access-Control-Allow-Origin"), "as a module, too")
	assert.Contains(t, a.body, "fairdoor")
	assert.Less(t, len(a.body), 2048, "and is short")
	assert.Empty(t, a.header["Set-Cookie"])
	assert.Empty(t, f.site.requests())
}
