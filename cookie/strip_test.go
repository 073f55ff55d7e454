package cookie_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
)

func TestStripLeavesWhatIsNotOurs(t *testing.T) {
	for name, test := range map[string]struct{ lines, want []string }{
		"no header":                    {nil, nil},
		"none of ours":                 {[]string{" a=b ;c; ;", ""}, []string{" a=b ;c; ;", ""}},
		"only ours":                    {[]string{"fairdoor_shop=v"}, nil},
		"only ours, of several rooms":  {[]string{"fairdoor_shop=v; __Host-fairdoor_show=w", "fairdoor_x"}, nil},
		"only ours, among semicolons":  {[]string{";fairdoor_shop=v; ;"}, nil},
		"ours first":                   {[]string{"fairdoor_shop=v; a=b; c=d"}, []string{"a=b; c=d"}},
		"ours last":                    {[]string{"a=b; c=d; fairdoor_shop=v"}, []string{"a=b; c=d"}},
		"ours between":                 {[]string{"a=b; __Host-fairdoor_shop=v; c=d"}, []string{"a=b; c=d"}},
		"ours all over":                {[]string{"fairdoor_a=1; a=b; fairdoor_b=2;fairdoor_c=3; c=d;e; fairdoor_d=4; f"}, []string{"a=b; c=d;e; f"}},
		"odd spacing stays":            {[]string{"a = b ;\tc=d;; fairdoor_shop=v ;e=f "}, []string{"a = b ;\tc=d;;e=f "}},
		"odd values stay":              {[]string{`a="x y"; fairdoor_shop=v; b={"é":1}; =; c`}, []string{`a="x y"; b={"é":1}; =; c`}},
		"a space before our equals":    {[]string{"fairdoor_shop =v; a=b"}, []string{"a=b"}},
		"a line of nothing but ours":   {[]string{"a=b", "fairdoor_shop=v", "c=d"}, []string{"a=b", "c=d"}},
		"ours as another's value":      {[]string{"a=fairdoor_shop=v"}, []string{"a=fairdoor_shop=v"}},
		"a name that ends like ours":   {[]string{"my_fairdoor_shop=v; __Secure-fairdoor_x=1"}, []string{"my_fairdoor_shop=v; __Secure-fairdoor_x=1"}},
		"a line without ours is whole": {[]string{" ; a ", "fairdoor_shop=v"}, []string{" ; a "}},
	} {
		t.Run(name, func(t *testing.T) {
			header := http.Header{"Accept": {"*/*"}}
			if test.lines != nil {
				header["Cookie"] = slices.Clone(test.lines)
			}
			cookie.Strip(header)
			assert.Equal(t, test.want, header["Cookie"])
			assert.Equal(t, test.want != nil, header["Cookie"] != nil)
			assert.Equal(t, "*/*", header.Get("Accept"))
		})
	}
}

func TestStripDoesNotAllocateWhereItNeedNot(t *testing.T) {
	for name, line := range map[string]string{
		"none of ours": "a=b; c=d; e=f",
		"only ours":    "fairdoor_shop=v; __Host-fairdoor_show=w",
		"ours first":   "fairdoor_shop=v; a=b; c=d",
		"ours last":    "a=b; c=d; fairdoor_shop=v",
	} {
		lines, header := []string{line}, http.Header{}
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			lines[0] = line
			header["Cookie"] = lines
			cookie.Strip(header)
		}), name)
	}
}

func isOurs(c *http.Cookie) bool {
	name := strings.TrimPrefix(c.Name, "__Host-")
	return strings.HasPrefix(name, "fairdoor_")
}

func FuzzStrip(f *testing.F) {
	f.Add("fairdoor_shop=v; a=b; __Host-fairdoor_shop=w;c", "fairdoor_x")
	f.Add(";;fairdoor_;", "a=\"fairdoor_x;fairdoor_y\"")
	f.Add("\rfairdoor_", "0")
	f.Add("", "\t;fairdoor_=\t; =a")
	f.Fuzz(func(t *testing.T, first, second string) {
		header := withCookies(first, second)
		want := slices.DeleteFunc((&http.Request{Header: header.Clone()}).Cookies(), isOurs)
		cookie.Strip(header)
		got := (&http.Request{Header: header}).Cookies()
		require.Equal(t, want, got)

		once := header.Clone()
		cookie.Strip(header)
		require.Equal(t, once, header)
	})
}
