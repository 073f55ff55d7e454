package cookie_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
)

func TestNewJarNeedsACodec(t *testing.T) {
	_, err := cookie.NewJar(nil, cookie.Attributes{})
	require.Error(t, err)
}

func TestWhatIsSetIsReadAgain(t *testing.T) {
	jar := newJar(t, newCodec(t, cookie.Name("shop")), cookie.Attributes{})
	for _, https := range []bool{false, true} {
		header, err := jar.Seal(payload36, https)
		require.NoError(t, err)
		set, err := http.ParseSetCookie(header)
		require.NoError(t, err)

		ticket, err := jar.Read(withCookies("a=b; " + set.Name + "=" + set.Value + "; c=d"))
		require.NoError(t, err)
		assertTicket(t, cookie.Ticket{Payload: payload36, Name: jar.Name(https)}, ticket)
	}
	_, err := jar.Seal(nil, true)
	require.Error(t, err)
}

func TestReadFindsTheTicket(t *testing.T) {
	oldKey, key := newKey(t), newKey(t)
	codec := newCodec(t, cookie.Name("shop"), key, oldKey)
	jar := newJar(t, codec, cookie.Attributes{})
	a, b := seal(t, codec, "a"), seal(t, codec, "b")
	old := seal(t, newCodec(t, cookie.Name("shop"), oldKey), "old")
	show := seal(t, newCodec(t, cookie.Name("show"), key), "show")
	forged := b[:len(b)-4] + "AAA="
	const plain, host = "fairdoor_shop", "__Host-fairdoor_shop"

	for name, test := range map[string]struct {
		lines []string
		want  cookie.Ticket
	}{
		"no cookie at all":     {nil, cookie.Ticket{}},
		"an empty header":      {[]string{""}, cookie.Ticket{}},
		"only others' cookies": {[]string{"a=b; c"}, cookie.Ticket{}},
		"by its plain name":    {[]string{"fairdoor_shop=" + a}, cookie.Ticket{Payload: []byte("a"), Name: plain}},
		"by its __Host- name":  {[]string{"x=y; __Host-fairdoor_shop=" + a}, cookie.Ticket{Payload: []byte("a"), Name: host}},
		"without spaces":       {[]string{"x=y;fairdoor_shop=" + a + ";z=1"}, cookie.Ticket{Payload: []byte("a"), Name: plain}},
		"among tabs":           {[]string{"x=y;\tfairdoor_shop=" + a + "\t;z=1"}, cookie.Ticket{Payload: []byte("a"), Name: plain}},
		"between quotes":       {[]string{`fairdoor_shop="` + a + `"`}, cookie.Ticket{Payload: []byte("a"), Name: plain}},
		"on a second line":     {[]string{"x=y", "fairdoor_shop=" + a}, cookie.Ticket{Payload: []byte("a"), Name: plain}},
		"sealed by an old key": {[]string{"fairdoor_shop=" + old}, cookie.Ticket{Payload: []byte("old"), Key: 1, Name: plain}},
		"the first of two that open": {
			[]string{"fairdoor_shop=" + a + "; fairdoor_shop=" + b}, cookie.Ticket{Payload: []byte("a"), Name: plain}},
		"behind one that was tossed in": {
			[]string{"fairdoor_shop=evil; fairdoor_shop=" + b}, cookie.Ticket{Payload: []byte("b"), Name: plain}},
		"the one no other host can set before the first": {
			[]string{"fairdoor_shop=" + a + "; __Host-fairdoor_shop=" + b}, cookie.Ticket{Payload: []byte("b"), Name: host}},
		"the one no other host can set, however many are tossed in": {
			[]string{strings.Repeat("fairdoor_shop=evil; ", 9) + "__Host-fairdoor_shop=" + b}, cookie.Ticket{Payload: []byte("b"), Name: host}},
		"behind as many as there is space for": {
			[]string{strings.Repeat("fairdoor_shop="+forged+"; ", 140) + "fairdoor_shop=" + b}, cookie.Ticket{Payload: []byte("b"), Name: plain}},
		"behind as many of both names, on two lines": {
			[]string{strings.Repeat("__Host-fairdoor_shop="+forged+"; ", 70), strings.Repeat("fairdoor_shop="+forged+"; ", 60) + "fairdoor_shop=" + b},
			cookie.Ticket{Payload: []byte("b"), Name: plain}},
		"behind a thousand that are too short": {
			[]string{strings.Repeat("fairdoor_shop=; ", 1000) + "fairdoor_shop=" + b}, cookie.Ticket{Payload: []byte("b"), Name: plain}},
		"beside those of other rooms": {
			[]string{"fairdoor_show=" + show + "; fairdoor_shop2=" + b + "; fairdoor_shop=" + a}, cookie.Ticket{Payload: []byte("a"), Name: plain}},
		"not that of another room":        {[]string{"fairdoor_shop=" + show}, cookie.Ticket{}},
		"not by a longer name":            {[]string{"xfairdoor_shop=" + a + "; fairdoor_shop_=" + a}, cookie.Ticket{}},
		"not inside another's value":      {[]string{"x=fairdoor_shop=" + a}, cookie.Ticket{}},
		"not by another prefix":           {[]string{"__Secure-fairdoor_shop=" + a + "; x__Host-fairdoor_shop=" + a}, cookie.Ticket{}},
		"not where it has no value":       {[]string{"fairdoor_shop; fairdoor_shop"}, cookie.Ticket{}},
		"an empty value is one of no use": {[]string{"fairdoor_shop="}, cookie.Ticket{}},
	} {
		t.Run(name, func(t *testing.T) {
			ticket, err := jar.Read(withCookies(test.lines...))
			require.NoError(t, err)
			assertTicket(t, test.want, ticket)
		})
	}
}

