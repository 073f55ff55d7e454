package cookie_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/cookie"
)

func TestExcessForgetsTheOldestOfRoomsThatBelongTogether(t *testing.T) {
	jar := newJar(t, newCodec(t, cookie.Name("chat.e")), cookie.Attributes{})
	const gone, goneHost = "=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax", "=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=None; Partitioned"
	for name, test := range map[string]struct {
		lines []string
		keep  int
		https bool
		want  []string
	}{
		"none":                    {nil, 1, false, nil},
		"as many as are kept":     {[]string{"fairdoor_chat.a=1; fairdoor_chat.b=1"}, 3, false, nil},
		"the oldest goes":         {[]string{"x=y; fairdoor_chat.a=1; fairdoor_chat.b=1;fairdoor_chat.e=1"}, 2, false, []string{"fairdoor_chat.a" + gone}},
		"on several lines":        {[]string{"fairdoor_chat.b=1", "fairdoor_chat.a=1"}, 1, false, []string{"fairdoor_chat.b" + gone, "fairdoor_chat.a" + gone}},
		"of other rooms none":     {[]string{"fairdoor_chat=1; fairdoor_shop.a=1; fairdoor_chats.a=1; chat.a=1; fairdoor_chat.=1"}, 2, false, nil},
		"of this very host":       {[]string{"__Host-fairdoor_chat.a=1; fairdoor_chat.b=1"}, 1, true, []string{"__Host-fairdoor_chat.a" + goneHost, "fairdoor_chat.b" + goneHost}},
		"this one is never gone":  {[]string{"fairdoor_chat.e=1; __Host-fairdoor_chat.e=2"}, 0, true, nil},
		"what is no name of ours": {[]string{"fairdoor_chat.a|b=1; fairdoor_chat.\u00e9=1"}, 1, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, jar.Excess(http.Header{"Cookie": test.lines}, test.keep, test.https))
		})
	}
	alone := newJar(t, newCodec(t, cookie.Name("chat")), cookie.Attributes{})
	assert.Nil(t, alone.Excess(http.Header{"Cookie": {"fairdoor_a=1; fairdoor_b=1"}}, 1, false))
}
