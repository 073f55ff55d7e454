package browsertest_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/templates"
	"github.com/fairdoor-gate/fairdoor/templates/guestpage"
)

func TestThePagesAreHTMLAsTheStandardHasIt(t *testing.T) {
	t.Parallel()
	waiting, guests := preview(t).URL+"/", guestPages(t).URL+"/"
	var pages []string
	for _, s := range templates.States() {
		for _, how := range []string{"en-US", "ar-EG", "ja-JP&hero=/hero.svg&logo=/logo.svg&card=%23ffffff"} {
			pages = append(pages, waiting+url.PathEscape(s.Name)+"?lang="+how)
		}
	}
	for _, s := range guestpage.Samples() {
		pages = append(pages, guests+url.PathEscape(s.Name)+"?lang=en-US", guests+url.PathEscape(s.Name)+"?lang=he-IL&site=2")
	}
	problems, err := templates.NewProblems()
	require.NoError(t, err)
	errors := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(problems.Page(http.StatusBadGateway, strings.TrimPrefix(r.URL.Path, "/")))
	}))
	t.Cleanup(errors.Close)
	why := httptest.NewServer(gatetest.Start(t, gatetest.TakingPasses(t)))
	t.Cleanup(why.Close)
	pages = append(pages, errors.URL+"/en-US", errors.URL+"/fa-IR", why.URL+"/.fairdoor/why?room=shop")

	dashboard := newDesk(t, "").url
	for _, page := range pagesOfTheDashboard {
		pages = append(pages, dashboard+page)
	}
	pages = append(pages, dashboard+"/visitors?q=0000-0000")
	browsertest.RequireValid(t, pages...)
}
