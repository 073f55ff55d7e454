package queue_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestItemsAreReadAndWrittenAsAList(t *testing.T) {
	items, err := queue.ParseItems([]byte(` [{"left": 120, "price": "49 €", "name": "Standing"}, {"name": "Seat", "left": 0}, {"name": "Parking"}]`))
	require.NoError(t, err)
	written, err := json.Marshal(items)
	require.NoError(t, err)
	assert.JSONEq(t, `[{"name": "Standing", "price": "49 €", "left": 120, "soldOut": false},
		{"name": "Seat", "left": 0, "soldOut": true}, {"name": "Parking", "left": null, "soldOut": false}]`, string(written))
	again, err := queue.ParseItems(written)
	require.NoError(t, err)
	assert.Equal(t, items, again)
	_, known := items.Left()
	assert.False(t, known, "of one it is not told")
	none, err := queue.ParseItems([]byte("[]"))
	require.NoError(t, err)
	assert.Empty(t, none)
	written, err = json.Marshal(none)
	require.NoError(t, err)
	assert.Equal(t, "[]", string(written))
}

func TestItemsThatCannotBeToldAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"name": "Standing"}`:                                        "is no list in JSON such as",
		`Standing`:                                                    "is no list in JSON such as",
		`[] []`:                                                       "has something behind the list of items",
		`[{"name": "Standing", "price": 49}]`:                         "has a number as price of an item",
		`[{"name": "Standing", "stock": 49}]`:                         `has "stock" in an item, which has name, price, left and soldOut`,
		`[{"price": "49 €"}]`:                                         "item 1 has no name",
		`[{"name": "a"}, {"name": "a"}]`:                              `item 2 has the name of another, "a"`,
		`[{"name": "a", "left": -1}]`:                                 "item 1 has a number left that is not between 0 and 999999999",
		`[{"name": "a", "left": 1000000000}]`:                         "item 1 has a number left that is not between 0 and 999999999",
		`[{"name": "a", "left": 1.5}]`:                                "has a number 1.5 as left of an item",
		`[{"name": "a\u0000b"}]`:                                      "item 1 holds a control character",
		`[{"name": "a", "left": 3, "soldOut": true}]`:                 "item 1 is sold out, and some are left",
		`[{"name": "` + strings.Repeat("é", 61) + `"}]`:               "item 1 has a name that is too long: at most 60 characters",
		`[{"name": "a", "price": "` + strings.Repeat("1", 31) + `"}]`: "item 1 has a price that is too long: at most 30 characters",
	} {
		_, err := queue.ParseItems([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
	var many []string
	for n := range 21 {
		many = append(many, fmt.Sprintf(`{"name": "%d"}`, n))
	}
	_, err := queue.ParseItems([]byte("[" + strings.Join(many, ",") + "]"))
	assert.ErrorContains(t, err, "has 21 items: at most 20")
}

func TestWhatTheOriginSaysOfAnItemGoesBeforeTheSettings(t *testing.T) {
	items := func(text string) queue.Items {
		i, err := queue.ParseItems([]byte(text))
		require.NoError(t, err)
		return i
	}
	settings := items(`[{"name": "Standing", "price": "49 €", "left": 120}, {"name": "Seat", "price": "89 €"}]`)
	said := items(`[{"name": "Parking", "left": 5}, {"name": "Standing", "left": 0}]`)
	assert.Equal(t, items(`[{"name": "Standing", "price": "49 €", "left": 0}, {"name": "Seat", "price": "89 €"}, {"name": "Parking", "left": 5}]`), settings.With(said))
	assert.Equal(t, settings, settings.With(""))
	assert.Equal(t, said, queue.Items("").With(said))
	left, known := said.Left()
	assert.True(t, known)
	assert.Equal(t, 5, left)
}
