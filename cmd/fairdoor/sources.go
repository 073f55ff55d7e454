package main

import (
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
)

// sources are what a configuration is from: flags, the environment and files. Lists of networks are
// files that others renew: they are read again when they change, and the rest is not.
type sources struct {
	options config.Options
	read    reading // what was read last
	inForce reading

	seen  map[string]stamp // the lists, at the last look
	tried map[string]stamp // the lists, when they were last read because they had changed, or were put in force
}

// reading is what files held, and how the lists of networks among them were.
type reading struct {
	texts map[string][]byte
	lists map[string]stamp
}

// stamp tells whether a file has changed. That of a file that is not there is zero.
type stamp struct {
	at   time.Time
	size int64
	mode os.FileMode // a list that could not be read may be allowed to be
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size(), info.Mode()}
}

// newSources are a configuration file, "" for none, flags, nil for none, and the environment.
func newSources(file string, flags *pflag.FlagSet) *sources {
	var names []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, name)
	}
	return &sources{options: config.Options{
		File: file, Flags: flags, Env: os.LookupEnv, EnvNames: names,
		CheckKey: checkKey, CheckStore: redisstore.Check, CheckTemplate: checkTemplate, CheckMails: checkMails,
	}}
}

// load reads the configuration as it is now.
func (s *sources) load() (*config.Config, []config.Warning, error) { return s.loadBy(config.ReadFile) }

// renew reads the configuration that is in force, with the lists of networks as they are now.
func (s *sources) renew() (*config.Config, []config.Warning, error) {
	return s.loadBy(func(path string) ([]byte, error) {
		_, isList := s.inForce.lists[path]
		if text, found := s.inForce.texts[path]; found && !isList {
			return text, nil
		}
		return config.ReadFile(path)
	})
}

func (s *sources) loadBy(readFile func(path string) ([]byte, error)) (*config.Config, []config.Warning, error) {
	read := reading{map[string][]byte{}, map[string]stamp{}}
	stamps := map[string]stamp{}
	o := s.options
	o.ReadFile = func(path string) ([]byte, error) {
		stamps[path] = stampOf(path) // before it is read: what changes meanwhile is seen to have changed
		text, err := readFile(path)
		read.texts[path] = text
		return text, err
	}
	c, warnings, err := config.Load(o)
	if err != nil {
		return nil, warnings, err
	}
	for _, path := range c.NetworkFiles {
		read.lists[path] = stamps[path]
	}
	s.read = read
	return c, warnings, nil
}

// putInForce takes in that what was read last is in force.
func (s *sources) putInForce() {
	s.inForce, s.tried, s.seen = s.read, s.read.lists, map[string]stamp{}
}

// changed are the lists of networks that were changed since they were read last, in order: each is
// told once. A list that was another at the last look may be being written.
func (s *sources) changed() []string {
	var paths []string
	tried := map[string]stamp{}
	for path := range s.inForce.lists {
		now := stampOf(path)
		if tried[path] = s.tried[path]; now == s.seen[path] && now != s.tried[path] {
			tried[path] = now
			paths = append(paths, path)
		}
		s.seen[path] = now
	}
	s.tried = tried
	slices.Sort(paths)
	return paths
}
