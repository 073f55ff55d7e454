package accesslog

import (
	"fmt"
	"net/url"
	"strings"

	"go.uber.org/zap"
)

// inCombined is
//
//	address - - [time] "method path protocol" status bytes "referrer" "user agent"
//
// for tools that know nothing of rooms.
func inCombined(q *request) (message string, _ []zap.Field) {
	return fmt.Sprintf(`%s - - [%s] "%s %s %s" %d %d %s %s`,
		q.address(), q.began.Format("02/Jan/2006:15:04:05 -0700"), q.in.Method, plain(path(q.in.URL)), q.in.Proto, q.Status, q.Bytes, quoted(referrer(q.in.Referer())), quoted(q.in.UserAgent())), nil
}

// referrer is the page that a request came from, without what may be secret.
func referrer(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + path(u)
}

// quoted is a text in quotes; - for none.
func quoted(text string) string {
	if text == "" {
		text = "-"
	}
	return `"` + plain(text) + `"`
}

// plain is a text in which nothing ends the quotes or the line: such bytes are written as \xhh.
func plain(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\x%02X`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
