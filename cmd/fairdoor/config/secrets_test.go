package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
)

func TestSecretsComeFromVariablesAndFiles(t *testing.T) {
	tests := map[string]struct {
		setup
		token string
		keys  []string
	}{
		"written out":                   {setup{file: minimal + "admin_token: abc$$d$e\ncookie: {keys: [a, b]}\n"}, "abc$d$e", []string{"a", "b"}},
		"in variables":                  {setup{file: minimal + "admin_token: x${T}y\ncookie: {keys: ['${K}']}\n", env: map[string]string{"T": "t", "K": "k"}}, "xty", []string{"k"}},
		"a variable is not looked into": {setup{file: minimal + "admin_token: ${T}\n", env: map[string]string{"T": "${U}$$"}}, "${U}$$", nil},
		"in files": {setup{file: minimal + "admin_token_file: t\ncookie: {keys_file: /k}\n", files: map[string]string{
			"/etc/gate/t": "token\n", "/k": "# first\none\r\n\n two\n"}}, "token", []string{"one", "two"}},
		"in the environment": {setup{file: minimal + "admin_token_file: t\ncookie: {keys: [a]}\n", env: map[string]string{
			"FAIRDOOR_ADMIN_TOKEN": "env", "FAIRDOOR_COOKIE_KEYS_FILE": "/k"}, files: map[string]string{"/k": "one"}}, "env", []string{"one"}},
		"empty strings are none": {setup{file: minimal + "admin_token: ''\nadmin_token_file: ''\ncookie: {keys: [], keys_file: ''}\n"}, "", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := tt.mustLoad(t)
			assert.Equal(t, tt.token, c.AdminToken)
			assert.Equal(t, tt.keys, c.Cookie.Keys)
		})
	}
}

func TestASecretIsGivenInOneWay(t *testing.T) {
	_, _, faults := setup{
		file:  minimal + "admin_token: abc\nadmin_token_file: t\ncookie: {keys: [a], keys_file: k}\n",
		files: map[string]string{"/etc/gate/t": "x", "/etc/gate/k": "x"},
	}.load(t)
	assert.Equal(t, []string{
		"gate.yaml:7:19: admin_token_file: there is admin_token as well: give one of them",
		"gate.yaml:8:32: cookie.keys_file: there is cookie.keys as well: give one of them",
	}, faults)
}

func TestSecretsNeverAppearInFaults(t *testing.T) {
	const secret = "hunter2hunter2"
	tests := map[string]setup{
		"a token with a space":        {file: minimal + "admin_token: 'a " + secret + "'\n"},
		"a token as a list":           {file: minimal + "admin_token: [" + secret + "]\n"},
		"a token as an alias":         {file: minimal + "admin_token: *" + secret + "\n"},
		"a token as a tag":            {file: minimal + "admin_token: !" + secret + " 5\n"},
		"a token in a broken line":    {file: minimal + "admin_token: \"" + secret + "\n"},
		"a token that refers badly":   {file: minimal + "admin_token: " + secret + "${x y}\n"},
		"a token in a variable":       {file: minimal, env: map[string]string{"FAIRDOOR_ADMIN_TOKEN": secret + " x"}},
		"a token in a file":           {file: minimal + "admin_token_file: /t\n", files: map[string]string{"/t": secret + "\n" + secret}},
		"a key that is refused":       {file: minimal + "cookie: {keys: [" + secret + "]}\n"},
		"a key in a variable":         {file: minimal, env: map[string]string{"FAIRDOOR_COOKIE_KEYS": secret}},
		"a key in a file":             {file: minimal + "cookie: {keys_file: /k}\n", files: map[string]string{"/k": secret}},
		"keys as a string":            {file: minimal + "cookie: {keys: " + secret + "}\n"},
		"keys where cookie is":        {file: minimal + "cookie: " + secret + "\n"},
		"an origin's password":        {file: minimal + "    origin: http://u:" + secret + "@a:b/\n"},
		"a store's password":          {file: minimal, args: []string{"--store=redis://:" + secret + "@a"}},
		"a variable put to wrong use": {file: minimal + "listen: ${S}\nstore: ${S}\n    ", env: map[string]string{"S": secret}},
		"a variable in an origin":     {file: strings.Replace(minimal, "http://127.0.0.1:3000", "${S}", 1), env: map[string]string{"S": secret}},
		"a variable as a path":        {file: minimal + "    path: ${S}\n    host: 'http://${S}'\n    queueing_method: ${S}\n", env: map[string]string{"S": secret}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.tweak = func(o *config.Options) {
				o.CheckKey = func(key string) error { return errors.New("cannot read " + key) }
			}
			_, _, faults := tt.load(t)
			assert.NotEmpty(t, faults)
			assert.NotContains(t, strings.Join(faults, "\n"), secret)
		})
	}
}

func TestAnEmptySecretIsNotNone(t *testing.T) {
	_, _, faults := setup{file: minimal + "admin_token: ${T}\n", env: map[string]string{"T": ""}}.load(t)
	assert.Equal(t, []string{"gate.yaml:6:14: admin_token: the value is empty once its variables are put in"}, faults)

	_, _, faults = setup{file: minimal + "cookie: {keys: ['']}\n"}.load(t)
	assert.Equal(t, []string{"gate.yaml:6:17: cookie.keys[0]: the key is empty"}, faults)

	_, _, faults = setup{
		file:  minimal + "admin_token_file: /t\ncookie: {keys_file: /k}\n",
		files: map[string]string{"/t": "\n", "/k": "# none\n"},
	}.load(t)
	assert.Equal(t, []string{
		"gate.yaml:6:19: admin_token_file: /t is empty",
		"gate.yaml:7:21: cookie.keys_file: /k holds no key: expects one on each line",
	}, faults)
}