func TestCookiesThatCannotBeReadAreNoNewVisitor(t *testing.T) {
	codec := newCodec(t, cookie.Name("shop"))
	jar := newJar(t, codec, cookie.Attributes{})
	good := "fairdoor_shop=" + seal(t, codec, "ticket")
	for name, test := range map[string]struct {
		lines      []string
		unreadable bool
	}{
		"3,000 cookies":                    {[]string{strings.Repeat("a;", 2999) + good}, false},
		"3,001 cookies":                    {[]string{strings.Repeat("a;", 3000) + good}, true},
		"3,001 cookies in two lines":       {[]string{strings.Repeat("a;", 2000) + "a", strings.Repeat("a;", 999) + good}, true},
		"16 KiB":                           {[]string{good + ";" + strings.Repeat("a", 16<<10-len(good)-1)}, false},
		"a byte more":                      {[]string{good + ";" + strings.Repeat("a", 16<<10-len(good))}, true},
		"a byte more in two lines":         {[]string{good, strings.Repeat("a", 16<<10-len(good)+1)}, true},
		"a tab":                            {[]string{"x=a\tb; " + good}, false},
		"letters of other scripts":         {[]string{"x=日本語é; " + good}, false},
		"a NUL":                            {[]string{"x=\x00; " + good}, true},
		"a line end":                       {[]string{good + "\n"}, true},
		"an escape in another cookie":      {[]string{good + "; aaaaaaaaaaaaaaaaaaa=\x1b[0m"}, true},
		"a DEL among letters":              {[]string{good + "; é\x7fé"}, true},
		"a tab and a DEL side by side":     {[]string{good + "; \t\x7f"}, true},
		"a control byte on a second line":  {[]string{good, "a=\x01"}, true},
		"a control byte after eight bytes": {[]string{"12345678\x1f; " + good}, true},
	} {
		t.Run(name, func(t *testing.T) {
			ticket, err := jar.Read(withCookies(test.lines...))
			if test.unreadable {
				require.ErrorIs(t, err, cookie.ErrUnreadable)
				assert.Empty(t, ticket)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "ticket", string(ticket.Payload))
		})
	}
}

func TestEveryControlByteIsSeenAtEveryPlace(t *testing.T) {
	jar := newJar(t, newCodec(t, cookie.Name("shop")), cookie.Attributes{})
	for c := range 256 {
		for at := range 20 {
			line := []byte("a=\t\xff\x80 ~!0123456789abcdefgh")
			line[at] = byte(c)
			_, err := jar.Read(withCookies(string(line)))
			if c < ' ' && c != '\t' || c == 0x7f {
				require.Error(t, err, "byte %#x at %d", c, at)
			} else {
				require.NoError(t, err, "byte %#x at %d", c, at)
			}
		}
	}
}

func TestLookingForATicketDoesNotAllocate(t *testing.T) {
	jar := newJar(t, newCodec(t, cookie.Name("shop")), cookie.Attributes{})
	header := withCookies("a=b; c=d; fairdoor_show=v", "fairdoor_shop2=v; x=y")
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = jar.Read(header) }))
}

