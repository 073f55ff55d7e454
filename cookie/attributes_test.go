package cookie_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
)

func TestValidateNamesEveryFault(t *testing.T) {
	for name, test := range map[string]struct {
		attributes cookie.Attributes
		want       []string
	}{
		"none and never":                 {cookie.Attributes{SameSite: "none", Secure: "never"}, []string{"samesite none needs a Secure cookie"}},
		"unknown words":                  {cookie.Attributes{SameSite: "None", Secure: "yes"}, []string{`samesite "None"`, `secure "yes"`}},
		"a domain with a port":           {cookie.Attributes{Domain: "shop.test:80"}, []string{`domain "shop.test:80"`}},
		"a domain that injects":          {cookie.Attributes{Domain: "a; Path=/x"}, []string{"domain"}},
		"a domain with a dot at its end": {cookie.Attributes{Domain: "shop.test."}, []string{`domain "shop.test."`}},
		"a domain of no name":            {cookie.Attributes{Domain: "."}, []string{"domain"}},
		"an address as a domain":         {cookie.Attributes{Domain: "192.0.2.1"}, []string{"is an address"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.attributes.Validate()
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
			_, jarErr := cookie.NewJar(newCodec(t, cookie.Name("shop")), test.attributes)
			require.ErrorContains(t, jarErr, err.Error())
		})
	}
	for _, sameSite := range []cookie.SameSite{"", "auto", "lax", "strict", "none"} {
		for _, secure := range []cookie.Secure{"", "auto", "always"} {
			assert.NoError(t, cookie.Attributes{SameSite: sameSite, Secure: secure, Domain: ".shop.test"}.Validate())
		}
	}
}

func TestSetCookieForEveryAttributeAndScheme(t *testing.T) {
	const (
		plain = "fairdoor_shop=v; Path=/; Max-Age=86400; HttpOnly"
		host  = "__Host-fairdoor_shop=v; Path=/; Max-Age=86400; HttpOnly; Secure"
	)
	for name, test := range map[string]struct {
		attributes  cookie.Attributes
		http, https string
	}{
		"by default": {
			cookie.Attributes{},
			plain + "; SameSite=Lax", host + "; SameSite=None; Partitioned"},
		"auto is the default": {
			cookie.Attributes{SameSite: "auto", Secure: "auto"},
			plain + "; SameSite=Lax", host + "; SameSite=None; Partitioned"},
		"lax": {
			cookie.Attributes{SameSite: "lax"},
			plain + "; SameSite=Lax", host + "; SameSite=Lax"},
		"strict": {
			cookie.Attributes{SameSite: "strict"},
			plain + "; SameSite=Strict", host + "; SameSite=Strict"},
		"none is Lax where it would be refused": {
			cookie.Attributes{SameSite: "none"},
			plain + "; SameSite=Lax", host + "; SameSite=None; Partitioned"},
		"none and always": {
			cookie.Attributes{SameSite: "none", Secure: "always"},
			host + "; SameSite=None; Partitioned", host + "; SameSite=None; Partitioned"},
		"always": {
			cookie.Attributes{Secure: "always"},
			host + "; SameSite=Lax", host + "; SameSite=None; Partitioned"},
		"never is Lax over https too": {
			cookie.Attributes{Secure: "never"},
			plain + "; SameSite=Lax", plain + "; SameSite=Lax"},
		"a domain takes the prefix away": {
			cookie.Attributes{Domain: ".shop.test"},
			"fairdoor_shop=v; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax; Domain=shop.test",
			"fairdoor_shop=v; Path=/; Max-Age=86400; HttpOnly; Secure; SameSite=None; Partitioned; Domain=shop.test"},
	} {
		t.Run(name, func(t *testing.T) {
			jar := newJar(t, newCodec(t, cookie.Name("shop")), test.attributes)
			for https, want := range map[bool]string{false: test.http, true: test.https} {
				got := jar.SetCookie("v", https)
				assert.Equal(t, want, got)
				checkHeader(t, jar, got, https)
			}
		})
	}
}

func TestADomainMayHaveAnUnderscore(t *testing.T) {
	jar := newJar(t, newCodec(t, cookie.Name("shop")), cookie.Attributes{Domain: "my_shop.test"})
	const want = "; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax; Domain=my_shop.test"
	assert.Equal(t, "fairdoor_shop=v"+fmt.Sprintf(want, 86400), jar.SetCookie("v", false))
	assert.Equal(t, "fairdoor_shop="+fmt.Sprintf(want, 0), jar.DeleteCookie(false))
}

// checkHeader holds a Set-Cookie header against what net/http makes of it and
// against the one that deletes.
func checkHeader(t *testing.T, jar *cookie.Jar, header string, https bool) {
	t.Helper()
	set, err := http.ParseSetCookie(header)
	require.NoError(t, err)
	require.NoError(t, set.Valid())
	assert.Empty(t, set.Unparsed)
	assert.Equal(t, jar.Name(https), set.Name)
	if set.SameSite == http.SameSiteNoneMode {
		assert.True(t, set.Secure)
		assert.True(t, set.Partitioned)
	}

	deleting, err := http.ParseSetCookie(jar.DeleteCookie(https))
	require.NoError(t, err)
	assert.Empty(t, deleting.Value)
	assert.Equal(t, -1, deleting.MaxAge) // what net/http makes of Max-Age=0
	deleting.Value, deleting.MaxAge, deleting.Raw = set.Value, set.MaxAge, set.Raw
	assert.Equal(t, set, deleting)
}

func TestACookieBesideTheTicketHasItsAttributes(t *testing.T) {
	for _, https := range []bool{false, true} {
		for _, attributes := range []cookie.Attributes{{}, {SameSite: "strict"}, {Domain: "my_shop.test", MaxAge: time.Hour}} {
			jar := newJar(t, newCodec(t, cookie.Name("shop")), attributes)
			attributes.MaxAge = 30 * time.Second
			likeIt := newJar(t, newCodec(t, cookie.Name("shop")), attributes)
			assert.Equal(t, likeIt.SetCookie("v", https), attributes.SetCookie(cookie.Name("shop"), "v", 30*time.Second, https))
			assert.Equal(t, jar.DeleteCookie(https), attributes.SetCookie(cookie.Name("shop"), "", 0, https))
		}
	}
}
