package browsertest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy"
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
