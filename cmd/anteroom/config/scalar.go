package config

import (
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/templates/spelling"
)

// copyScalar copies a single value in the words that the decoder reads alike everywhere, or reports what is wrong with it.
func (d *loader) copyScalar(v *value) *yaml.Node {
	tag := v.node.ShortTag()
	text, typed, problem := d.text(v)
	if problem == "" && typed {
		problem = otherType(v.of, tag, text)
	}
	switch {
	case !slices.Contains([]string{"!!str", "!!int", "!!float", "!!bool", "!!timestamp"}, tag):
		d.otherKind(v)
	case problem != "":
		d.problem(v, problem)
	case typed && v.of.isText() && tag != "!!str":
		d.wrong(v, "expects %s, got %s: a string needs quotes here", v.of.wants(), kindOf(v.node))
	default:
		return d.copyText(v, text)
	}
	return nil
}

// text is a value with its variables put in, and whether the file gives it a type: what is put in without quotes has none.
func (d *loader) text(v *value) (text string, typed bool, problem string) {
	if v.from != fromFile {
		return v.node.Value, false, ""
	}
	text, problem = d.expand(v.node.Value)
	changed := text != v.node.Value
	if problem == "" && changed && text == "" && v.of.isSecret() {
		problem = "is empty once its variables are put in"
	}
	return text, !changed || v.node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0, problem
}

var decimal = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// otherType is what is wrong with the type that the file gives a text, "" for nothing. Durations have none.
func otherType(k *Key, tag, text string) string {
	isDecimal := decimal.MatchString(text)
	switch {
	case k.Kind == "bool" && tag != "!!bool":
		return queue.NotBool(text)
	case k.Kind == "int" && tag == "!!str" && isDecimal:
		return "is a string: without the quotes it is a whole number"
	case k.Kind == "int" && tag != "!!int" && !isDecimal:
		return "is not a whole number"
	case k.Kind == "number" && tag != "!!float" && tag != "!!int":
		return "is not a number such as " + k.Default
	}
	return ""
}

// copyText checks a text by the rules of its key, and writes it as the decoder shall read it.
func (d *loader) copyText(v *value, text string) *yaml.Node {
	k := v.of
	switch canonical, problem := d.canonical(v, text); {
	case problem == "":
		return k.textNode(canonical)
	case k.form.sentence:
		d.wrong(v, "%s", problem)
	default:
		d.problem(v, problem)
	}
	return nil
}

func (d *loader) canonical(v *value, text string) (canonical, problem string) {
	k := v.of
	switch {
	case text == "" && k.form.empty:
		return "", ""
	case k.form.check != nil:
		return k.form.check(d, text, v.from)
	case k.Kind == "bool" && v.from == fromFile && text != "true" && text != "false" && text != v.node.Value:
		return text, queue.NotBool(text)
	}
	parsed, problem := k.Parse(text)
	if problem == "" {
		return k.Text(parsed), ""
	}
	if near := spelling.Nearest(v.node.Value, k.Choices); near != "" && k.isText() {
		problem += " (did you mean " + strconv.Quote(near) + "?)"
	}
	return text, problem
}

// textNode is a text as the decoder shall read it: with the type that it looks like, if the key is not of a string.
func (k *Key) textNode(text string) *yaml.Node {
	n := textNode(text)
	if !k.isText() {
		n.Tag = ""
	}
	return n
}
