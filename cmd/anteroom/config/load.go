package config

import (
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
	d := &decoder{Options: o, report: report{file: o.File}}
	var top *yaml.Node
	if o.File != "" {
		top = d.open()
	}
	dst := &draft{}
	root := newScope(d, rootKeys(), dst, "")
	root.misplaced, root.belongs = roomNames(), "to a room, below rooms"
	if top != nil {
		root.file(top)
	}
	root.outer()
	d.mistyped()
	if o.File != "" && top == nil {
		d.roomFromOutside() // what the file says of rooms is not known, but flags can be wrong by themselves
	} else {
		checkRoot(root)
		finishRooms(root, d.loadRooms(root))
	}
	warnings, err := d.result()
	if err != nil {
		return nil, warnings, err
	}
	return &dst.Config, warnings, nil
}

// open reads the configuration file and parses it.
func (d *decoder) open() *yaml.Node {
	src, problem := d.read(d.File)
	if problem != "" {
		d.fault(Place{Source: d.File}, "%s", problem)
		return nil
	}
	d.src = src
	return d.parse(src)
}

// rootNames and roomNames are the keys at the top of the file and at the top of a room.
func rootNames() []string { return (&scope[draft]{keys: rootKeys()}).names("") }

func roomNames() []string { return (&scope[roomDraft]{keys: roomKeys()}).names("") }

// finishRooms checks each room, then all of them against each other, and puts them into the configuration.
func finishRooms(root *scope[draft], rooms []*room) {
	for _, r := range rooms {
		r.finish(root)
		root.dst.Rooms = append(root.dst.Rooms, r.dst.Room)
	}
	root.uniqueNames(rooms)
	root.uniqueCookies(rooms)
	root.uniqueRoutes(rooms)
}
