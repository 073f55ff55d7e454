package config

import (
	"cmp"
	"crypto"
	"slices"

	"github.com/fairdoor-gate/fairdoor/proxy/subject"
)

const (
	tokenHeader, tokenCookie              = "subject.token.header", "subject.token.cookie"
	tokenKeys, tokenKeysFile, tokenPublic = "subject.token.keys", "subject.token.keys_file", "subject.token.public_keys_file"
	tokenJWKS                             = "subject.token.jwks_url"
)

// subject settles how the room's visitors are named.
func (v *value) subject(root *value, c *Config, named *Subject) {
	t := &named.Token
	v.doubt(named.Header != "" && root.valid("trusted_proxies", "trusted_proxies_file") && len(c.TrustedProxies) == 0, "subject.header",
		"is believed from trusted_proxies only, and there are none")
	v.doubt(named.Label.Header != "" && root.valid("trusted_proxies", "trusted_proxies_file") && len(c.TrustedProxies) == 0, "subject.label.header",
		"is believed from trusted_proxies only, and there are none")
	place := cmp.Or(v.either(tokenHeader, tokenCookie), tokenHeader)
	if place == tokenCookie {
		t.Header = ""
	} else {
		t.Cookie = ""
	}
	keys := slices.DeleteFunc([]string{tokenKeys, tokenKeysFile, tokenPublic, tokenJWKS}, func(name string) bool { return v.layerOf(name) == 0 })
	v.tokenKeys(t)
	v.refuse(named.Label.Claim != "" && t.Header == "" && t.Cookie == "", "subject.label.claim",
		"there is no token with claims: set subject.token.header or subject.token.cookie")
	switch placed := t.Header != "" || t.Cookie != ""; {
	case placed && len(keys) == 0:
		v.refuse(v.valid(tokenKeys, tokenKeysFile, tokenPublic, tokenJWKS), place,
			"a token needs a key: set subject.token.keys, keys_file, public_keys_file or jwks_url")
	case !placed && len(keys) > 0:
		v.refuse(v.valid(tokenHeader, tokenCookie), keys[0], "there is no token: set subject.token.header or subject.token.cookie")
	}
}

// tokenKeys takes the keys of tokens from where they were given: secrets, a file of them, or a file
// of public keys.
func (v *value) tokenKeys(t *Token) {
	switch v.either(v.either(tokenKeys, tokenKeysFile), tokenPublic) {
	case tokenPublic:
		t.Secrets, t.PublicKeys = nil, v.get(tokenPublic).publicKeys(t.PublicKeysFile)
	case tokenKeysFile:
		t.Secrets = v.listIn(tokenKeysFile, t.KeysFile, forms["secret"])
	}
	t.KeysFile, t.PublicKeysFile = "", ""
}

// publicKeys reads a PEM file of public keys.
func (v *value) publicKeys(path string) []crypto.PublicKey {
	src, ok := v.read(path)
	if !ok {
		return nil
	}
	keys, err := subject.ParsePublicKeys(src)
	switch {
	case err != nil:
		v.reject("%s: %v", path, err)
	case len(keys) == 0:
		v.reject("%s holds no key: expects PEM blocks with PUBLIC KEY", path)
	}
	return keys
}
