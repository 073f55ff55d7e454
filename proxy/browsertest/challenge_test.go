package browsertest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/proxy/challenge/challengetest"
)

func TestAPersonPassesTheChallengeAndWaits(t *testing.T) {
	provider := challengetest.New(t)
	room := newRoom(t, 2*time.Second, func(c *proxy.RoomConfig) { c.Options = c.Options.With(provider.Config()) })
	member := room.person()

	tab := browser.Visitor(t)
	tab.Open(room.url + "/sale?x=1")
	tab.Until(`document.querySelector(".test-widget button")`)
	assert.Contains(t, tab.Text(), "One more step, and you have your place in line.")
	assert.Contains(t, tab.Text(), "I am a person, the-site")
	tab.RequireAccessible()

	tab.Until(`document.querySelector(".test-widget button").click(), true`)
	tab.Until(`document.getElementById("heading") && document.getElementById("heading").textContent === "You are in the waiting room"`)
	tab.Until(`location.pathname + location.search === "/sale?x=1"`)
	assert.Equal(t, 1, provider.Asked())

	member.leave()
	tab.Until(`document.title === "Shop"`)
	assert.Equal(t, 1, provider.Asked())
}

func TestAWrongAnswerIsAskedForAgain(t *testing.T) {
	provider := challengetest.New(t)
	room := newRoom(t, 2*time.Second, func(c *proxy.RoomConfig) { c.Options = c.Options.With(provider.Config()) })
	room.person()
	tab := browser.Visitor(t)
	tab.Open(room.url)
	tab.Until(`document.querySelector(".test-widget button")`)
	tab.Until(`fairdoorAnswered("made up"), true`)
	tab.Until(`document.getElementById("later").textContent === "Please try again in a few minutes."`)
	tab.Until(`!document.getElementById("later").textContent && document.querySelector(".test-widget button")`)
}

func TestAChallengeThatCannotBeShownSaysSo(t *testing.T) {
	t.Parallel()
	provider := challengetest.New(t)
	room := newRoom(t, 2*time.Second, func(c *proxy.RoomConfig) {
		c.Options, c.Identity.HelpURL = c.Options.With(provider.Config()), "https://help.example.com/"
	})
	room.person()
	tab := browser.Visitor(t)
	provider.Scripts(http.NotFound)
	tab.Open(room.url + "/sale?x=1#seats")
	tab.Until(`!document.getElementById("blocked").hidden`)
	tab.RequireAccessible()
	tab.Look(browsertest.Light, 390, 844)
	tab.Screenshot("challenge-blocked")
	assert.Contains(t, tab.Text(), "The check did not load. An extension or your network may be blocking it.")
	assert.Contains(t, tab.Text(), "Help")
	assert.Less(t, browsertest.Eval[float64](tab, `document.getElementById("blocked").getBoundingClientRect().top - document.querySelector("h1").getBoundingClientRect().bottom`), 40.0, "there is no gap")
	provider.Scripts(nil)
	tab.Until(`document.querySelector("#again a").click(), true`)
	tab.Until(`document.querySelector(".test-widget button")`)
	tab.Until(`document.getElementById("blocked").hidden`)
	assert.Equal(t, "/sale?x=1#seats", browsertest.Eval[string](tab, `location.pathname + location.search + location.hash`))

	off := browser.Visitor(t)
	browsertest.Call(off, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	off.Open(room.url + "/sale?x=1")
	off.Look(browsertest.Dark, 390, 844)
	off.Screenshot("challenge-without-script")
	text := off.Text()
	assert.Contains(t, text, "This check needs JavaScript. Please allow it, then try again.")
	assert.NotContains(t, text, "did not load")
}
