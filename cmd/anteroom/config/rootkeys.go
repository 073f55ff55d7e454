package config

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// draft is a Config with what is still to be put together.
type draft struct {
	Config
	tokenFile, keysFile string
	cert, certKey       string  // of --tls-cert and --tls-key
	certificates        []value // of tls.certificates
	rooms               []value
}

// maxTimeout is far beyond what a timeout is good for; it catches a wrong unit.
const maxTimeout = 24 * time.Hour

// rootKeys is the table of the file's top.
func rootKeys() []key[draft] {
	return append(append(addressKeys(), secretKeys()...), operationKeys()...)
}

func addressKeys() []key[draft] {
	return []key[draft]{
		{name: "listen", kind: "string", def: ":8080", outside: flagAndEnv, usage: "address visitors connect to",
			read: aString(func(c *draft) *string { return &c.Listen }, `an address such as ":8080"`, checkAddress)},
		{name: "admin", kind: "string", def: "127.0.0.1:9090", outside: flagAndEnv, usage: "address of the admin API",
			read: aString(func(c *draft) *string { return &c.Admin }, `an address such as "127.0.0.1:9090"`, checkAddress)},
		{name: "admin_token", kind: "string", outside: envOnly, secret: true, usage: "token that the admin API asks for",
			read: aString(func(c *draft) *string { return &c.AdminToken }, "a string", checkToken)},
		{name: "admin_token_file", kind: "file", outside: flagAndEnv, usage: "file with the token that the admin API asks for",
			read: aPath(func(c *draft) *string { return &c.tokenFile }, "the path of a file")},
		{name: "store", kind: "string", def: "memory", outside: flagAndEnv, usage: "where the queue's state lives: memory, or the URL of a Redis that several gates share",
			read: readStore},
		{name: "state_dir", kind: "dir", outside: flagAndEnv, usage: "directory for what has to survive a restart (default: one of its own)",
			read: aPath(func(c *draft) *string { return &c.StateDir }, "the path of a directory")},
		{name: "origin", kind: "url", outside: flagAndEnv, usage: "origin that accepted visitors are sent to",
			read: anOrigin(func(c *draft) *string { return &c.Origin })},
		{name: "trusted_proxies", kind: "list", outside: flagAndEnv, usage: "networks whose forwarding headers are believed, as CIDRs",
			read: readTrustedProxies},
	}
}

func secretKeys() []key[draft] {
	return []key[draft]{
		{name: "cookie.keys", kind: "list", outside: envOnly, secret: true, usage: "keys of the cookies; the first seals, all open",
			read: readCookieKeys},
		{name: "cookie.keys_file", kind: "file", outside: flagAndEnv, usage: "file with the keys of the cookies, one a line",
			read: aPath(func(c *draft) *string { return &c.keysFile }, "the path of a file")},
		{name: "tls.certificates", kind: "mappings", usage: "certificates and their keys, as PEM files", read: readCertificates},
		{name: "tls.cert", kind: "file", outside: flagAndEnv, fileless: true, usage: "certificate of the listener, a PEM file",
			read: aPath(func(c *draft) *string { return &c.cert }, "the path of a file")},
		{name: "tls.key", kind: "file", outside: flagAndEnv, fileless: true, usage: "private key of --tls-cert, a PEM file",
			read: aPath(func(c *draft) *string { return &c.certKey }, "the path of a file")},
	}
}

func operationKeys() []key[draft] {
	levels, formats := []string{"debug", "info", "warn", "error"}, []string{"auto", "json", "console"}
	return []key[draft]{
		{name: "log.level", kind: "string", def: "info", outside: flagAndEnv, usage: "least serious level that is logged", choices: levels,
			read: oneOf(func(c *draft) *string { return &c.Log.Level }, levels...)},
		{name: "log.format", kind: "string", def: "auto", outside: flagAndEnv, usage: "format of the log", choices: formats,
			read: oneOf(func(c *draft) *string { return &c.Log.Format }, formats...)},
		{name: "origin_timeout", kind: "duration", def: "60s", outside: flagAndEnv, usage: "time an origin has until its response begins",
			read: aDuration(func(c *draft) *time.Duration { return &c.OriginTimeout }, time.Millisecond, maxTimeout)},
		{name: "progress_timeout", kind: "duration", def: "30s", outside: flagAndEnv, usage: "time a visitor's connection may stand still",
			read: aDuration(func(c *draft) *time.Duration { return &c.ProgressTimeout }, time.Millisecond, maxTimeout)},
		{name: "drain_delay", kind: "duration", def: "0s", outside: flagAndEnv, usage: "time load balancers have to notice that the gate is stopping",
			read: aDuration(func(c *draft) *time.Duration { return &c.DrainDelay }, 0, maxTimeout)},
		{name: "shutdown_grace", kind: "duration", def: "30s", outside: flagAndEnv, usage: "time requests have to finish at the end",
			read: aDuration(func(c *draft) *time.Duration { return &c.ShutdownGrace }, 0, maxTimeout)},
		{name: "rooms", kind: "mappings", usage: "the waiting rooms", read: readRooms},
	}
}

// readStore never shows what was written: the address of a store may hold a password.
func readStore(d *decoder, v value, dst *draft) bool {
	s, ok := d.str(v, "memory, or a URL such as redis://host:6379")
	if !ok {
		return false
	}
	if s != "memory" {
		if err := d.checkStore(s); err != nil {
			d.fault(v.Place, "%v", err)
			return false
		}
	}
	dst.Store = s
	return true
}

func (d *decoder) checkStore(url string) error {
	if d.CheckStore == nil {
		return errors.New("the supported store is memory, which keeps the queue in this process and its journal in state_dir")
	}
	return d.CheckStore(url)
}

func readTrustedProxies(d *decoder, v value, dst *draft) bool {
	prefixes, ok := d.prefixes(v)
	if ok {
		dst.TrustedProxies = prefixes
	}
	return ok
}

// readCookieKeys reads keys and has each checked. An empty list is no keys.
func readCookieKeys(d *decoder, v value, dst *draft) bool {
	keys, ok := d.secrets(v, "key", d.checkKey)
	if ok {
		dst.Cookie.Keys = keys
	}
	return ok
}

// checkKey reports what is wrong with a cookie key. An error that repeats the key is not passed on.
func (d *decoder) checkKey(p Place, key string) bool {
	if strings.TrimSpace(key) == "" {
		d.fault(p, "the key is empty")
		return false
	}
	if d.CheckKey == nil {
		return true
	}
	err := d.CheckKey(key)
	switch {
	case err == nil:
		return true
	case strings.Contains(err.Error(), key):
		d.fault(p, "not a cookie key as `anteroom keygen` prints it")
	default:
		d.fault(p, "not a cookie key: %v", err)
	}
	return false
}

func readCertificates(d *decoder, v value, dst *draft) (ok bool) {
	dst.certificates, ok = d.items(v, "mappings with cert and key")
	return ok
}

func readRooms(d *decoder, v value, dst *draft) (ok bool) {
	dst.rooms, ok = d.items(v, "rooms")
	return ok
}

// checkToken wants what fits into an Authorization header.
func checkToken(s string) string {
	for _, r := range s {
		if r <= ' ' || r > '~' {
			return fmt.Sprintf("holds %s: letters, digits and punctuation are allowed", describeRune(r))
		}
	}
	return ""
}

// describeRune says what a character is without repeating one that may belong to a secret.
func describeRune(r rune) string {
	switch {
	case r == ' ', r == '\t', r == '\n', r == '\r':
		return "white space"
	case r > '~':
		return "a character that is not ASCII"
	default:
		return "a control character"
	}
}
