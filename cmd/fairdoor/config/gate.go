package config

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"net"
	"net/netip"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/listen"
)

// checkGate checks what is said outside of rooms as a whole.
func (v *value) checkGate(c *Config) {
	v.readFiles(topKey, reflect.ValueOf(c).Elem(), "")
	v.token(c)
	v.certificates(&c.TLS)
	v.acme(c)
	v.addresses(c)
	v.operators(c)
	v.trusted(c)
	v.stateDir(c)
	// A key that one gate made for itself opens no other's tickets.
	v.refuse(v.valid("store", "cookie.keys", "cookie.keys_file") && c.Store != "memory" && len(c.Cookie.Keys) == 0, "store",
		"gates that share a store need the same keys: set cookie.keys or cookie.keys_file")
}

// addresses checks the two addresses and the origin against each other, and the admin API's against
// its token.
func (v *value) addresses(c *Config) {
	if v.valid("listen", "admin") && listen.Clash(c.Listen, c.Admin) {
		v.fault(v.where("admin", "listen"), "listen and admin cannot share the address: %s and %s", show(c.Listen), show(c.Admin))
	}
	v.refuse(v.valid("admin", "admin_token", "admin_token_file", "operators", "operators_file") && !listen.IsLoopback(c.Admin) && c.AdminToken == "" && len(c.Operators) == 0, "admin",
		"%s can be reached from other machines: that needs admin_token, admin_token_file or operators_file", show(c.Admin))
	v.refuse(v.valid("h2c") && c.H2C && c.TLS.Enabled(), "h2c", "is HTTP/2 without TLS, and with tls visitors have HTTP/2 without it")
	v.severalOrigins(&c.Origin, c.Origins)
	v.circle(v, c.Origin, c.Origins, c.Listen)
}

// operators checks that no two operators have one name or one token.
func (v *value) operators(c *Config) {
	names, tokens := map[string]bool{}, map[string]bool{c.AdminToken: true}
	for _, line := range c.Operators {
		o, err := admin.ParseOperator(line)
		v.refuse(err == nil && names[o.Name], "operators", "%s is listed twice", show(o.Name))
		v.refuse(err == nil && tokens[o.Token], "operators", "%s has the token of somebody else", show(o.Name))
		names[o.Name], tokens[o.Token] = true, true
	}
}

// severalOrigins takes the origins from where they were given: the key for one, or that for
// several, whose first is then the one.
func (v *value) severalOrigins(one *string, several []string) {
	if v.either("origin", "origins") == "origins" {
		*one = several[0]
	}
}

// circle checks the origins of the gate or of a room against the address of the gate.
func (v *value) circle(root *value, one string, several []string, address string) {
	const problem = "is the address that this gate listens on: requests would go round in circles"
	reaches := func(origin string) bool { return root.valid("listen") && listen.Reaches(origin, address) }
	v.refuse(v.valid("origin") && v.isGiven("origin") && reaches(one), "origin", problem)
	v.refuse(v.valid("origins") && slices.ContainsFunc(several, reaches), "origins", problem)
}

// trusted takes the trusted proxies from where they were given.
func (v *value) trusted(c *Config) {
	path := c.TrustedProxiesFile
	c.TrustedProxies = v.networks("trusted_proxies", c.TrustedProxies, &c.TrustedProxiesFile)
	from := "trusted_proxies"
	if v.layerOf("trusted_proxies_file") > v.layerOf(from) {
		from, c.TrustedProxiesFile = "trusted_proxies_file", path
	}
	everybody := func(p netip.Prefix) bool { return p.Bits() == 0 }
	v.doubt(slices.ContainsFunc(c.TrustedProxies, everybody), from, "every visitor is believed, whatever address they claim to have")
}

