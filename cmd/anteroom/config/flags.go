package config

import (
	"strings"

	"github.com/spf13/pflag"
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

// outer finds what the environment and the flags say of a key, the stronger last. An empty variable counts as one that is not set.
func outer[T any](o Options, k key[T], path string) []value {
	var values []value
	if name := envName(k.name); k.outside != fileOnly && o.Env != nil {
		if s, ok := o.Env(name); ok && s != "" {
			values = append(values, text(Place{Source: name, Key: path}, fromEnv, s))
		}
	}
	if k.outside != flagAndEnv || o.Flags == nil {
		return values
	}
	name := flagName(k.name)
	f := o.Flags.Lookup(name)
	if f == nil || !f.Changed {
		return values
	}
	if f, ok := f.Value.(*flagValue); ok {
		values = append(values, text(Place{Source: "--" + name, Key: path}, fromFlag, f.String()))
	}
	return values
}

// outer reads what the environment and the flags say of the scope's keys.
func (s *scope[T]) outer() {
	for _, k := range s.keys {
		for _, v := range outer(s.Options, k, s.key(k.name)) {
			s.set(k, v)
		}
	}
}

// mistyped warns of variables whose names are nearly those of a key.
func (d *decoder) mistyped() {
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
			if distance(name, k) <= 2 {
				d.warn(Place{Source: name}, "no setting has this name (did you mean %s?)", k)
				break
			}
		}
	}
}
