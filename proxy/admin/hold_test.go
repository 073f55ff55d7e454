package admin_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEveryPageTellsWhenAHoldEndsAndWhereItIsEnded(t *testing.T) {
	x := newTrail(t)
	const ends = `Operators hold everybody new (queue_all). This ends by itself: <time datetime="2021-05-27T16:54:10Z">2021-05-27 16:54:10 UTC</time>.`
	x.answers(x.o.send("/rooms/shop/ask", url.Values{"was.queue_all": {"false"}, "queue_all": {"true"}}).Body.String(), url.Values{"for": {"1h"}})
	for _, path := range []string{"/", "/rooms/shop", "/rooms/shop/limits"} {
		assert.Contains(t, x.o.send(path, nil).Body.String(), ends, path)
	}
	assert.Contains(t, x.o.send("/rooms/shop/limits", nil).Body.String(), `<a href="/rooms/shop">Let people in again…</a>`)
	asked := x.o.send("/rooms/shop/visitors/7F3K-Q2M9/ask", url.Values{"do": {"ahead"}}).Body.String()
	assert.Contains(t, asked, "They are the first then, and go on waiting for now. Operators hold everybody new")
	x.do("ask", url.Values{"was.queue_all": {"true"}, "queue_all": {"false"}})
	x.do("ask", url.Values{"was.queue_all": {"false"}, "queue_all": {"true"}})
	assert.Contains(t, x.o.send("/", nil).Body.String(), "(queue_all). This lasts until somebody ends it.")
}
