package browsertest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// module is how wide a module of the QR code of a page is, in CSS pixels.
const module = `(i => i.clientWidth / +atob(i.src.split(',')[1]).match(/viewBox="0 0 (\d+)/)[1])(document.getElementById('qr'))`

func TestTheCodeThatMovesAPlaceIsWideEnoughToBeReadOffAPhone(t *testing.T) {
	t.Parallel()
	room := newLiveRoom(t, queue.Line, 5*time.Minute)
	room.person()
	tab := browser.Visitor(t)
	tab.Look(browsertest.Light, 390, 844)
	tab.Open(room.url)
	tab.Until(place + ` === '1st of 1'`)
	tab.Open(room.url + "/.fairdoor/move?room=shop")
	assert.GreaterOrEqual(t, browsertest.Eval[float64](tab, module), 5.)
	tab.RequireAccessible()
	tab.Screenshot("move-phone")
	tab.Look(browsertest.Dark, 1440, 900)
	tab.Screenshot("move")
}
