package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/anteroom-gate/anteroom/templates/spelling"
)

// layer is where a value comes from; the higher wins.
type layer int

const (
	fromFile layer = iota + 1
	fromEnv
	fromFlag
)

// value is what was written for a key or as an item of a list, and where.
type value struct {
	Place
	of     *Key       // the key that it is the value of; of an unknown key, the mapping that it is in
	node   *yaml.Node // aliases resolved
	from   layer
	outer  bool // variables and flags may say more of what is in it
	list   *value
	items  []*value
	copied *yaml.Node // nil if the decoder is to read nothing
	number int
	isKey  bool // that nobody knows
	wrong  bool
}

// loader reads values and reports what is wrong with them.
type loader struct {
	Options
	report
	visits int
	values []*value          // by their numbers, which are the lines of the copies that the decoder reads
	given  map[string]*value // by the key's path: the strongest layer's, right or wrong
}

// note gives a value a number, counted from 1.
func (d *loader) note(v *value) *value {
	d.values = append(d.values, v)
	v.number = len(d.values)
	return v
}

// in is the place of a node in the configuration file.
func (d *loader) in(n *yaml.Node, key string) Place {
	return Place{Source: d.File, Line: n.Line, Col: n.Column, Key: key}
}

// decode has the library read a copy of all that was written. What it finds is reported, all at once: keys that nobody knows, and
// values of another kind.
func (d *loader) decode(n *yaml.Node, c *Config) {
	var misfits *yaml.LoadErrors
	switch err := n.Load(c, yaml.WithKnownFields(), yaml.WithUniqueKeys(false)); {
	case errors.As(err, &misfits):
		for _, misfit := range misfits.Errors {
			if v := d.values[misfit.Mark.Line-1]; v.isKey {
				d.unknown(v)
			} else {
				d.otherKind(v)
			}
		}
	case err != nil:
		d.fault(Place{Source: d.File}, "cannot be read: %v", err)
	}
}

// unknown reports a key that nobody knows.
func (d *loader) unknown(v *value) {
	name, known := v.node.Value, v.of.names()
	if d.stopped {
		return
	}
	meant := spelling.Nearest(name, known)
	path := strings.TrimSuffix(v.Key, shownName(name)) + meant
	if given := d.given[path]; meant != "" && (given == nil || given.from == fromFile && given.Line == 0) {
		v.wrong = true
		d.given[path] = v // wrong, and so not missing as well
	}
	switch {
	case v.of == topKey && roomKey.child(name) != nil:
		d.fault(v.Place, "unknown key here: it belongs to a room, below rooms")
	case v.of == roomKey && topKey.child(name) != nil:
		d.fault(v.Place, "unknown key here: it belongs at the top of the file")
	case meant != "":
		d.fault(v.Place, "unknown key (did you mean %q?)", meant)
	default:
		d.fault(v.Place, "unknown key; the keys here are %s", strings.Join(known, ", "))
	}
}

// otherKind reports a value that is not what its key wants.
func (d *loader) otherKind(v *value) {
	if isNull(v.node) && v.of.inner == nil && v.of.item == nil {
		d.wrong(v, "has no value: expects %s (or take the line out)", v.of.wants())
	} else {
		d.wrong(v, "expects %s, got %s", v.of.wants(), kindOf(v.node))
	}
}

// problem reports that a text is wrong. What is wrong continues a sentence that begins with the text.
func (d *loader) problem(v *value, what string) {
	shown := "the value"
	// An address with a user in front may carry a password.
	if !v.of.isSecret() && v.node.Kind == yaml.ScalarNode && !strings.Contains(v.node.Value, "@") {
		shown = show(v.node.Value)
		if v.node.ShortTag() != "!!str" {
			shown = strings.Trim(shown, `"`) // a number looks like one
		}
	}
	if v.from == fromFile && strings.Contains(v.node.Value, "${") || len(what) > maxMessage/2 {
		// A suggestion would show what the variable stands for, or is of no help at such a length.
		what, _, _ = strings.Cut(what, " (did you mean")
	}
	d.wrong(v, "%s %s", shown, what)
}

// wrong reports a value, which makes the list of texts wrong that it is in.
func (d *loader) wrong(v *value, format string, args ...any) {
	v.wrong = true
	if v.list != nil && v.of.inner == nil {
		v.list.wrong = true
	}
	d.fault(v.Place, format, args...)
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

// join is the path of a key of the mapping that has the path.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
