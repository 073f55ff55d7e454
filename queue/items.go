package queue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Items are what a site sells, as people who wait are told it: a list of Item in JSON, "" for none.
// Settings that have them stay comparable.
type Items string

// Item is one of the things that a site sells.
type Item struct {
	Name    string `json:"name"`
	Price   string `json:"price,omitempty"` // as people read it; "" where it is not told
	Left    *int   `json:"left"`            // nil where it is not known
	SoldOut bool   `json:"soldOut"`
}

const (
	mostItems = 20
	mostName  = 60 // characters of a name
	mostPrice = 30
)

// ListOf says what a file has a list of, for those who wrote something else.
func (Items) ListOf() string { return `items such as {name: Standing, price: "49 €", left: 120}` }

// List returns the items.
func (i Items) List() []Item {
	var list []Item
	if i != "" {
		_ = json.Unmarshal([]byte(i), &list) // it is what ParseItems has written
	}
	return list
}

// Words are the items as people read them; "" for none.
func (i Items) Words() string {
	var told []string
	for _, item := range i.List() {
		one := item.Name
		if item.Price != "" {
			one += ", " + item.Price
		}
		switch {
		case item.SoldOut:
			one += ", sold out"
		case item.Left != nil:
			one += ", " + strconv.Itoa(*item.Left) + " left"
		}
		told = append(told, one)
	}
	return strings.Join(told, "; ")
}

// ParseItems reads a list of items in JSON. The error continues a sentence that begins with the
// list.
func ParseItems(text []byte) (Items, error) {
	var list []Item
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		return "", errors.New(misread(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return "", errors.New("has something behind the list of items")
	}
	return itemsOf(list)
}

// misread says what is wrong with JSON that has no items.
func misread(err error) string {
	var kind *json.UnmarshalTypeError
	field, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	switch {
	case unknown:
		return "has " + field + " in an item, which has name, price, left and soldOut"
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Sprintf("has a %s as %s of an item", kind.Value, kind.Field)
	}
	return `is no list in JSON such as [{"name": "Standing", "price": "49 €", "left": 120}]`
}

// itemsOf writes a list, if it has no fault.
func itemsOf(list []Item) (Items, error) {
	if len(list) > mostItems {
		return "", fmt.Errorf("has %d items: at most %d", len(list), mostItems)
	}
	for n := range list {
		item := &list[n]
		if problem := item.problem(); problem != "" {
			return "", fmt.Errorf("is not usable: item %d %s", n+1, problem)
		}
		if slices.ContainsFunc(list[:n], item.isNamedLike) {
			return "", fmt.Errorf("is not usable: item %d has the name of another, %q", n+1, item.Name)
		}
		item.SoldOut = item.SoldOut || item.Left != nil && *item.Left == 0
	}
	if len(list) == 0 {
		return "", nil
	}
	text, err := json.Marshal(list)
	return Items(text), err
}

func (i *Item) isNamedLike(o Item) bool { return i.Name == o.Name }

// problem says what is wrong with an item, "" for nothing.
func (i *Item) problem() string {
	switch {
	case strings.TrimSpace(i.Name) == "":
		return "has no name"
	case utf8.RuneCountInString(i.Name) > mostName:
		return fmt.Sprintf("has a name that is too long: at most %d characters", mostName)
	case utf8.RuneCountInString(i.Price) > mostPrice:
		return fmt.Sprintf("has a price that is too long: at most %d characters", mostPrice)
	case strings.ContainsFunc(i.Name+i.Price, unicode.IsControl):
		return "holds a control character"
	case i.Left != nil && (*i.Left < 0 || *i.Left > MaxLeftItems):
		return fmt.Sprintf("has a number left that is not between 0 and %d", MaxLeftItems)
	case i.Left != nil && *i.Left > 0 && i.SoldOut:
		return "is sold out, and some are left"
	}
	return ""
}

// UnmarshalText implements [encoding.TextUnmarshaler]: "" is no items.
func (i *Items) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*i = ""
		return nil
	}
	*i, err = ParseItems(text)
	return err
}

// MarshalJSON implements [json.Marshaler]: it writes the list.
func (i Items) MarshalJSON() ([]byte, error) {
	if i == "" {
		return []byte("[]"), nil
	}
	return []byte(i), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (i *Items) UnmarshalJSON(text []byte) error { return i.UnmarshalText(text) }

// Left is how many of all items are left, if that is known of each.
func (i Items) Left() (sum int, known bool) {
	list := i.List()
	for _, item := range list {
		if item.Left == nil && !item.SoldOut {
			return 0, false
		}
		if item.Left != nil {
			sum += *item.Left
		}
	}
	return min(sum, MaxLeftItems), len(list) > 0
}

// NoItems is what an origin says that takes back what it has said of items.
const NoItems Items = "[]"

// With returns the items with what the origin has said of them: that goes before what the settings
// say of an item with the same name.
func (i Items) With(said Items) Items {
	switch {
	case said == "" || said == NoItems:
		return i
	case i == "":
		return said
	}
	list := i.List()
	for _, s := range said.List() {
		at := slices.IndexFunc(list, s.isNamedLike)
		if at < 0 {
			list = append(list, s)
			continue
		}
		if s.Price == "" {
			s.Price = list[at].Price
		}
		list[at] = s
	}
	text, _ := json.Marshal(list[:min(len(list), mostItems)]) // plain values can always be written
	return Items(text)
}
