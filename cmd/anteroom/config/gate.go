package config

import (
	"cmp"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/anteroom-gate/anteroom/proxy/listen"
)

const circles = "is the address that this gate listens on: requests would go round in circles"

// checkGate checks what is said outside of rooms as a whole.
func (s *value) checkGate(c *Config) {
	s.token(c)
	if s.either("cookie.keys", "cookie.keys_file") == "cookie.keys_file" {
		c.Cookie.Keys = s.secrets("cookie.keys_file", c.Cookie.KeysFile, forms["key"])
	}
	c.AdminTokenFile, c.Cookie.KeysFile = "", ""
	s.certificates(&c.TLS)
	s.addresses(c)
	everybody := func(p netip.Prefix) bool { return p.Bits() == 0 }
	s.doubt(slices.ContainsFunc(c.TrustedProxies, everybody), "trusted_proxies", "every visitor is believed, whatever address they claim to have")
	s.stateDir(c)
	// A key that one gate made for itself opens no other's tickets.
	s.refuse(s.fine("store", "cookie.keys", "cookie.keys_file") && c.Store != "memory" && len(c.Cookie.Keys) == 0, "store",
		"gates that share a store need the same keys: set cookie.keys or cookie.keys_file")
}

// addresses checks the two addresses and the origin against each other, and the admin API's against its token.
func (s *value) addresses(c *Config) {
	if s.fine("listen", "admin") && listen.Clash(c.Listen, c.Admin) {
		s.fault(s.where("admin", "listen"), "listen and admin cannot share the address: %s and %s", show(c.Listen), show(c.Admin))
	}
	s.refuse(s.fine("admin", "admin_token", "admin_token_file") && !listen.IsLoopback(c.Admin) && c.AdminToken == "", "admin",
		"%s can be reached from other machines: that needs admin_token or admin_token_file", show(c.Admin))
	s.refuse(s.fine("listen", "origin") && listen.Reaches(c.Origin, c.Listen), "origin", circles)
}

// token takes the admin token from where it was given.
func (s *value) token(c *Config) {
	name := cmp.Or(s.either("admin_token", "admin_token_file"), "admin_token")
	if name == "admin_token_file" {
		c.AdminToken = s.get(name).tokenIn(c.AdminTokenFile)
	}
	s.doubt(c.AdminToken != "" && len(c.AdminToken) < 16 && s.fine("admin_token", "admin_token_file"), name,
		"the token is short: with fewer than 16 characters it can be guessed")
}

// tokenIn reads a file that holds a token.
func (v *value) tokenIn(path string) string {
	src, ok := v.read(path)
	token := strings.TrimSpace(string(src))
	switch problem := checkToken(token); {
	case !ok:
	case token == "":
		v.reject("%s is empty", path)
	case problem != "":
		v.reject("the token in %s %s", path, problem)
	default:
		return token
	}
	return ""
}

// secrets reads a file with a secret of a form on each line, for the key that names it; blank lines and those that begin with # are passed
// over.
func (s *value) secrets(name, path string, f form) []string {
	src, ok := s.get(name).read(path)
	var secrets []string
	for i, line := range strings.Split(string(src), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if _, problem := f.check(s.loader, line, fromFile); problem != "" {
			s.fault(Place{Source: path, Line: i + 1, Col: 1, Key: s.pathOf(name)}, "%s", problem)
		}
		secrets = append(secrets, line)
	}
	if ok && len(secrets) == 0 {
		s.get(name).reject("%s holds no %s: expects one on each line", path, strings.TrimPrefix(f.want, "a "))
	}
	return secrets
}

// certificates takes the certificates from the file, or else the one that variables and flags name.
func (s *value) certificates(t *TLS) {
	for i, in := range s.itemsOf("tls.certificates") {
		in.required("cert", "a certificate and its key go together")
		in.required("key", "a certificate and its key go together")
		if in.isGiven("cert") && in.isGiven("key") && in.fine("cert", "key") {
			in.pair(t.Certificates[i])
		}
	}
	switch cert, key := s.get("tls.cert"), s.get("tls.key"); {
	case cert == nil && key == nil:
	case cert == nil:
		s.fault(Place{Source: key.Source}, "goes together with --tls-cert")
	case key == nil:
		s.fault(Place{Source: cert.Source}, "goes together with --tls-key")
	case s.fine("tls.cert", "tls.key"):
		t.Certificates = []Certificate{{Cert: t.Cert, Key: t.Key}}
		cert.pair(t.Certificates[0])
	}
}

// pair says whether a certificate and its key can be read and fit each other.
func (v *value) pair(c Certificate) {
	cert, okCert := v.read(c.Cert)
	key, okKey := v.read(c.Key)
	if !okCert || !okKey {
		return
	}
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		v.reject("%s and %s are not a certificate and its key: %v", c.Cert, c.Key, err)
	}
}

// stateDir chooses the state directory where none is given, as Config.StateDir says.
func (s *value) stateDir(c *Config) {
	if c.StateDir != "" || !s.fine("state_dir", "listen") {
		return
	}
	// systemd lists several directories with colons between them.
	if dir, _, _ := strings.Cut(s.env("STATE_DIRECTORY"), ":"); filepath.IsAbs(dir) {
		c.StateDir = filepath.Clean(dir)
		return
	}
	base := s.env("XDG_STATE_HOME")
	if home := s.env("HOME"); !filepath.IsAbs(base) && filepath.IsAbs(home) {
		base = filepath.Join(home, ".local", "state")
	}
	name, err := s.stateName(c)
	switch {
	case !filepath.IsAbs(base):
		s.fault(s.where("state_dir"), "is required: neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME says where it could be")
	case err != nil:
		s.fault(s.where("state_dir"), "is required: the working directory is not known: %v", err)
	default:
		c.StateDir = filepath.Join(base, "anteroom", name)
	}
}

var notInSlug = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// stateName tells gates of one machine apart: by the address, and by the file or, without one, the origin.
func (s *value) stateName(c *Config) (string, error) {
	of := "origin " + c.Origin
	if s.File != "" {
		file, _ := s.path(s.File, fromFlag)
		abs, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		of = "file " + abs
	}
	sum := sha256.Sum256([]byte(c.Listen + "\n" + of))
	slug := strings.Trim(notInSlug.ReplaceAllString(c.Listen, "-"), "-.")
	return slug + "-" + hex.EncodeToString(sum[:4]), nil
}
