package browsertest_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/recordtest"
	"github.com/fairdoor-gate/fairdoor/proxy/record/report"
)

func TestTheReportOfADay(t *testing.T) {
	t.Parallel()
	day := recordtest.Day
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		r := report.Make(report.Config{Room: "shop", From: day, To: day.AddDate(0, 0, 1), Now: day.AddDate(0, 0, 1), Gates: []record.Excerpt{recordtest.Sale()}})
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'") // so that nothing comes from outside
		assert.NoError(t, r.WriteHTML(w))
	}))
	t.Cleanup(server.Close)
	tab := browser.Visitor(t)
	for _, l := range []struct {
		scheme browsertest.Scheme
		width  int64
		name   string
	}{
		{browsertest.Light, 1280, "desktop"}, {browsertest.Dark, 1280, "desktop-dark"}, {browsertest.Light, 360, "phone"},
	} {
		tab.Look(l.scheme, l.width, 844)
		tab.Open(server.URL)
		assert.Equal(t, l.width, browsertest.Eval[int64](tab, `document.documentElement.scrollWidth`), "%s: nothing is cut off", l.name)
		shown := browsertest.Eval[[]float64](tab, `[...document.querySelectorAll('svg')].filter(s => s.checkVisibility()).map(s => s.getBoundingClientRect().width / s.viewBox.baseVal.width)`)
		assert.Len(t, shown, 8, "%s: one of each chart", l.name)
		for _, scale := range shown {
			assert.Greater(t, scale*12, 11., "%s: the height of the charts' letters in pixels", l.name)
		}
		tab.Screenshot("report-" + l.name)
		assert.True(t, browsertest.Eval[bool](tab, `[...document.querySelectorAll('details')].map(d => d.open = true).length > 0`))
		tab.RequireAccessible()
	}
}
