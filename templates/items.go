package templates

import "encoding/json"

// Item is one of the things that there are to buy, as the field items of the JSON answer has it.
type Item struct {
	Name    string `json:"name"`
	Price   string `json:"price"`
	Left    *int   `json:"left"` // nil where it is not known
	SoldOut bool   `json:"soldOut"`
}

// variables are the values that a template has of an item, in the section items.
func (i Item) variables() map[string]any {
	left := 0
	if i.Left != nil {
		left = *i.Left
	}
	return map[string]any{"itemName": i.Name, "itemPrice": i.Price, "itemLeft": left, "itemLeftKnown": i.Left != nil, "itemSoldOut": i.SoldOut}
}

// items are what there is to buy.
func (d Data) items() []Item {
	list := []Item{}
	_ = json.Unmarshal([]byte(d.Items), &list) // what is no list is none
	return list
}

func (d Data) itemVariables() []map[string]any {
	var list []map[string]any
	for _, i := range d.items() {
		list = append(list, i.variables())
	}
	return list
}
