package admin

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// moreItems is how many lines the dashboard has for more items.
const moreItems = 3

// itemsOf are the lines of what there is to buy.
func itemsOf(items queue.Items) []dashboard.Item {
	var lines []dashboard.Item
	for _, item := range items.List() {
		line := dashboard.Item{Name: item.Name, Price: item.Price, SoldOut: item.SoldOut && item.Left == nil}
		if item.Left != nil {
			line.Left = strconv.Itoa(*item.Left)
		}
		lines = append(lines, line)
	}
	return append(lines, make([]dashboard.Item, moreItems)...)
}

// readItems gives a form of such lines the value that the setting has in a file.
func readItems(r *http.Request) {
	soldOut := r.PostForm["item.soldOut"] // the numbers of the lines
	names, prices, left := r.PostForm["item.name"], r.PostForm["item.price"], r.PostForm["item.left"]
	if len(names) == 0 || len(prices) != len(names) || len(left) != len(names) {
		return
	}
	type line struct {
		Name    string          `json:"name"`
		Price   string          `json:"price,omitempty"`
		Left    json.RawMessage `json:"left,omitempty"`
		SoldOut bool            `json:"soldOut,omitempty"`
	}
	lines := []line{}
	for i := range names {
		one := line{Name: strings.TrimSpace(names[i]), Price: strings.TrimSpace(prices[i]), SoldOut: slices.Contains(soldOut, strconv.Itoa(i))}
		if text := strings.TrimSpace(left[i]); text != "" && !one.SoldOut { // of what is sold out, no number is left
			if one.Left = json.RawMessage(text); !json.Valid(one.Left) {
				one.Left, _ = json.Marshal(text) // for which the items are refused
			}
		}
		if one.Name+one.Price+string(one.Left) != "" || one.SoldOut {
			lines = append(lines, one)
		}
	}
	text, _ := json.Marshal(lines) // which are texts and JSON
	items, err := queue.ParseItems(text)
	if err != nil {
		items = queue.Items(text)
	}
	r.PostForm.Set("items", string(items))
}
