package config

import (
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"

	"github.com/anteroom-gate/anteroom/templates/spelling"
)

// flagValue keeps what a flag was given, as text: Load reads it, so that its faults come together with all others.
type flagValue struct {
	kind, def string
	given     []string
}

// String is what was given, or else the default.
func (f *flagValue) String() string {
	if len(f.given) == 0 {
		return f.def
	}
	return strings.Join(f.given, ",")
}

// Set keeps the last of several values, or all of them for a list. It takes anything.
func (f *flagValue) Set(s string) error {
	if f.kind != "list" {
		f.given = f.given[:0]
	}
	f.given = append(f.given, s)
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
		f := flags.VarPF(&flagValue{kind: k.Kind, def: k.Default}, k.Flag, "", usage)
		if k.Kind == "bool" {
			f.NoOptDefVal = "true"
		}
	}
}

// texts are what the environment and the flags say of a key, the stronger last. An empty variable counts as one that is not set.
func (d *loader) texts(f *field, key string) []written {
	var texts []written
	name := envName(f.path)
	if s, ok := d.lookup(name); f.outside() != "no" && ok && s != "" {
		texts = append(texts, written{Place: Place{Source: name, Key: key}, field: f, node: textNode(s), from: fromEnv})
	}
	if f.outside() == "no" || f.isSecret() || d.Flags == nil {
		return texts
	}
	name = flagName(f.path)
	flag := d.Flags.Lookup(name)
	if flag == nil || !flag.Changed {
		return texts
	}
	if v, ok := flag.Value.(*flagValue); ok {
		texts = append(texts, written{Place: Place{Source: "--" + name, Key: key}, field: f, node: textNode(v.String()), from: fromFlag})
	}
	return texts
}

// outer reads what the environment and the flags say over what the file says: each is a little file of its own.
func (d *loader) outer(fields []*field, path string, dst any) {
	for _, f := range fields {
		for _, text := range d.texts(f, join(path, f.path)) {
			if n := d.take(d.noteKey(text)); n != nil {
				d.decode(under(f.path, n), dst)
			}
		}
	}
}

// under is a mapping that has a node under a key with dots in it.
func under(key string, n *yaml.Node) *yaml.Node {
	name, rest, deeper := strings.Cut(key, ".")
	if deeper {
		n = under(rest, n)
	}
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{textNode(name), n}}
}

// mistyped warns of variables whose names are nearly those of a key.
func (d *loader) mistyped() {
	var names []string
	known := map[string]bool{}
	for _, k := range Keys() {
		if k.Env != "" {
			names, known[k.Env] = append(names, k.Env), true
		}
	}
	for _, name := range d.EnvNames {
		if !strings.HasPrefix(name, "ANTEROOM_") || known[name] {
			continue
		}
		for _, k := range names {
			if spelling.Distance(name, k) <= 2 {
				d.warn(Place{Source: name}, "no setting has this name (did you mean %s?)", k)
				break
			}
		}
	}
}
