package config

import (
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/fairdoor-gate/fairdoor/queue/setting"
	"github.com/fairdoor-gate/fairdoor/templates/spelling"
)

// scalarTags are the types of YAML that a single value can have.
var scalarTags = []string{"!!str", "!!int", "!!float", "!!bool", "!!timestamp"}

// copyScalar copies a single value in the words that the decoder reads alike everywhere, or reports
// what is wrong with it.
func (v *value) copyScalar() *yaml.Node {
	text, ok := v.node.Value, true
	if v.layer == fromFile {
		text, ok = v.textOf()
	}
	if ok {
		text, ok = v.canonical(text)
	}
	if !ok {
		return nil
	}
	return v.of.textNode(text)
}

// textOf is a value of the file with its variables put in, if it has the type that its key wants.
func (v *value) textOf() (text string, ok bool) {
	text, problem := v.expand()
	switch {
	case !slices.Contains(scalarTags, v.node.ShortTag()):
		v.otherKind()
	case problem != "":
		v.problem(problem)
	default:
		return text, !v.isTyped(text) || v.hasType(text)
	}
	return "", false
}

// isTyped says whether the file gives a text a type. What is put in without quotes has none, but a
// switch has to be true or false.
func (v *value) isTyped(text string) bool {
	quoted := v.node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0
	return text == v.node.Value || quoted || v.of.Kind == "bool" && !slices.Contains([]string{"true", "false"}, text)
}

var decimal = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// hasType says whether the file gives a value the type that its key wants, and reports another.
// Durations may have any.
func (v *value) hasType(text string) bool {
	k, tag := v.of, v.node.ShortTag()
	switch {
	case slices.Contains(typesOf[k.Kind], tag):
		return true
	case k.isText():
		v.reject("expects %s, got %s: a string needs quotes here", k.wants(), kindOf(v.node))
	case k.Kind == "bool":
		v.problem(setting.NotBool(text))
	case k.Kind == "number":
		v.problem("is not a number such as " + k.Default)
	case !decimal.MatchString(text):
		v.problem("is not a whole number")
	case tag == "!!str":
		v.problem("is a string: without the quotes it is a whole number")
	default:
		return true // and too large
	}
	return false
}

// canonical is a text as the decoder shall read it, if it keeps to the rules of its key. Otherwise
// that is reported.
func (v *value) canonical(text string) (canonical string, ok bool) {
	k, problem := v.of, ""
	switch {
	case text == "" && k.form.empty:
		return "", true
	case k.form.check != nil:
		text, problem = k.form.check(v.loader, text, v.layer)
	default:
		text, problem = k.parse(text, v.node.Value)
	}
	switch {
	case problem == "":
		return text, true
	case k.form.sentence:
		v.reject("%s", problem)
	default:
		v.problem(problem)
	}
	return "", false
}

// parse reads a text by the rules of a field, and writes it again. The choice that was meant is the
// one nearest to what was written.
func (k *Key) parse(text, written string) (canonical, problem string) {
	parsed, problem := k.Parse(text)
	if problem == "" {
		return k.Text(parsed), ""
	}
	if near := spelling.Nearest(written, k.Choices); near != "" && k.isText() {
		problem += " (did you mean " + strconv.Quote(near) + "?)"
	}
	return text, problem
}

// textNode is a text as the decoder shall read it: with the type that it looks like, if the key is
// not of a string.
func (k *Key) textNode(text string) *yaml.Node {
	n := textNode(text)
	if !k.isText() {
		n.Tag = ""
	}
	return n
}
