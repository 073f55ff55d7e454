package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// object is a resource as Terraform has it: its attributes by their names.
type object map[string]tftypes.Value

// objectOf reads a resource; it is nil where there is none.
func objectOf(raw tftypes.Value) (object, error) {
	if raw.IsNull() || !raw.IsKnown() {
		return nil, nil
	}
	var o object
	if err := raw.As((*map[string]tftypes.Value)(&o)); err != nil {
		return nil, fmt.Errorf("reading a value of Terraform's: %w", err)
	}
	return o, nil
}

// text is an attribute that is a text; "" for none.
func (o object) text(name string) string {
	var text string
	_ = json.Unmarshal(o.json(name), &text) // other attributes are no texts
	return text
}

// known says whether all of it is known.
func (o object) known() bool {
	for name := range o {
		if o.json(name) == nil {
			return false
		}
	}
	return true
}

// json is an attribute as JSON has it, null if it has no value, and nil if it is not known yet.
func (o object) json(name string) json.RawMessage {
	v, found := o[name]
	switch {
	case !found:
		return json.RawMessage("null")
	case !v.IsFullyKnown():
		return nil
	}
	text, err := json.Marshal(plain(v))
	if err != nil {
		return nil
	}
	return text
}

// plain is a value that is known as package json writes it.
func plain(v tftypes.Value) any {
	if v.IsNull() {
		return nil
	}
	var (
		text   string
		number big.Float
		is     bool
		list   []tftypes.Value
		fields map[string]tftypes.Value
	)
	switch {
	case v.As(&text) == nil:
		return text
	case v.As(&number) == nil:
		if number.IsInt() {
			return json.Number(number.Text('f', 0))
		}
		f, _ := number.Float64()
		return f
	case v.As(&is) == nil:
		return is
	case v.As(&list) == nil:
		all := []any{}
		for _, element := range list {
			all = append(all, plain(element))
		}
		return all
	case v.As(&fields) == nil:
		all := map[string]any{}
		for name, field := range fields {
			if !field.IsNull() {
				all[camel(name)] = plain(field)
			}
		}
		return all
	}
	return nil
}

// camel is how the API writes the names of fields that the configuration file does not have.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}

// valueOf reads a value of a type of Terraform's from JSON. A text may be any JSON but null.
func valueOf(typ tftypes.Type, text json.RawMessage) (tftypes.Value, error) {
	if text == nil || string(text) == "null" {
		return tftypes.NewValue(typ, nil), nil
	}
	var err error
	switch of := typ.(type) {
	case tftypes.List:
		var list []json.RawMessage
		err = json.Unmarshal(text, &list)
		values := make([]tftypes.Value, len(list))
		for i := 0; i < len(list) && err == nil; i++ {
			values[i], err = valueOf(of.ElementType, list[i])
		}
		return tftypes.NewValue(typ, values), err
	case tftypes.Object:
		var told map[string]json.RawMessage
		err = json.Unmarshal(text, &told)
		values := map[string]tftypes.Value{}
		for name, attribute := range of.AttributeTypes {
			if err == nil {
				values[name], err = valueOf(attribute, told[camel(name)])
			}
		}
		if err != nil {
			return tftypes.Value{}, err
		}
		return tftypes.NewValue(typ, values), nil
	}
	return scalarOf(typ, text)
}

// scalarOf is valueOf for what is not made of other values.
func scalarOf(typ tftypes.Type, text json.RawMessage) (tftypes.Value, error) {
	var value any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return tftypes.Value{}, err
	}
	switch read := value.(type) {
	case json.Number:
		if typ.Is(tftypes.String) { // such as an id
			value = read.String()
			break
		}
		number, _, err := big.ParseFloat(read.String(), 10, 512, big.ToNearestEven)
		if err != nil {
			return tftypes.Value{}, err
		}
		value = number
	}
	if err := tftypes.ValidateValue(typ, value); err != nil {
		return tftypes.Value{}, fmt.Errorf("reading what the gate said: %w", err)
	}
	return tftypes.NewValue(typ, value), nil
}
