package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/fairdoor-gate/fairdoor/templates/spelling"
)

// layer is where a value comes from; the higher wins.
type layer int

const (
	fromFile layer = iota + 1
	fromEnv
	fromFlag
)

// value is what was written for a key or as an item of a list, and where. One that is a mapping can
// be asked about the keys in it.
type value struct {
	*loader
	Position
	of          *Key       // the key that it is the value of; of an unknown key, the mapping that it is in
	node        *yaml.Node // aliases resolved
	layer       layer
	overridable bool       // variables and flags may say more of what is in it
	list        *value     // that it is an item of
	items       []*value   // of a list, those that are mappings, in the order that the decoder gives them
	copied      *yaml.Node // nil if the decoder is to read nothing
	number      int        // counted from 1; the line of the copy
	isKey       bool       // that nobody knows
	wrong       bool       // and that was reported
}

// loader reads values and reports what is wrong with them.
type loader struct {
	Options
	faults, warnings Faults
	stopped          bool // there are more faults than are collected
	visits           int
	values           []*value          // by their numbers, which are the lines of the copies that the decoder reads
	given            map[string]*value // by the key's path: the strongest layer's, right or wrong
	networkFiles     []string
}

// note gives a value a number, counted from 1.
func (d *loader) note(v *value) *value {
	d.values = append(d.values, v)
	v.loader = d
	v.number = len(d.values)
	return v
}

// in is the position of a node in the configuration file.
func (d *loader) in(n *yaml.Node, key string) Position {
	return Position{Source: d.File, Line: n.Line, Col: n.Column, Key: key}
}

// decode has the library read a copy of all that was written. What it finds is reported, all at
// once: keys that nobody knows, and values of another kind.
func (d *loader) decode(n *yaml.Node, c *Config) {
	var misfits *yaml.LoadErrors
	switch err := n.Load(c, yaml.WithKnownFields(), yaml.WithUniqueKeys(false)); {
	case errors.As(err, &misfits):
		for _, misfit := range misfits.Errors {
			if v := d.values[misfit.Mark.Line-1]; v.isKey {
				v.unknown()
			} else {
				v.otherKind()
			}
		}
	case err != nil:
		d.fault(Position{Source: d.File}, "cannot be read: %v", err)
	}
}

// unknown reports a key that nobody knows.
func (v *value) unknown() {
	if v.stopped {
		return
	}
	name, known := v.node.Value, v.of.names()
	suggestion := spelling.Nearest(name, known)
	if suggestion != "" {
		v.standFor(strings.TrimSuffix(v.Key, shownName(name)) + suggestion)
	}
	switch {
	case v.of == topKey && roomKey.child(name) != nil:
		v.fault(v.Position, "unknown key here: it belongs to a room, below rooms")
	case v.of == roomKey && topKey.child(name) != nil:
		v.fault(v.Position, "unknown key here: it belongs at the top of the file")
	case suggestion != "":
		v.fault(v.Position, "unknown key (did you mean %q?)", suggestion)
	default:
		v.fault(v.Position, "unknown key; the keys here are %s", strings.Join(known, ", "))
	}
}

// standFor makes a misspelt key the one that was meant, unless that is given as well: it is wrong,
// and so not missing.
func (v *value) standFor(path string) {
	if given := v.given[path]; given == nil || given.layer == fromFile && given.Line == 0 {
		v.wrong = true
		v.given[path] = v
	}
}

// otherKind reports a value that is not what its key wants.
func (v *value) otherKind() {
	if isNull(v.node) && v.of.inner == nil && v.of.item == nil {
		v.reject("has no value: expects %s (or take the line out)", v.of.wants())
	} else {
		v.reject("expects %s, got %s", v.of.wants(), kindOf(v.node))
	}
}

// problem reports that a text is wrong. What is wrong continues a sentence that begins with the
// text.
func (v *value) problem(what string) {
	if v.layer == fromFile && strings.Contains(v.node.Value, "${") || len(what) > maxMessage/2 {
		// A suggestion would show what the variable stands for, or is of no help at such a length.
		what, _, _ = strings.Cut(what, " (did you mean")
	}
	v.reject("%s %s", v.shown(), what)
}

// shown is a text as messages show it. An address with a user in front is not shown: it may carry a
// password.
func (v *value) shown() string {
	switch n := v.node; {
	case v.of.isSecret(), n.Kind != yaml.ScalarNode, strings.Contains(n.Value, "@"):
		return "the value"
	case n.ShortTag() != "!!str":
		return strings.Trim(show(n.Value), `"`) // a number looks like one
	default:
		return show(n.Value)
	}
}

// reject reports a value, which makes the list of texts wrong that it is in.
func (v *value) reject(format string, args ...any) {
	v.wrong = true
	if v.list != nil && v.of.inner == nil {
		v.list.wrong = true
	}
	v.fault(v.Position, format, args...)
}

// show quotes what was written, cut to a length that fits a line.
func show(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// plainName is what a key may look like to be repeated as it is.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func shownName(name string) string {
	if !plainName.MatchString(name) {
		return show(name)
	}
	return name
}

// itemsOf are the mappings in a list.
func (v *value) itemsOf(list string) []*value {
	if found := v.get(list); found != nil {
		return found.items
	}
	return nil
}

// get is what was given for a key of a mapping; nil for nothing.
func (v *value) get(name string) *value { return v.given[v.pathOf(name)] }

// pathOf is the path of a key of a mapping.
func (v *value) pathOf(name string) string {
	if v.Key == "" {
		return name
	}
	return v.Key + "." + name
}

// isGiven says whether any of the keys was given at all.
func (v *value) isGiven(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return v.get(name) != nil })
}

// valid says whether all of the keys are as they should be: given and right, or left to their
// defaults.
func (v *value) valid(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return v.isGiven(name) && v.get(name).wrong })
}

// layerOf is the layer of what a key says, 0 if that is nothing.
func (v *value) layerOf(name string) layer {
	if found := v.get(name); found != nil && !found.wrong && found.copied != nil && (found.copied.Value != "" || found.copied.Content != nil) {
		return found.layer
	}
	return 0
}

// either settles two keys that say the same in two ways: it returns the one from the higher layer,
// "" if neither says anything. In one layer there can be only one.
func (v *value) either(a, b string) string {
	switch layerA, layerB := v.layerOf(a), v.layerOf(b); {
	case layerA > layerB:
		return a
	case layerB > layerA:
		return b
	case layerA > 0:
		v.fault(v.where(b), "there is %s as well: give one of them", a)
	}
	return ""
}

// where is where the first of the keys that is given was given, or else where the first could have
// been.
func (v *value) where(names ...string) Position {
	for _, name := range names {
		if found := v.get(name); found != nil {
			return found.Position
		}
	}
	if v.Line == 0 {
		return Position{Source: "--" + flagName(names[0]), Key: v.pathOf(names[0])}
	}
	return Position{Source: v.Source, Line: v.Line, Col: v.Col, Key: v.pathOf(names[0])}
}

// refuse reports a key if there is something wrong with what it says.
func (v *value) refuse(wrong bool, name, format string, args ...any) {
	if wrong {
		v.fault(v.where(name), format, args...)
	}
}

// doubt warns of a key if what it says is hardly meant.
func (v *value) doubt(odd bool, name, format string, args ...any) {
	if odd {
		v.warn(v.where(name), format, args...)
	}
}

// required reports a key that is not given.
func (v *value) required(name, what string) {
	v.refuse(!v.isGiven(name), name, "is required: %s", what)
}
