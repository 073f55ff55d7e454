package demo_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
)

func TestTheSiteInABrowser(t *testing.T) {
	browser, err := browsertest.Start(nil)
	require.NoError(t, err)
	defer browser.Stop()
	origin, _ := newOrigin(t)
	gate := inFront(t, origin, 15*time.Second)
	address := strings.Replace(gate.URL, "127.0.0.1", "localhost", 1)

	first := browser.Visitor(t)
	first.Look(browsertest.Light, 1280, 800) // without motion, for the pictures
	first.Open(address)
	assert.Contains(t, first.Text(), "You are in")
	first.Until(`document.querySelectorAll('#places li.taken').length === 1`)

	second := first.Another()
	second.Open(browsertest.Eval[string](first, `document.querySelector('a.button').href`))
	assert.Contains(t, second.Text(), "You are in", "the other name is another visitor")
	first.Until(`document.querySelectorAll('#places li.taken').length === 2 && /came in/.test(document.querySelector('#news').textContent)`)
	third := browser.Visitor(t)
	third.Open(address)
	first.Front()
	first.Until(`document.querySelectorAll('#places li.taken').length === 3`)

	for _, look := range []struct {
		name          string
		scheme        browsertest.Scheme
		width, height int64
	}{
		{"desktop-light", browsertest.Light, 1280, 800},
		{"desktop-dark", browsertest.Dark, 1280, 800},
		{"phone-light", browsertest.Light, 320, 640},
		{"phone-dark", browsertest.Dark, 390, 844},
	} {
		first.Look(look.scheme, look.width, look.height)
		assert.EqualValues(t, look.width, browsertest.Eval[int](first, `document.documentElement.scrollWidth`), "nothing is cut off")
		first.RequireAccessible()
		first.Screenshot("demo-in-" + look.name)
	}

	first.Do(chromedp.Click(chromedp.CSS("button")))
	first.Until(`document.title.startsWith('Goodbye')`)
	first.RequireAccessible()
	first.Screenshot("demo-goodbye")
	third.Front()
	third.Until(`document.querySelectorAll('#places li.taken').length === 2`)
	first.Front()
	first.Do(chromedp.Click(chromedp.CSS("a.button")))
	first.Until(`document.body.innerText.includes('You are in')`)
}
