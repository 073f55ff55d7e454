package admin_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestWhatThereIsToBuyIsChangedInTheDashboard(t *testing.T) {
	x := newTrail(t)
	settings := func() queue.Settings { return x.g.shop.Room.Queue().Settings() }
	form := url.Values{"page": {"message"}, "was.items": {""}, "item.name": {"Standing", " Seat ", ""}, "item.price": {"49 €", "", ""}, "item.left": {"120", "0", ""}}
	asked := x.o.send("/rooms/shop/ask", form).Body.String()
	assert.Contains(t, asked, `<td>(empty)</td><td class="then">Standing, 49 €, 120 left; Seat, sold out</td>`)
	assert.Empty(t, settings().Items, "nothing is changed before the operator says so")
	x.do("ask", form)
	assert.JSONEq(t, `[{"name": "Standing", "price": "49 €", "left": 120, "soldOut": false}, {"name": "Seat", "left": 0, "soldOut": true}]`, string(settings().Items))

	page := x.o.send("/rooms/shop/message", nil).Body.String()
	assert.Contains(t, page, `name="item.name" aria-label="Name" value="Standing"`)
	assert.Contains(t, page, `name="item.left" aria-label="Left" value="120"`)
	form.Set("was.items", string(settings().Items))
	assert.Contains(t, x.o.send("/rooms/shop/ask", form).Body.String(), "the form has the values that the room had")

	for _, wrong := range []struct{ name, left, says string }{{"", "3", "has no name"}, {"Seat", "many", "as left of an item"}, {"Seat", "-1", "is not between 0 and"}} {
		w := x.o.send("/rooms/shop/ask", url.Values{"item.name": {wrong.name}, "item.price": {""}, "item.left": {wrong.left}})
		assert.Equal(t, http.StatusUnprocessableEntity, w.Code)
		assert.Contains(t, w.Body.String(), wrong.says)
	}
	assert.Contains(t, x.latest("items"), "Standing, 49 €, 120 left; Seat, sold out")
	x.putBack("items")
	require.Empty(t, settings().Items)

	numberless := url.Values{"page": {"message"}, "was.items": {""}, "item.name": {"Standing", "Seat"}, "item.price": {"", ""}, "item.left": {"120", "3"}, "item.soldOut": {"1"}}
	x.do("ask", numberless)
	const soldOut = `[{"name": "Standing", "left": 120, "soldOut": false}, {"name": "Seat", "left": null, "soldOut": true}]`
	assert.JSONEq(t, soldOut, string(settings().Items), "the number of what is ticked as sold out does not count")
	page = x.o.send("/rooms/shop/message", nil).Body.String()
	assert.Contains(t, page, `name="item.soldOut" aria-label="Sold out" value="1" checked>`)
	assert.NotContains(t, page, `value="0" inputmode`, "sold out is no number")
}
