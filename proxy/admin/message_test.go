package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// answers says yes to a question, with what the operator fills in besides.
func (x *trail) answers(question string, filled url.Values) {
	x.t.Helper()
	fields := hidden(x.t, question, "/rooms/shop/change")
	for name, values := range filled {
		fields[name] = values
	}
	done := x.o.send("/rooms/shop/change", fields)
	require.Equal(x.t, http.StatusSeeOther, done.Code, done.Body.String())
}

func TestAHoldAndItsMessageComeAndGoInOneStep(t *testing.T) {
	for name, lasts := range map[string]string{"for good": "", "for some time": "15m"} {
		t.Run(name, func(t *testing.T) {
			x := newTrail(t)
			ask := func(queueAll, was string) string {
				return x.o.send("/rooms/shop/ask", url.Values{"was.queue_all": {was}, "queue_all": {queueAll}}).Body.String()
			}
			x.answers(ask("true", "false"), url.Values{"tell": {"We mend\r\nsomething."}, "for": {lasts}})
			s, by := x.g.shop.Room.Queue().Settings(), overrides.Of(x.g.shop.Describe().Configuration).By
			assert.True(t, s.QueueAll)
			assert.Equal(t, "We mend\nsomething.", s.Message)
			assert.Equal(t, by["queue_all"].Until, by["message"].Until)
			assert.Equal(t, lasts == "", by["message"].Until.IsZero())

			x.at = x.at.Add(time.Minute)
			back := ask("false", "true")
			require.Contains(t, back, `name="forget" type="checkbox" value="on" checked`)
			require.Contains(t, back, "We mend\nsomething.")
			x.answers(back, url.Values{"forget": {"on"}, "for": {lasts}})
			s = x.g.shop.Room.Queue().Settings()
			assert.False(t, s.QueueAll)
			assert.Empty(t, s.Message)
		})
	}
}

func TestAMessageOfItsOwnStaysWhenAHoldIsLifted(t *testing.T) {
	x := newTrail(t)
	x.do("ask", url.Values{"was.message": {""}, "message": {"Back at eight."}})
	x.do("ask", url.Values{"was.queue_all": {"false"}, "queue_all": {"true"}})
	assert.Equal(t, "Back at eight.", x.g.shop.Room.Queue().Settings().Message, "who tells nothing changes nothing")
	back := x.o.send("/rooms/shop/ask", url.Values{"was.queue_all": {"true"}, "queue_all": {"false"}}).Body.String()
	assert.NotContains(t, back, "Also remove the message")

	long := hidden(t, x.o.send("/rooms/shop/ask", url.Values{"was.hold_active": {"off"}, "hold_active": {"now"}}).Body.String(), "/rooms/shop/change")
	long.Set("tell", strings.Repeat("x", 5000))
	refused := x.o.send("/rooms/shop/change", long)
	assert.Equal(t, http.StatusUnprocessableEntity, refused.Code)
	assert.Contains(t, refused.Body.String(), "message is ")
}

func TestTheMessageThatStandsIsSignedAndRemovedByAButton(t *testing.T) {
	x := newTrail(t)
	assert.NotContains(t, x.o.send("/rooms/shop/message", nil).Body.String(), "Remove the message…")
	x.answers(x.o.send("/rooms/shop/ask", url.Values{"was.message": {""}, "message": {"Back at eight."}}).Body.String(), url.Values{"for": {"1h"}})
	page := x.o.send("/rooms/shop/message", nil).Body.String()
	assert.Contains(t, page, `<p>By an operator at 192.0.2.1, <time datetime="2021-05-27T15:54:10Z">2021-05-27 15:54:10 UTC</time>; until <time datetime="2021-05-27T16:54:10Z">`)
	require.Contains(t, page, `<button name="reset" value="message">Remove the message…</button>`)
	x.do("ask", url.Values{"page": {"message"}, "reset": {"message"}})
	assert.Empty(t, x.g.shop.Room.Queue().Settings().Message)
}

func TestALimitBelowWhoIsInIsToldInPlainWords(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handler()}
	assert.Contains(t, o.send("/rooms/shop", nil).Body.String(), `<p class="state calm">`)
	require.Equal(t, http.StatusOK, ask(g, http.MethodPatch, "/api/v1/rooms/shop", `{"total_active_users": 3}`).Code)
	for range 3 {
		g.shop.Room.Queue().Visit(t.Context(), now, room.Request{})
	}
	require.NoError(t, g.shop.Room.Queue().Sync(t.Context(), now.Add(time.Second)))
	require.Equal(t, http.StatusOK, ask(g, http.MethodPatch, "/api/v1/rooms/shop", `{"total_active_users": 2}`).Code)
	require.NoError(t, g.shop.Room.Queue().Sync(t.Context(), now.Add(2*time.Second)))
	page := o.send("/rooms/shop", nil).Body.String()
	assert.Contains(t, page, "More people are in than the limit now allows: 3, of at most 2 (total_active_users). Nobody is thrown out, and nobody is let in until fewer than 2 are in.")
	assert.Contains(t, page, `<p class="state calm">Nobody in line</p>`, "who comes has to wait, and nobody does")
	assert.Contains(t, o.send("/rooms/shop/limits", nil).Body.String(), "Back to the file: Visitors that may be active at once…")
}

func TestThePreviewOffersTheStatesInGroupsFromThePresentOn(t *testing.T) {
	page := (&operator{handler: newGate(t).handler()}).send("/rooms/shop/message", nil).Body.String()
	assert.Contains(t, page, `<select id="state" name="state"><option value="">of somebody who comes now</option><optgroup label="In order of arrival (fifo)"><option value="fifo">as usual</option>`)
	for _, state := range templates.States() {
		assert.Equal(t, 1, strings.Count(page, `<option value="`+state.Name+`">`), state.Name)
	}
	assert.Contains(t, page, `src="/rooms/shop/preview?lang=&amp;message=&amp;state="`)
}
