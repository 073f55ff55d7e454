package config

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"

	"github.com/fairdoor-gate/fairdoor/templates/spelling"
)

// flagValue keeps what a flag was given, as text: Load reads it, so that its faults come together
// with all others.
type flagValue struct {
	kind, text string
	given      bool
}

// String is what was given, or else the default.
func (f *flagValue) String() string { return f.text }

// Set keeps the last of several values, or all of them for a list. It takes anything.
func (f *flagValue) Set(s string) error {
	if f.kind == "list" && f.given {
		s = f.text + "," + s
	}
	f.text, f.given = s, true
	return nil
}

// Type names the kind of value in the help.
func (f *flagValue) Type() string { return f.kind }

// BindFlags adds the flag of every setting that has one. Hand the set to Load once it is parsed.
func BindFlags(flags *pflag.FlagSet) {
	for _, k := range Keys() {
		if k.Flag == "" {
			continue
		}
		usage := k.Usage
		if len(k.Choices) > 1 && len(k.Choices) < 10 {
			usage += ": " + strings.Join(k.Choices, ", ")
		}
		f := flags.VarPF(&flagValue{kind: k.Kind, text: k.Default}, k.Flag, "", usage)
		if k.Kind == "bool" {
			f.NoOptDefVal = "true"
		}
	}
}

// layers are what the file, the environment and the flags say of a key of a mapping, the strongest
// last. An empty variable counts as one that is not set.
func (v *value) layers(k *Key, inFile *yaml.Node) []*value {
	var values []*value
	add := func(p Position, n *yaml.Node, l layer) {
		p.Key = v.pathOf(k.Field.Name)
		values = append(values, v.note(&value{Position: p, of: k, node: n, layer: l, overridable: v.overridable}))
	}
	if inFile != nil {
		add(v.in(inFile, ""), resolve(inFile), fromFile)
	}
	if text := v.env(k.Env); v.overridable && text != "" {
		add(Position{Source: k.Env}, k.overrideNode(text), fromEnv)
	}
	if flag := v.flag(k.Flag); v.overridable && flag != nil {
		add(Position{Source: "--" + k.Flag}, k.overrideNode(flag.Value.String()), fromFlag)
	}
	return values
}

// flag is a flag that was given; nil if it was not.
func (d *loader) flag(name string) *pflag.Flag {
	if d.Flags == nil {
		return nil
	}
	if flag := d.Flags.Lookup(name); flag != nil && flag.Changed {
		return flag
	}
	return nil
}

// overrideNode is the text of a variable or a flag as a node; that of a list is taken apart at its
// commas.
func (k *Key) overrideNode(text string) *yaml.Node {
	if k.item == nil {
		return textNode(text)
	}
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for piece := range strings.SplitSeq(text, ",") {
		if piece = strings.TrimSpace(piece); piece != "" {
			n.Content = append(n.Content, textNode(piece))
		}
	}
	return n
}

func textNode(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

// mistyped warns of variables whose names are nearly those of a key.
func (d *loader) mistyped() {
	var names []string
	for _, k := range Keys() {
		names = append(names, k.Env)
	}
	for _, name := range d.EnvNames {
		i := slices.IndexFunc(names, func(known string) bool { return spelling.Distance(name, known) <= 2 })
		if i >= 0 && strings.HasPrefix(name, "FAIRDOOR_") && !slices.Contains(names, name) {
			d.warn(Position{Source: name}, "no setting has this name (did you mean %s?)", names[i])
		}
	}
}
