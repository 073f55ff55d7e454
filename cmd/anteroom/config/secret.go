package config

import (
	"crypto"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/anteroom-gate/anteroom/proxy/subject"
)

// read reads a file; problem is "" or why it cannot be read.
func (d *loader) read(path string) (src []byte, problem string) {
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
func (s *section) either(a, b string, hasA, hasB bool) (useA, useB bool) {
	switch layerA, layerB := s.from(a), s.from(b); {
	case !hasA || !hasB:
		return hasA, hasB
	case layerA > layerB:
		return true, false
	case layerB > layerA:
		return false, true
	default:
		s.fault(s.where(b), "there is %s as well: give one of them", a)
		return false, false
	}
}

// token takes the admin token from where it was given.
func (s *section) token(c *Config) {
	name := "admin_token"
	_, inFile := s.either(name, "admin_token_file", c.AdminToken != "", c.AdminTokenFile != "")
	if inFile {
		name = "admin_token_file"
		c.AdminToken = s.readToken(s.where(name), c.AdminTokenFile)
		s.at(s.given[name]).wrong = c.AdminToken == ""
	}
	if n := len(c.AdminToken); n > 0 && n < 16 && s.fine("admin_token", "admin_token_file") {
		s.warn(s.where(name), "the token is short: with fewer than 16 characters it can be guessed")
	}
}

func (d *loader) readToken(p Place, path string) string {
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

// secretsOf reads a file with a secret on each line, for the key that names it; blank lines and those that begin with # are passed over.
// What secrets have to be is said beside the other key for them, which is called the same but for _file.
func (s *section) secretsOf(name, path string) []string {
	p := s.where(name)
	src, problem := s.read(path)
	if problem != "" {
		s.fault(p, "%s", problem)
		return nil
	}
	one := forms["secret"]
	if name == "cookie.keys_file" {
		one = forms["key"]
	}
	var secrets []string
	for i, line := range strings.Split(string(src), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if _, problem := one.check(s.loader, line, fromFile); problem != "" {
			s.fault(Place{Source: path, Line: i + 1, Col: 1, Key: p.Key}, "%s", problem)
		}
		secrets = append(secrets, line)
	}
	if len(secrets) == 0 {
		s.fault(p, "%s holds no %s: expects one on each line", path, strings.TrimPrefix(one.want, "a "))
	}
	return secrets
}

// certificates takes the certificates from the file, or else the one that variables and flags name.
func (s *section) certificates(t *TLS) {
	for i, in := range s.sections("tls.certificates") {
		c := t.Certificates[i]
		in.required("cert", "a certificate and its key go together")
		in.required("key", "a certificate and its key go together")
		if in.isGiven("cert") && in.isGiven("key") && in.fine("cert", "key") {
			s.pair(s.at(in.place).Place, c)
		}
	}
	if !s.isGiven("tls.cert") && !s.isGiven("tls.key") {
		return
	}
	for _, names := range [][2]string{{"tls.cert", "tls.key"}, {"tls.key", "tls.cert"}} {
		if !s.isGiven(names[0]) {
			s.fault(Place{Source: s.where(names[1]).Source}, "goes together with --%s", flagName(names[0]))
			return
		}
	}
	if s.fine("tls.cert", "tls.key") {
		c := Certificate{Cert: t.Cert, Key: t.Key}
		s.pair(s.where("tls.cert"), c)
		t.Certificates = []Certificate{c}
	}
}

// pair says whether a certificate and its key can be read and fit each other.
func (s *section) pair(p Place, c Certificate) {
	cert, problem := s.read(c.Cert)
	key, problemOfKey := s.read(c.Key)
	for _, what := range []string{problem, problemOfKey} {
		if what != "" {
			s.fault(p, "%s", what)
		}
	}
	if problem != "" || problemOfKey != "" {
		return
	}
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		s.fault(p, "%s and %s are not a certificate and its key: %v", c.Cert, c.Key, err)
	}
}

// subject settles how the room's visitors are named.
func (s *section) subject(root *section, c *Config, named *Subject) {
	const token = "subject.token."
	t := &named.Token
	if named.Header != "" && root.fine("trusted_proxies") && len(c.TrustedProxies) == 0 {
		s.warn(s.where("subject.header"), "is believed from trusted_proxies only, and there are none")
	}
	place := token + "header"
	if _, cookie := s.either(place, token+"cookie", t.Header != "", t.Cookie != ""); cookie {
		t.Header, place = "", token+"cookie"
	} else {
		t.Cookie = ""
	}
	keyed := t.KeysFile != "" || t.PublicKeysFile != "" || len(t.Secrets) > 0
	s.tokenKeys(t)
	switch placed := t.Header != "" || t.Cookie != ""; {
	case placed && !keyed && s.fine(token+"keys", token+"keys_file", token+"public_keys_file"):
		s.fault(s.where(place), "a token needs a key: set subject.token.keys, keys_file or public_keys_file")
	case !placed && keyed && s.fine(token+"header", token+"cookie"):
		for _, name := range []string{"keys", "keys_file", "public_keys_file"} {
			if s.isGiven(token + name) {
				s.fault(s.where(token+name), "there is no token: set subject.token.header or subject.token.cookie")
				break
			}
		}
	}
}

// tokenKeys takes the keys of tokens from where they were given: secrets, a file of them, or a file of public keys.
func (s *section) tokenKeys(t *Token) {
	const keys, file, public = "subject.token.keys", "subject.token.keys_file", "subject.token.public_keys_file"
	written, inFile := s.either(keys, file, len(t.Secrets) > 0, t.KeysFile != "")
	first := keys
	if inFile {
		first = file
	}
	secret, asymmetric := s.either(first, public, written || inFile, t.PublicKeysFile != "")
	switch {
	case asymmetric:
		t.Secrets, t.PublicKeys = nil, s.publicKeys(s.where(public), t.PublicKeysFile)
	case secret && inFile:
		t.Secrets = s.secretsOf(file, t.KeysFile)
	}
	t.KeysFile, t.PublicKeysFile = "", ""
}

// publicKeys reads a PEM file of public keys.
func (s *section) publicKeys(p Place, path string) []crypto.PublicKey {
	src, problem := s.read(path)
	if problem != "" {
		s.fault(p, "%s", problem)
		return nil
	}
	keys, err := subject.ParsePublicKeys(src)
	switch {
	case err != nil:
		s.fault(p, "%s: %v", path, err)
	case len(keys) == 0:
		s.fault(p, "%s holds no key: expects PEM blocks with PUBLIC KEY", path)
	}
	return keys
}