// token checks how long the admin token is.
func (v *value) token(c *Config) {
	name := "admin_token"
	if v.layerOf("admin_token_file") > v.layerOf(name) {
		name = "admin_token_file"
	}
	v.doubt(c.AdminToken != "" && len(c.AdminToken) < 16 && v.valid("admin_token", "admin_token_file"), name,
		"the token is short: with fewer than 16 characters it can be guessed")
}

// readFiles reads the files that keys of a mapping name in the place of another key's value, as the
// tag into says, and of the mappings in it. What a key is called here begins with prefix.
func (v *value) readFiles(of *Key, s reflect.Value, prefix string) {
	for _, k := range of.inner {
		name := prefix + k.Field.Name
		switch into := of.child(k.Tag.Get("into")); {
		case k.inner != nil:
			v.readFiles(k, k.Of(s), name+".")
		case into != nil:
			path := k.Of(s)
			if v.either(prefix+into.Field.Name, name) == name {
				into.Of(s).Set(v.valueIn(name, path.String(), into))
			}
			path.SetString("")
		}
	}
}

// valueIn is what the file that a key names has for another key: a text, or one on each line for a
// list.
func (v *value) valueIn(name, path string, into *Key) reflect.Value {
	if into.item != nil {
		return reflect.ValueOf(v.listIn(name, path, into.item.form))
	}
	from := v.get(name)
	src, ok := from.read(path)
	text := strings.TrimRight(string(src), "\r\n")
	if into.Tag.Get("is") != "password" { // which may end with a space
		text = strings.TrimSpace(text)
	}
	switch text, problem := into.form.check(v.loader, text, fromFile); {
	case !ok:
	case text == "":
		from.reject("%s is empty", path)
	case problem == "":
		return reflect.ValueOf(text)
	case into.form.sentence:
		from.reject("%s: %s", path, problem)
	default:
		from.reject("the %s in %s %s", into.Tag.Get("is"), path, problem)
	}
	return reflect.ValueOf("")
}

// networks takes networks from where they were given: a key, or the one that names a file of them.
func (v *value) networks(name string, listed []netip.Prefix, file *string) []netip.Prefix {
	path := *file
	*file = ""
	if v.either(name, name+"_file") != name+"_file" {
		return listed
	}
	if !slices.Contains(v.networkFiles, path) {
		v.networkFiles = append(v.networkFiles, path)
	}
	var networks []netip.Prefix
	for _, text := range v.listIn(name+"_file", path, forms["line"]) {
		if network, err := netip.ParsePrefix(text); err == nil {
			networks = append(networks, network)
		}
	}
	return networks
}

// listIn reads a file with a text of a form on each line, for the key that names it; blank lines
// and those that begin with # are passed over. What is wrong is in the list, too.
func (v *value) listIn(name, path string, f form) []string {
	src, ok := v.get(name).read(path)
	if len(src) > maxFile {
		v.get(name).reject("%s is larger than 1 MiB", path)
		return nil
	}
	var texts []string
	for i, line := range strings.Split(string(src), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		text, problem := f.check(v.loader, line, fromFile)
		if problem != "" && !f.sentence {
			problem = show(line) + " " + problem
		}
		if problem != "" {
			v.fault(Position{Source: path, Line: i + 1, Col: 1, Key: v.pathOf(name)}, "%s", problem)
		}
		texts = append(texts, text)
	}
	if ok && len(texts) == 0 {
		v.get(name).reject("%s holds no %s: expects one on each line", path, strings.TrimPrefix(f.want, "a "))
	}
	return texts
}

// certificates checks the certificates of the file, which make way for the one that variables and
// flags name.
func (v *value) certificates(t *TLS) {
	for i, in := range v.itemsOf("tls.certificates") {
		in.required("cert", "a certificate and its key go together")
		in.required("key", "a certificate and its key go together")
		if in.isGiven("cert") && in.isGiven("key") && in.valid("cert", "key") {
			in.pair(t.Certificates[i])
		}
	}
	v.certificate(t)
}

