package config_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
)

// setup is everything that Load is given in a test.
type setup struct {
	file  string            // the text of gate.yaml, "" for no file
	files map[string]string // other files
	env   map[string]string
	args  []string
	tweak func(*config.Options)
}

// options of a gate in the directory /etc/gate with the home directory /home/ann.
func (s setup) options(t testing.TB) config.Options {
	t.Helper()
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	config.BindFlags(flags)
	require.NoError(t, flags.Parse(s.args))
	env := map[string]string{"HOME": "/home/ann"}
	for name, val := range s.env {
		env[name] = val
	}
	o := config.Options{
		Flags:   flags,
		WorkDir: "/etc/gate",
		Env: func(name string) (string, bool) {
			val, ok := env[name]
			return val, ok
		},
		ReadFile: func(path string) ([]byte, error) {
			if path == "gate.yaml" {
				return []byte(s.file), nil
			}
			if src, ok := s.files[path]; ok {
				return []byte(src), nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		},
	}
	if s.file != "" {
		o.File = "gate.yaml"
	}
	if s.tweak != nil {
		s.tweak(&o)
	}
	return o
}

// load is what Load says, faults and warnings as lines.
func (s setup) load(t testing.TB) (c *config.Config, warnings, faults []string) {
	t.Helper()
	c, warned, err := config.Load(s.options(t))
	for _, w := range warned {
		warnings = append(warnings, w.String())
	}
	if err != nil {
		require.Nil(t, c, "a faulty configuration is not returned")
		var all config.Faults
		require.ErrorAs(t, err, &all)
		require.NotEmpty(t, all)
		faults = strings.Split(err.Error(), "\n")
		require.Len(t, faults, len(all), "each fault is one line")
	}
	return c, warnings, faults
}

// mustLoad is the configuration of a setup without faults.
func (s setup) mustLoad(t testing.TB) *config.Config {
	t.Helper()
	c, _, faults := s.load(t)
	require.Empty(t, faults)
	return c
}

// minimal is the shortest file without faults: 5 lines, with the room on the last three.
const minimal = `origin: http://127.0.0.1:3000
rooms:
  - name: shop
    total_active_users: 20
    new_users_per_minute: 10
`
