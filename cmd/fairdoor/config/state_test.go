package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
)

func TestTheStateDirectoryThatIsGivenIsUsed(t *testing.T) {
	tests := map[string]struct {
		setup
		want string
	}{
		"in the file, relative to it": {setup{file: minimal + "state_dir: state\n"}, "/etc/gate/state"},
		"as a flag":                   {setup{file: minimal + "state_dir: state\n", args: []string{"--state-dir=../x"}}, "/etc/x"},
		"by systemd":                  {setup{file: minimal, env: map[string]string{"STATE_DIRECTORY": "/var/lib/a:/var/lib/b"}}, "/var/lib/a"},
		"by a flag, under systemd": {setup{file: minimal, args: []string{"--state-dir=/x"},
			env: map[string]string{"STATE_DIRECTORY": "/var/lib/a"}}, "/x"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, tt.mustLoad(t).StateDir) })
	}
}

func TestTheStateDirectoryIsTheGatesOwn(t *testing.T) {
	dir := func(s setup) string { return s.mustLoad(t).StateDir }
	flags := func(more ...string) []string {
		return append([]string{"--origin=http://a", "--total-active-users=1", "--new-users-per-minute=1"}, more...)
	}
	at := func(workDir string) setup {
		return setup{file: minimal, tweak: func(o *config.Options) { o.WorkDir = workDir }}
	}
	first := dir(setup{file: minimal})
	assert.Regexp(t, `^/home/ann/\.local/state/fairdoor/8080-[0-9a-f]{8}$`, first)
	assert.Equal(t, first, dir(setup{file: minimal + "log: {level: warn}\n"}), "another setting is the same gate")
	assert.Equal(t, first, dir(setup{file: minimal, args: []string{"--origin=http://b"}}), "with a file the file counts")

	seen := map[string]string{first: "the first"}
	for name, other := range map[string]string{
		"another address":             dir(setup{file: minimal + "listen: '127.0.0.1:8080'\n"}),
		"a file elsewhere":            dir(at("/srv")),
		"no file":                     dir(setup{args: flags()}),
		"no file and another origin":  dir(setup{args: flags("--origin=http://b")}),
		"an address that looks alike": dir(setup{args: flags("--listen=1:80")}),
		"no file and another address": dir(setup{args: flags("--listen=[::1]:80")}),
	} {
		assert.Empty(t, seen[other], "%s shares the directory", name)
		seen[other] = name
	}
	assert.Regexp(t, `^/state/fairdoor/8080-`, dir(setup{file: minimal, env: map[string]string{"XDG_STATE_HOME": "/state"}}))
	assert.Equal(t, first, dir(setup{file: minimal, env: map[string]string{"XDG_STATE_HOME": "relative"}}))
}

func TestWithoutAHomeAStateDirectoryIsRequired(t *testing.T) {
	_, _, faults := setup{file: minimal, env: map[string]string{"HOME": ""}}.load(t)
	require.Equal(t, []string{
		"gate.yaml:1:1: state_dir: is required: neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME says where it could be",
	}, faults)
}
