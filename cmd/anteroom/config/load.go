package config

import (
	"reflect"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"

	"github.com/anteroom-gate/anteroom/queue/setting"
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
	d := &loader{Options: o, report: report{file: o.File}, given: map[string]place{}}
	c := &Config{}
	root := &section{loader: d}
	root.fill(reflect.ValueOf(c).Elem(), "")
	if o.File != "" {
		root.place = d.readFile(c)
	}
	d.outer(top.leaves(), "", c)
	d.mistyped()
	if o.File != "" && root.place == 0 {
		d.roomFromOutside(c) // what the file says of rooms is not known, but flags can be wrong by themselves
	} else {
		checkRoot(root, c)
		root.finishRooms(c, d.rooms(root, c))
	}
	warnings, err := d.result()
	if err != nil {
		return nil, warnings, err
	}
	return c, warnings, nil
}

// readFile reads the configuration file. The place is that of its mapping, 0 if there is none.
func (d *loader) readFile(c *Config) place {
	src, problem := d.read(d.File)
	if problem != "" {
		d.fault(Place{Source: d.File}, "%s", problem)
		return 0
	}
	d.src = src
	n := d.parse(src)
	if n == nil {
		return 0
	}
	p := d.note(written{Place: d.in(n, ""), field: top, node: n, from: fromFile})
	d.decode(d.take(p), c)
	return p
}

// section is a mapping with what was given in it: the top of the file, a room, a rule.
type section struct {
	*loader
	place place  // of the mapping; 0 where there is no file
	path  string // of the mapping, "" for the top
}

// sections are those of the mappings in a list, in the order that the decoder gives them.
func (s *section) sections(list string) []*section {
	var sections []*section
	if p := s.given[s.key(list)]; p > 0 {
		for _, item := range s.at(p).items {
			if w := s.at(item); w.node.Kind == yaml.MappingNode {
				sections = append(sections, &section{loader: s.loader, place: item, path: w.Key})
			}
		}
	}
	return sections
}

// fill sets what was not given, or not right, of a struct to its default.
func (s *section) fill(v reflect.Value, prefix string) {
	for _, f := range setting.Fields(v.Type()) {
		if inner := f.Of(v); inner.Kind() == reflect.Struct {
			s.fill(inner, prefix+f.Name+".")
		} else if name := prefix + f.Name; !s.isGiven(name) || !s.fine(name) {
			f.SetDefault(v)
		}
	}
}

// isGiven says whether a key was given at all.
func (s *section) isGiven(name string) bool { return s.given[s.key(name)] > 0 }

// fine says whether all of the keys are as they should be: given and right, or left to their defaults.
func (s *section) fine(names ...string) bool {
	for _, name := range names {
		if p := s.given[s.key(name)]; p > 0 && s.at(p).wrong {
			return false
		}
	}
	return true
}

// from is the layer of what was given for a key, 0 for nothing.
func (s *section) from(name string) layer {
	if p := s.given[s.key(name)]; p > 0 {
		return s.at(p).from
	}
	return 0
}

// where is where a key was given, or where it could have been.
func (s *section) where(name string) Place {
	p := Place{Source: "--" + flagName(name), Key: s.key(name)}
	if given := s.given[s.key(name)]; given > 0 {
		p = s.at(given).Place
	} else if s.place > 0 {
		p = s.at(s.place).Place
		p.Key = s.key(name)
	}
	return p
}

// key is the path of a key of this section.
func (s *section) key(name string) string { return join(s.path, name) }

// required reports a key that is not given.
func (s *section) required(name, what string) {
	if !s.isGiven(name) {
		s.fault(s.where(name), "is required: %s", what)
	}
}