// certificate takes the certificate that variables and flags name.
func (v *value) certificate(t *TLS) {
	switch cert, key := v.get("tls.cert"), v.get("tls.key"); {
	case cert == nil && key == nil:
	case cert == nil:
		v.fault(Position{Source: key.Source}, "goes together with --tls-cert")
	case key == nil:
		v.fault(Position{Source: cert.Source}, "goes together with --tls-key")
	case v.valid("tls.cert", "tls.key"):
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

// acme checks how certificates come from an authority, and what goes with TLS.
func (v *value) acme(c *Config) {
	const domains, agree, storage, roots, redirect = "tls.acme.domains", "tls.acme.agree", "tls.acme.storage", "tls.acme.roots_file", "tls.redirect"
	a := &c.TLS.ACME
	wanted := v.valid(domains) && len(a.Domains) > 0
	v.refuse(wanted && v.valid(agree) && !a.Agree, domains, "needs tls.acme.agree: true says that you agree to the terms of the certificate authority")
	v.refuse(wanted && v.valid("store", storage) && c.Store != "memory" && a.Storage == "", domains,
		"needs tls.acme.storage: gates that share a store need a directory for certificates that they share, too: each of them may be asked by the certificate authority")
	if v.layerOf(roots) > 0 {
		if src, ok := v.get(roots).read(a.RootsFile); ok {
			a.Roots = src
			if !x509.NewCertPool().AppendCertsFromPEM(src) {
				v.get(roots).reject("%s holds no certificate: expects them in PEM", a.RootsFile)
			}
		}
	}
	if v.layerOf(redirect) == 0 {
		return
	}
	v.refuse(v.valid(domains, "tls.certificates", "tls.cert", "tls.key") && !c.TLS.Enabled(), redirect, "redirects to https, and there is neither tls.certificates nor tls.acme.domains")
	for name, address := range map[string]string{"listen": c.Listen, "admin": c.Admin} {
		v.refuse(v.valid(name) && listen.Clash(address, c.TLS.Redirect), redirect, "cannot share the address of %s: %s and %s", name, show(address), show(c.TLS.Redirect))
	}
	// The authority's questions by plain HTTP are looked for at the host of listen.
	host, _, _ := net.SplitHostPort(c.Listen)
	_, port, _ := net.SplitHostPort(c.TLS.Redirect)
	v.refuse(wanted && v.valid("listen") && port != "0" && !listen.Clash(net.JoinHostPort(host, port), c.TLS.Redirect), redirect,
		"needs the host of listen where certificates come by tls.acme: %s and %s", show(c.Listen), show(c.TLS.Redirect))
}

// stateDir chooses the state directory where none is given, as Config.StateDir says.
func (v *value) stateDir(c *Config) {
	if c.StateDir != "" || !v.valid("state_dir", "listen") {
		return
	}
	// systemd lists several directories with colons between them.
	if dir, _, _ := strings.Cut(v.env("STATE_DIRECTORY"), ":"); filepath.IsAbs(dir) {
		c.StateDir = filepath.Clean(dir)
		return
	}
	base := v.env("XDG_STATE_HOME")
	if home := v.env("HOME"); !filepath.IsAbs(base) && filepath.IsAbs(home) {
		base = filepath.Join(home, ".local", "state")
	}
	name, err := v.stateName(c)
	switch {
	case !filepath.IsAbs(base):
		v.fault(v.where("state_dir"), "is required: neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME says where it could be")
	case err != nil:
		v.fault(v.where("state_dir"), "is required: the working directory is not known: %v", err)
	default:
		c.StateDir = filepath.Join(base, "fairdoor", name)
	}
}

var notInSlug = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// stateName tells gates of one machine apart: by the address, and by the file or, without one, the
// origin.
func (v *value) stateName(c *Config) (string, error) {
	of := "origin " + c.Origin
	if v.File != "" {
		file, _ := v.path(v.File, fromFlag)
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
