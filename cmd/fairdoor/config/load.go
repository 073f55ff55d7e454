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
	// Env looks up an environment variable, as os.LookupEnv does; nil is an environment without
	// any.
	Env func(name string) (string, bool)
	// EnvNames are the names of the variables that exist. Those that look like a mistyped setting
	// are warned of.
	EnvNames []string
	// ReadFile reads a file whole; nil is [ReadFile].
	ReadFile func(path string) ([]byte, error)
	// WorkDir is the absolute directory that relative paths are of, other than those in the file;
	// "" is the process's.
	WorkDir string
	// CheckKey says what is wrong with a cookie key, without repeating it; nil takes any key.
	CheckKey func(key string) error
	// CheckStore says what is wrong with the URL of a store, without its secrets; nil takes none
	// but memory.
	CheckStore func(url string) error
	// CheckTemplate says what is wrong with a custom page; nil takes any page.
	CheckTemplate func(path string, src []byte) []TemplateFault
	// CheckMails says what is wrong with a directory of templates for mails, one fault a line; nil
	// takes any directory.
	CheckMails func(dir string) error
}

// TemplateFault is one thing that is wrong with a custom page.
type TemplateFault struct {
	// Line and Col count from 1; 0 where the position is not known.
	Line, Col int
	// Message says what is wrong.
	Message string
	// Harmless says that the page can be used as it is: it is warned of.
	Harmless bool
}

// Load reads, merges and checks the whole configuration. The error is a Faults with everything that
// is wrong, and the Config then nil; the warnings are there in either case.
func Load(o Options) (*Config, []Warning, error) {
	d := &loader{Options: o, given: map[string]*value{}}
	c := &Config{File: o.File}
	top := d.note(&value{Position: Position{Source: o.File}, of: topKey, node: &yaml.Node{Kind: yaml.MappingNode}, overridable: true})
	if o.File != "" {
		top.readFile()
	}
	d.decode(top.copy(), c)
	d.mistyped()
	if o.File == "" || top.Line > 0 { // otherwise no more is known than that variables and flags are right by themselves
		top.checkGate(c)
		top.checkRooms(c)
		top.checkWaitlists(c)
		top.checkWebhooks(c)
	}
	c.NetworkFiles = d.networkFiles
	warnings, err := d.result()
	if err != nil {
		return nil, warnings, err
	}
	return c, warnings, nil
}

// readFile makes the configuration file's mapping the value's. Where there is none it leaves the
// value without a line.
func (v *value) readFile() {
	src, ok := v.read(v.File)
	if !ok {
		return
	}
	n, at, problem := parse(src)
	if problem != "" {
		v.fault(Position{Source: v.File, Line: at.Line, Col: at.Column}, "%s", problem)
		return
	}
	v.node, v.layer, v.Line, v.Col = n, fromFile, at.Line, at.Column
}

// read reads a file that a value names, or reports why it cannot be read.
func (v *value) read(path string) (src []byte, ok bool) {
	readFile := v.ReadFile
	if readFile == nil {
		readFile = ReadFile
	}
	src, err := readFile(path)
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err
	}
	if err != nil {
		v.reject("cannot read %s: %v", path, err)
	}
	return src, err == nil
}

// ReadFile reads a file, but no more than what tells that it is larger than 1 MiB.
func ReadFile(path string) (src []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}
