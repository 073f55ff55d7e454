package config

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"
)

// Options are what Load works from. It looks at nothing else.
type Options struct {
	// File is the path of the configuration file, as messages are to show it; "" for none.
	File string
	// Flags are parsed flags, bound by BindFlags; nil for none.
	Flags *pflag.FlagSet
	// Env looks up an environment variable, as os.LookupEnv does; nil is an environment without any.
	Env func(name string) (string, bool)
	// EnvNames are the names of the variables that exist. Those that look like a mistyped setting are warned of.
	EnvNames []string
	// ReadFile reads a file whole; nil reads the real one, up to a little more than 1 MiB.
	ReadFile func(path string) ([]byte, error)
	// WorkDir is the absolute directory that relative paths are of, other than those in the file; "" is the process's.
	WorkDir string
	// CheckKey says what is wrong with a cookie key, without repeating it; nil takes any key.
	CheckKey func(key string) error
	// CheckStore says what is wrong with the URL of a store, without its secrets; nil takes none but memory.
	CheckStore func(url string) error
	// CheckTemplate says what is wrong with a custom page; nil takes any page.
	CheckTemplate func(path string, src []byte) []TemplateFault
}

// TemplateFault is one thing that is wrong with a custom page.
type TemplateFault struct {
	// Line and Col count from 1; 0 where the place is not known.
	Line, Col int
	// Message says what is wrong.
	Message string
}

// Load reads, merges and checks the whole configuration. The error is a Faults with everything that is wrong, and the Config then
// nil; the warnings are there in either case.
func Load(o Options) (*Config, []Warning, error) {
	d := &loader{Options: o, report: report{file: o.File}, given: map[string]*value{}}
	c := &Config{}
	top := d.note(&value{of: topKey, node: &yaml.Node{Kind: yaml.MappingNode}, outer: true})
	if o.File != "" {
		top.Source = o.File
		if src, ok := d.read(top, o.File); ok {
			d.parse(src, top)
		}
	}
	d.decode(d.copy(top), c)
	d.mistyped()
	if o.File == "" || top.Line > 0 { // otherwise no more is known than that variables and flags are right by themselves
		root := &section{loader: d, at: top}
		root.checkGate(c)
		root.checkRooms(c)
	}
	warnings, err := d.result()
	if err != nil {
		return nil, warnings, err
	}
	return c, warnings, nil
}

// read reads a file that a value names, or reports why it cannot be read.
func (d *loader) read(v *value, path string) (src []byte, ok bool) {
	readFile := d.ReadFile
	if readFile == nil {
		readFile = readSome
	}
	src, err := readFile(path)
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err
	}
	if err != nil {
		d.wrong(v, "cannot read %s: %v", path, err)
	}
	return src, err == nil
}

// readSome reads a file, but no more than what tells that it is too large.
func readSome(path string) (src []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// section is a mapping with what was given in it: the top of the file, a room, a rule.
type section struct {
	*loader
	at *value // the mapping; without a line where there is no file
}

// sections are those of the mappings in a list, in the order that the decoder gives them.
func (s *section) sections(list string) []*section {
	var sections []*section
	if v := s.value(list); v != nil {
		for _, item := range v.items {
			if item.node.Kind == yaml.MappingNode {
				sections = append(sections, &section{s.loader, item})
			}
		}
	}
	return sections
}

// value is what was given for a key; nil for nothing.
func (s *section) value(name string) *value { return s.given[s.key(name)] }

// key is the path of a key of this section.
func (s *section) key(name string) string { return join(s.at.Key, name) }

// isGiven says whether a key was given at all.
func (s *section) isGiven(name string) bool { return s.value(name) != nil }

// fine says whether all of the keys are as they should be: given and right, or left to their defaults.
func (s *section) fine(names ...string) bool {
	for _, name := range names {
		if v := s.value(name); v != nil && v.wrong {
			return false
		}
	}
	return true
}

// from is the layer of what a key says, 0 if that is nothing.
func (s *section) from(name string) layer {
	if v := s.value(name); v != nil && !v.wrong && v.copied != nil && (v.copied.Value != "" || v.copied.Content != nil) {
		return v.from
	}
	return 0
}

// either settles two keys that say the same in two ways: it returns the one from the higher layer, "" if neither says anything. In one
// layer there can be only one.
func (s *section) either(a, b string) string {
	switch fromA, fromB := s.from(a), s.from(b); {
	case fromA > fromB:
		return a
	case fromB > fromA:
		return b
	case fromA > 0:
		s.fault(s.where(b), "there is %s as well: give one of them", a)
	}
	return ""
}

// where is where the first of the keys that is given was given, or else where the first could have been.
func (s *section) where(names ...string) Place {
	for _, name := range names {
		if v := s.value(name); v != nil {
			return v.Place
		}
	}
	if s.at.Line == 0 {
		return Place{Source: "--" + flagName(names[0]), Key: s.key(names[0])}
	}
	return Place{Source: s.at.Source, Line: s.at.Line, Col: s.at.Col, Key: s.key(names[0])}
}

// refuse reports a key if there is something wrong with what it says.
func (s *section) refuse(wrong bool, name, format string, args ...any) {
	if wrong {
		s.fault(s.where(name), format, args...)
	}
}

// doubt warns of a key if what it says is hardly meant.
func (s *section) doubt(odd bool, name, format string, args ...any) {
	if odd {
		s.warn(s.where(name), format, args...)
	}
}

// required reports a key that is not given.
func (s *section) required(name, what string) {
	s.refuse(!s.isGiven(name), name, "is required: %s", what)
}