// net/http is slower and reads cookies by the same standard: where it finds a
// value by our name, so does Read, whatever else is in the header.
func FuzzRead(f *testing.F) {
	key, err := cookie.ParseKey(strings.Repeat("k9-_", 21) + "aA")
	require.NoError(f, err)
	codec := newCodec(f, cookie.Name("shop"), key)
	jar := newJar(f, codec, cookie.Attributes{})
	value := seal(f, codec, "ticket")
	f.Add("a=b; ", "; c=d")
	f.Add("fairdoor_shop=", " ;;")
	f.Add("x=\"", "\"; y")
	f.Add(" \t", "\t ")
	f.Fuzz(func(t *testing.T, before, after string) {
		header := withCookies(before + "fairdoor_shop=" + value + after)
		ticket, err := jar.Read(header)
		if err != nil {
			return
		}
		for _, c := range (&http.Request{Header: header}).CookiesNamed("fairdoor_shop") {
			if c.Value == value {
				require.Equal(t, "ticket", string(ticket.Payload))
			}
		}
	})
}

// assertTicket compares what a ticket tells.
func assertTicket(t *testing.T, want, got cookie.Ticket) {
	t.Helper()
	assert.Equal(t, want.Payload, got.Payload)
	assert.Equal(t, want.Key, got.Key)
	assert.Equal(t, want.Name, got.Name)
}

func TestRememberedTicketReadsTheSame(t *testing.T) {
	jar := newJar(t, newCodec(t, cookie.Name("shop")), cookie.Attributes{})
	header, err := jar.Seal([]byte("the payload"), false)
	require.NoError(t, err)
	value, _, _ := strings.Cut(header, ";")
	request := http.Header{"Cookie": {"a=b; " + value}}

	first, err := jar.Read(request)
	require.NoError(t, err)
	jar.Remember(first, 1)
	for range 3 {
		again, err := jar.Read(request)
		require.NoError(t, err)
		assert.Equal(t, "the payload", string(again.Payload))
		assert.Equal(t, first.Name, again.Name)
	}

	forged := value[:len(value)-8] + strings.Repeat("A", 8)
	other, err := jar.Read(http.Header{"Cookie": {forged}})
	require.NoError(t, err)
	assert.Nil(t, other.Payload)
	jar.Remember(other, 1)
	other, err = jar.Read(http.Header{"Cookie": {forged}})
	require.NoError(t, err)
	assert.Nil(t, other.Payload, "what did not open is not remembered")
}

func TestAJarRemembersAsManyTicketsAsAreGood(t *testing.T) {
	codec := newCodec(t, cookie.Name("shop"))
	jar := newJar(t, codec, cookie.Attributes{})
	const good = 3000
	requests := make([]http.Header, good)
	for i := range requests {
		requests[i] = withCookies("fairdoor_shop=" + seal(t, codec, fmt.Sprint("ticket ", i)))
	}
	read := func() (found []cookie.Ticket) {
		for i, request := range requests {
			ticket, err := jar.Read(request)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint("ticket ", i), string(ticket.Payload))
			found = append(found, ticket)
		}
		return found
	}
	for range 3 {
		for _, ticket := range read() {
			jar.Remember(ticket, good)
		}
	}
	found := read()
	assert.Less(t, testing.AllocsPerRun(1, func() {
		for _, request := range requests {
			_, _ = jar.Read(request)
		}
	}), good/10., "nothing is opened")
	for _, ticket := range found {
		jar.Forget(ticket)
	}
	assert.Greater(t, testing.AllocsPerRun(1, func() { read() }), float64(5*good), "all are opened")
}

func TestManyMayReadAndRememberAtOnce(t *testing.T) {
	codec := newCodec(t, cookie.Name("shop"))
	jar := newJar(t, codec, cookie.Attributes{})
	requests := make([]http.Header, 100)
	for i := range requests {
		requests[i] = withCookies("fairdoor_shop=" + seal(t, codec, fmt.Sprint("ticket ", i)))
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for i := range 20 * len(requests) {
				ticket, err := jar.Read(requests[i%len(requests)])
				assert.NoError(t, err)
				assert.Equal(t, fmt.Sprint("ticket ", i%len(requests)), string(ticket.Payload))
				jar.Remember(ticket, 10)
				if i%7 == 0 {
					jar.Forget(ticket)
				}
			}
		})
	}
	readers.Wait()
}
