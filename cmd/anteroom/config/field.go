package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"

	"github.com/anteroom-gate/anteroom/queue/setting"
	"github.com/anteroom-gate/anteroom/templates"
)

// field is a key of the file, with what is below it.
type field struct {
	setting.Field
	path  string   // from the top, or from the top of a list's element
	form  form     // of a text, or of a list's elements
	inner []*field // of a mapping, or of a list's mappings
	room  bool     // of a room itself
}

// top is the file as a whole; its fields are what the tags of Config say.
var top = &field{inner: fieldsOf(reflect.TypeFor[Config](), "", false)}

// roomField is an element of rooms, and ruleField one of its rules.
var (
	roomField = top.child("rooms").element()
	ruleField = roomField.child("rules").element()
)

func fieldsOf(t reflect.Type, prefix string, room bool) []*field {
	var fields []*field
	for _, described := range setting.Fields(t) {
		f := &field{Field: described, path: prefix + described.Name, form: forms[described.Tag.Get("is")], room: room}
		if f.form.want == "" {
			f.form.want = f.Wants()
		}
		switch inner := f.Type; {
		case f.isMapping():
			f.inner = fieldsOf(inner, f.path+".", room)
		case f.isList() && inner.Elem().Kind() == reflect.Struct && inner.Elem() != reflect.TypeFor[netip.Prefix]():
			f.inner = fieldsOf(inner.Elem(), "", inner.Elem() == reflect.TypeFor[Room]())
			f.form.want = f.Tag.Get("is")
		}
		fields = append(fields, f)
	}
	return fields
}

func (f *field) isMapping() bool {
	return f.Type == nil || f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[netip.Prefix]()
}

func (f *field) isList() bool { return f.Type != nil && f.Type.Kind() == reflect.Slice }

// isSecret says whether the value is never shown.
func (f *field) isSecret() bool { return f.outside() == "env" }

func (f *field) outside() string {
	if f.inner != nil {
		return "no"
	}
	return f.Tag.Get("outside")
}

// element is what the items of a list are.
func (f *field) element() *field {
	e := *f
	e.Type, e.Usage = f.Type.Elem(), ""
	return &e
}

// child is the field below that has the name; nil if there is none.
func (f *field) child(name string) *field {
	for _, c := range f.inner {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// names are those of the fields below that the file knows.
func (f *field) names() []string {
	var names []string
	for _, c := range f.inner {
		if c.outside() != "only" {
			names = append(names, c.Name)
		}
	}
	return names
}

// wants says what the file should have for the field.
func (f *field) wants() string {
	switch {
	case f.isList():
		return "a list of " + f.Tag.Get("of")
	case f.inner != nil && f.Tag.Get("is") != "":
		return f.form.want
	case f.isMapping():
		return "a mapping of " + strings.Join(f.names(), ", ")
	case f.form.example:
		return fmt.Sprintf("%s such as %q", f.form.want, f.Default)
	default:
		return f.form.want
	}
}

// leaves are the fields without fields below, other than what is below lists.
func (f *field) leaves() []*field {
	if !f.isMapping() {
		return []*field{f}
	}
	var leaves []*field
	for _, c := range f.inner {
		leaves = append(leaves, c.leaves()...)
	}
	return leaves
}

// Language is the code of a language that the built-in page speaks.
type Language string

// Choices returns the codes of all of them.
func (Language) Choices() []string {
	codes, err := templates.LanguageCodes()
	if err != nil {
		return nil // and the page itself says why
	}
	return codes
}

// Key describes a setting, for help, completion and documentation.
type Key struct {
	Name       string   // the key's path in the file, without that of the room it belongs to
	Flag, Env  string   // without dashes; "" where there is none
	Kind       string   // string, file, dir, url, duration, int, number, bool, list or mappings
	Default    string   // as text, "" for none
	Usage      string   // a phrase that says what the setting is
	Choices    []string // nil where there are none
	Room, File bool     // of a room; known to the file
}

// Keys lists every setting, in the order of the file: those of the gate, and then those of a room.
func Keys() []Key {
	var keys []Key
	for _, f := range append(top.leaves(), roomField.leaves()...) {
		k := Key{
			Name: f.path, Kind: f.kind(), Default: f.Default, Usage: f.Usage, Choices: f.Choices, Room: f.room, File: f.outside() != "only",
		}
		if f.outside() == "" || f.outside() == "only" {
			k.Flag = flagName(f.path)
		}
		if f.outside() != "no" {
			k.Env = envName(f.path)
		}
		keys = append(keys, k)
	}
	return keys
}

func (f *field) kind() string {
	switch {
	case f.inner != nil:
		return "mappings"
	case f.isList():
		return "list"
	case f.form.kind != "":
		return f.form.kind
	}
	if kind, ok := map[reflect.Kind]string{reflect.Int64: "duration", reflect.Int: "int", reflect.Float64: "number", reflect.Bool: "bool"}[f.Type.Kind()]; ok {
		return kind
	}
	return "string"
}

func flagName(key string) string {
	return strings.NewReplacer("_", "-", ".", "-").Replace(key)
}

func envName(key string) string {
	return "ANTEROOM_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}
