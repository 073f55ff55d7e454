package config

import (
	"cmp"
	"crypto"
	"slices"

	"github.com/anteroom-gate/anteroom/proxy/subject"
)

// subject settles how the room's visitors are named.
func (s *section) subject(root *section, c *Config, named *Subject) {
	const header, cookie = "subject.token.header", "subject.token.cookie"
	const keys, file, public = "subject.token.keys", "subject.token.keys_file", "subject.token.public_keys_file"
	t := &named.Token
	if named.Header != "" && root.fine("trusted_proxies") && len(c.TrustedProxies) == 0 {
		s.warn(s.where("subject.header"), "is believed from trusted_proxies only, and there are none")
	}
	place := cmp.Or(s.either(header, cookie), header)
	if place == cookie {
		t.Header = ""
	} else {
		t.Cookie = ""
	}
	given := slices.DeleteFunc([]string{keys, file, public}, func(name string) bool { return s.from(name) == 0 })
	switch s.either(s.either(keys, file), public) {
	case public:
		t.Secrets, t.PublicKeys = nil, s.publicKeys(s.value(public), t.PublicKeysFile)
	case file:
		t.Secrets = s.secrets(file, t.KeysFile, forms["secret"])
	}
	t.KeysFile, t.PublicKeysFile = "", ""
	switch placed := t.Header != "" || t.Cookie != ""; {
	case placed && len(given) == 0 && s.fine(keys, file, public):
		s.fault(s.where(place), "a token needs a key: set subject.token.keys, keys_file or public_keys_file")
	case !placed && len(given) > 0 && s.fine(header, cookie):
		s.fault(s.where(given[0]), "there is no token: set subject.token.header or subject.token.cookie")
	}
}

// publicKeys reads a PEM file of public keys.
func (d *loader) publicKeys(v *value, path string) []crypto.PublicKey {
	src, ok := d.read(v, path)
	if !ok {
		return nil
	}
	keys, err := subject.ParsePublicKeys(src)
	switch {
	case err != nil:
		d.wrong(v, "%s: %v", path, err)
	case len(keys) == 0:
		d.wrong(v, "%s holds no key: expects PEM blocks with PUBLIC KEY", path)
	}
	return keys
}
