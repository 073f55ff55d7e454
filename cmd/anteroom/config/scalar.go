package config

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/anteroom-gate/anteroom/queue/setting"
	"github.com/anteroom-gate/anteroom/templates/spelling"
)

// scalar copies a single value in the words that the decoder reads alike everywhere, or reports what is wrong with it.
func (d *loader) scalar(p place) *yaml.Node {
	w := *d.at(p)
	text, typed, problem := d.text(&w)
	switch {
	case !slices.Contains([]string{"!!str", "!!int", "!!float", "!!bool", "!!timestamp"}, w.node.ShortTag()):
		d.otherKind(p)
		return nil
	case problem == "" && typed && w.field.isText() && w.node.ShortTag() != "!!str":
		d.spoil(p)
		d.fault(w.Place, "expects %s, got %s: a string needs quotes here", w.field.wants(), kindOf(w.node))
		return nil
	case problem == "" && typed:
		problem = otherType(w.field, w.node.ShortTag(), text)
	}
	if problem == "" {
		if text, problem = d.canonical(&w, text); problem != "" && w.field.form.bare {
			d.spoil(p)
			d.fault(w.Place, "%s", problem)
			return nil
		}
	}
	if problem != "" {
		d.problem(p, problem)
		return nil
	}
	n := textNode(text)
	if !w.field.isText() {
		n.Tag = "" // so that it has the type that it looks like
	}
	return n
}

// text is a value with its variables put in, and whether the file gives it a type: what is put in without quotes has none.
func (d *loader) text(w *written) (text string, typed bool, problem string) {
	if w.from != fromFile {
		return w.node.Value, false, ""
	}
	text, problem = d.expand(w.node.Value)
	changed := text != w.node.Value
	if problem == "" && changed && text == "" && w.field.isSecret() {
		problem = "is empty once its variables are put in"
	}
	return text, !changed || w.node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0, problem
}

// isText says whether the file has to have a string.
func (f *field) isText() bool {
	switch f.Type.Kind() {
	case reflect.Int, reflect.Int64, reflect.Float64, reflect.Bool:
		return false
	default:
		return true
	}
}

var decimal = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// otherType is what is wrong with the type that the file gives a text, "" for nothing. Durations have none.
func otherType(f *field, tag, text string) string {
	switch kind := f.Type.Kind(); {
	case kind == reflect.Bool && tag != "!!bool":
		return setting.NotBool(text)
	case kind == reflect.Int && tag == "!!str" && decimal.MatchString(text):
		return "is a string: without the quotes it is a whole number"
	case kind == reflect.Int && tag != "!!int" && !decimal.MatchString(text):
		return "is not a whole number"
	case kind == reflect.Float64 && tag != "!!float" && tag != "!!int":
		return "is not a number such as " + f.Default
	}
	return ""
}

// canonical checks a text by the rules of its field, and writes it as the decoder shall read it.
func (d *loader) canonical(w *written, text string) (canonical, problem string) {
	f := w.field
	if check := f.form.check; check != nil {
		if text == "" && f.form.empty {
			return "", ""
		}
		return check(d, text, w.from)
	}
	v, problem := f.Parse(text)
	switch {
	case f.Type.Kind() == reflect.Bool && w.from == fromFile && text != w.node.Value && text != "true" && text != "false":
		return text, setting.NotBool(text)
	case problem == "":
		return f.Text(v), ""
	case f.Choices != nil && f.Type.Kind() != reflect.Int:
		if near := spelling.Nearest(w.node.Value, f.Choices); near != "" {
			problem += " (did you mean " + strconv.Quote(near) + "?)"
		}
	}
	return text, problem
}
