package config

import (
	"cmp"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/fairdoor-gate/fairdoor/queue/setting"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// A Key is a key of the file, as the tags of Config describe it: a setting, or what has settings
// below it.
type Key struct {
	setting.Field
	Name      string // the path in the file, without that of the room or of the item of a list that it belongs to
	Flag, Env string // without dashes; "" where there is none
	Kind      string // string, file, dir, url, duration, int, number, bool, list, json, mapping or mappings
	Room      bool   // of a room
	File      bool   // known to the file

	form  form   // of a text, or of a list's texts
	inner []*Key // of a mapping
	item  *Key   // what each item of a list is
}

// topKey is the file as a whole; roomKey is an item of rooms, ruleKey one of a room's rules, and
// eventKey one of its events; and so on.
var (
	topKey   = &Key{Kind: "mapping", inner: keysOf(reflect.TypeFor[Config](), "", false)}
	roomKey  = topKey.child("rooms").item
	ruleKey  = roomKey.child("rules").item
	eventKey = roomKey.child("events").item

	waitlistKey = topKey.child("waitlists").item
	webhookKey  = topKey.child("webhooks").item
)

// Keys lists every setting, in the order of the file: those of the gate, and then those of a room.
func Keys() []*Key { return append(topKey.settings(), roomKey.settings()...) }

func keysOf(t reflect.Type, prefix string, room bool) []*Key {
	var keys []*Key
	for _, f := range setting.Fields(t) {
		outside := f.Tag.Get("outside")
		k := newKey(f, prefix+f.Name, room)
		k.File = outside != "only"
		if k.inner == nil && k.Kind != "mappings" && outside != "no" {
			k.Env = "FAIRDOOR_" + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
			if outside != "env" {
				k.Flag = flagName(k.Name)
			}
		}
		keys = append(keys, k)
	}
	return keys
}

// newKey describes a field, with what is below it.
func newKey(f setting.Field, name string, room bool) *Key {
	k := &Key{Field: f, Name: name, Room: room, form: forms[f.Tag.Get("is")]}
	switch kind := f.Type.Kind(); {
	case kind == reflect.Slice:
		item := f
		item.Type, item.Usage = f.Type.Elem(), ""
		k.item = newKey(item, name, room)
		k.Kind = map[bool]string{true: "mappings", false: "list"}[k.item.Kind == "mapping"]
	case kind == reflect.Struct && f.Type != reflect.TypeFor[netip.Prefix]():
		prefix := name + "."
		if f.Tag.Get("is") != "" { // an item of a list
			prefix = ""
		}
		k.Kind, k.inner = "mapping", keysOf(f.Type, prefix, room || f.Type == reflect.TypeFor[Room]())
	default:
		k.Kind = map[reflect.Kind]string{reflect.Int64: "duration", reflect.Int: "int", reflect.Float64: "number", reflect.Bool: "bool"}[kind]
		if f.IsList() {
			k.Kind = "json"
		}
		k.Kind = cmp.Or(k.Kind, k.form.kind, "string")
	}
	return k
}

func flagName(key string) string {
	return strings.NewReplacer("_", "-", ".", "-").Replace(key)
}

// nodeKinds are the kinds of node that the file should have for a kind of key, other than a scalar.
var nodeKinds = map[string]yaml.Kind{"list": yaml.SequenceNode, "mappings": yaml.SequenceNode, "json": yaml.SequenceNode, "mapping": yaml.MappingNode}

// typesOf are the types that the file may give a kind of value. A duration may have any.
var typesOf = map[string][]string{
	"bool": {"!!bool"}, "int": {"!!int"}, "number": {"!!int", "!!float"}, "duration": scalarTags,
	"time": {"!!str", "!!timestamp"}, "string": {"!!str"}, "file": {"!!str"}, "dir": {"!!str"}, "url": {"!!str"},
}

// isText says whether the file has to have a string.
func (k *Key) isText() bool {
	return !slices.Contains([]string{"bool", "int", "number", "duration"}, k.Kind)
}

// isSecret says whether the value is never shown.
func (k *Key) isSecret() bool { return k.Tag.Get("outside") == "env" }

// child is the key below that has the name; nil if there is none.
func (k *Key) child(name string) *Key {
	for _, c := range k.inner {
		if c.Field.Name == name {
			return c
		}
	}
	return nil
}

// names are those of the keys below that the file knows.
func (k *Key) names() []string {
	var names []string
	for _, c := range k.inner {
		if c.File {
			names = append(names, c.Field.Name)
		}
	}
	return names
}

// wants says what the file should have for the key.
func (k *Key) wants() string {
	is := k.Tag.Get("is")
	switch {
	case k.item != nil:
		return "a list of " + k.Tag.Get("of")
	case k.Kind == "mapping" && is != "":
		return is
	case k.Kind == "mapping":
		return "a mapping of " + strings.Join(k.names(), ", ")
	case k.form.example:
		return fmt.Sprintf("%s such as %q", k.form.want, k.Default)
	default:
		return cmp.Or(k.form.want, k.Wants())
	}
}

// settings are the keys without keys below, other than those below lists.
func (k *Key) settings() []*Key {
	var settings []*Key
	for _, c := range k.inner {
		if c.inner == nil {
			settings = append(settings, c)
		}
		settings = append(settings, c.settings()...)
	}
	return settings
}

// Language is the code of a language that the built-in page speaks.
type Language string

// Choices returns the codes of all of them.
func (Language) Choices() []string {
	codes, _ := templates.LanguageCodes() // without any, the page itself says why
	return codes
}
