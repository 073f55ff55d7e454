package config

import "strings"

// outside says where besides the file a key can be set.
type outside int

const (
	fileOnly   outside = iota
	envOnly            // secrets: a command line can be read by everyone on the machine
	flagAndEnv         // the rest
)

// key is one setting that is read into a T. Its flag and its variable are named after it.
type key[T any] struct {
	name     string // in the file; dots lead into mappings
	kind     string // of value, for help
	def      string // default as text, "" for none
	usage    string // for help
	outside  outside
	fileless bool // only from outside
	secret   bool
	choices  []string
	read     reader[T]
}

// Key describes a setting, for help, completion and documentation.
type Key struct {
	// Name is the key's path in the file, without that of the room it belongs to.
	Name string
	// Flag is the flag's name without dashes, "" where there is none.
	Flag string
	// Env is the environment variable's name, "" where there is none.
	Env string
	// Kind is the kind of value: string, file, dir, url, duration, int, number, bool, list or mappings.
	Kind string
	// Default is the default as text, "" for none.
	Default string
	// Usage is a phrase that says what the setting is.
	Usage string
	// Choices are the words or numbers that may be chosen from, nil where there are none.
	Choices []string
	// Room is set for the keys of a room.
	Room bool
	// File is set for the keys that the file knows.
	File bool
}

// Keys lists every setting, in the order of the file: those of the gate, and then those of a room.
func Keys() []Key { return append(describe(rootKeys(), false), describe(roomKeys(), true)...) }

func describe[T any](keys []key[T], room bool) []Key {
	out := make([]Key, 0, len(keys))
	for _, k := range keys {
		described := Key{
			Name: k.name, Kind: k.kind, Default: k.def, Usage: k.usage, Choices: k.choices, Room: room, File: !k.fileless,
		}
		if k.outside == flagAndEnv {
			described.Flag = flagName(k.name)
		}
		if k.outside != fileOnly {
			described.Env = envName(k.name)
		}
		out = append(out, described)
	}
	return out
}

func flagName(key string) string {
	return strings.NewReplacer("_", "-", ".", "-").Replace(key)
}

func envName(key string) string {
	return "ANTEROOM_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}
