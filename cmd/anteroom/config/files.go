package config

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// resolvePath makes a path of the configuration file relative to that file, and any other to the working directory. "" stays.
func (d *decoder) resolvePath(p string, from layer) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	if from == fromFile {
		p = filepath.Join(filepath.Dir(d.File), p)
	}
	if !filepath.IsAbs(p) && d.WorkDir != "" {
		p = filepath.Join(d.WorkDir, p)
	}
	return filepath.Clean(p)
}

// read reads a file; problem is "" or why it cannot be read.
func (d *decoder) read(path string) (src []byte, problem string) {
	readFile := d.ReadFile
	if readFile == nil {
		readFile = readSome
	}
	src, err := readFile(path)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return nil, fmt.Sprintf("cannot read %s: %v", path, err)
	}
	return src, ""
}

// readSome reads a file, but no more than what tells that it is too large.
func readSome(path string) (src []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// either settles two keys that say the same in two ways: the one from the higher layer counts. In one layer there can be only one.
func (s *scope[T]) either(a, b string, hasA, hasB bool) (useA, useB bool) {
	switch layerA, layerB := s.got[a].from, s.got[b].from; {
	case !hasA || !hasB:
		return hasA, hasB
	case layerA > layerB:
		return true, false
	case layerB > layerA:
		return false, true
	default:
		s.fault(s.place(b), "there is %s as well: give one of them", a)
		return false, false
	}
}

// settleToken takes the admin token from where it was given.
func settleToken(root *scope[draft]) {
	c := root.dst
	_, fromFile := root.either("admin_token", "admin_token_file", c.AdminToken != "", c.tokenFile != "")
	if fromFile {
		c.AdminToken = root.readToken(root.place("admin_token_file"), c.tokenFile)
		root.good["admin_token_file"] = c.AdminToken != ""
	}
	if n := len(c.AdminToken); n > 0 && n < 16 && root.fine("admin_token", "admin_token_file") {
		name := "admin_token"
		if fromFile {
			name = "admin_token_file"
		}
		root.warn(root.place(name), "the token is short: with fewer than 16 characters it can be guessed")
	}
}

func (d *decoder) readToken(p Place, path string) string {
	src, problem := d.read(path)
	token := strings.TrimSpace(string(src))
	switch {
	case problem != "":
	case token == "":
		problem = path + " is empty"
	case checkToken(token) != "":
		problem = "the token in " + path + " " + checkToken(token)
	default:
		return token
	}
	d.fault(p, "%s", problem)
	return ""
}

// settleCookieKeys takes the cookie keys from where they were given.
func settleCookieKeys(root *scope[draft]) {
	c := root.dst
	if _, fromFile := root.either("cookie.keys", "cookie.keys_file", len(c.Cookie.Keys) > 0, c.keysFile != ""); fromFile {
		c.Cookie.Keys = root.readSecrets(root.place("cookie.keys_file"), c.keysFile, "key", root.checkKey)
	}
}

// readSecrets reads a file with a secret on each line, all of which are checked; blank lines and those that begin with # are
// passed over. The secrets are what the text calls them: keys, say.
func (d *decoder) readSecrets(p Place, path, what string, check func(Place, string) bool) []string {
	src, problem := d.read(path)
	if problem != "" {
		d.fault(p, "%s", problem)
		return nil
	}
	var secrets []string
	for i, line := range strings.Split(string(src), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		check(Place{Source: path, Line: i + 1, Col: 1, Key: p.Key}, line)
		secrets = append(secrets, line)
	}
	if len(secrets) == 0 {
		d.fault(p, "%s holds no %s: expects one on each line", path, what)
	}
	return secrets
}

// secrets reads a list of secrets, all of which are checked.
func (d *decoder) secrets(v value, what string, check func(Place, string) bool) (secrets []string, ok bool) {
	items, ok := d.items(v, what+"s")
	for _, item := range items {
		s, fine := d.str(item, "a "+what)
		if fine {
			fine = check(item.Place, s)
		}
		secrets, ok = append(secrets, s), ok && fine
	}
	return secrets, ok
}

func certificateKeys() []key[Certificate] {
	return []key[Certificate]{
		{name: "cert", read: aPath(func(c *Certificate) *string { return &c.Cert }, "the path of a file")},
		{name: "key", read: aPath(func(c *Certificate) *string { return &c.Key }, "the path of a file")},
	}
}

// settleCertificates takes the certificates from the file, or else the one that variables and flags name.
func settleCertificates(root *scope[draft]) {
	for _, v := range root.dst.certificates {
		var c Certificate
		s, ok := element(root.decoder, certificateKeys(), v, &c, "a mapping with cert and key")
		if !ok {
			continue
		}
		for _, name := range []string{"cert", "key"} {
			if !s.given(name) {
				s.fault(s.place(name), "is required: a certificate and its key go together")
			}
		}
		if s.given("cert") && s.given("key") && s.fine("cert", "key") {
			root.checkPair(v.Place, c)
		}
		root.dst.TLS.Certificates = append(root.dst.TLS.Certificates, c)
	}
	if !root.given("tls.cert") && !root.given("tls.key") {
		return
	}
	for _, names := range [][2]string{{"tls.cert", "tls.key"}, {"tls.key", "tls.cert"}} {
		if !root.given(names[0]) {
			root.fault(Place{Source: root.got[names[1]].Source}, "goes together with --%s", flagName(names[0]))
			return
		}
	}
	if root.fine("tls.cert", "tls.key") {
		c := Certificate{Cert: root.dst.cert, Key: root.dst.certKey}
		root.checkPair(root.place("tls.cert"), c)
		root.dst.TLS.Certificates = []Certificate{c}
	}
}

// checkPair says whether a certificate and its key can be read and fit each other.
func (d *decoder) checkPair(p Place, c Certificate) {
	cert, problem := d.read(c.Cert)
	key, problemOfKey := d.read(c.Key)
	for _, what := range []string{problem, problemOfKey} {
		if what != "" {
			d.fault(p, "%s", what)
		}
	}
	if problem != "" || problemOfKey != "" {
		return
	}
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		d.fault(p, "%s and %s are not a certificate and its key: %v", c.Cert, c.Key, err)
	}
}
