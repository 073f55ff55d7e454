package cookie_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anteroom-gate/anteroom/cookie"
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
		"as many as are kept":     {[]string{"anteroom_chat.a=1; anteroom_chat.b=1"}, 3, false, nil},
		"the oldest goes":         {[]string{"x=y; anteroom_chat.a=1; anteroom_chat.b=1;anteroom_chat.e=1"}, 2, false, []string{"anteroom_chat.a" + gone}},
		"on several lines":        {[]string{"anteroom_chat.b=1", "anteroom_chat.a=1"}, 1, false, []string{"anteroom_chat.b" + gone, "anteroom_chat.a" + gone}},
		"of other rooms none":     {[]string{"anteroom_chat=1; anteroom_shop.a=1; anteroom_chats.a=1; chat.a=1; anteroom_chat.=1"}, 2, false, nil},
		"of this very host":       {[]string{"__Host-anteroom_chat.a=1; anteroom_chat.b=1"}, 1, true, []string{"__Host-anteroom_chat.a" + goneHost, "anteroom_chat.b" + goneHost}},
		"this one is never gone":  {[]string{"anteroom_chat.e=1; __Host-anteroom_chat.e=2"}, 0, true, nil},
		"what is no name of ours": {[]string{"anteroom_chat.a|b=1; anteroom_chat.\u00e9=1"}, 1, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, jar.Excess(http.Header{"Cookie": test.lines}, test.keep, test.https))
		})
	}
	alone := newJar(t, newCodec(t, cookie.Name("chat")), cookie.Attributes{})
	assert.Nil(t, alone.Excess(http.Header{"Cookie": {"anteroom_a=1; anteroom_b=1"}}, 1, false))
}
