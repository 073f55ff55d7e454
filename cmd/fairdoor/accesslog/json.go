package accesslog

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// object is a JSON object whose fields are looked at when they are needed.
type object map[string]json.RawMessage

// The names that fields have in the logs of Caddy, Traefik and nginx. Of several that a line
// has, the first counts.
var (
	timeFields    = []string{"ts", "StartUTC", "time_iso8601", "time_local", "msec", "@timestamp", "timestamp", "StartLocal", "time"}
	addressFields = []string{"client_ip", "remote_ip", "ClientHost", "remote_addr", "clientip", "remote_host", "ip"}
	agentFields   = []string{"http_user_agent", "user_agent", "userAgent", "request_User-Agent", "agent"}
	methodFields  = []string{"request_method", "method", "RequestMethod"}
	targetFields  = []string{"request_uri", "uri", "RequestPath", "path", "url"}
)

func parseJSON(text []byte) (Line, error) {
	var line, request object
	if err := json.Unmarshal(text, &line); err != nil {
		return Line{}, fmt.Errorf("it is no JSON object: %w", err)
	}
	at, err := line.time()
	if err != nil {
		return Line{}, err
	}
	l := Line{At: at}
	if json.Unmarshal(line["request"], &request) == nil { // Caddy has the request in an object
		l.UserAgent = request.header("User-Agent")
	} else {
		l.request(line.text("request"))
		request = line
	}
	if l.UserAgent == "" {
		l.UserAgent = orNothing(request.text(agentFields...))
	}
	l.Address = request.text(addressFields...)
	if l.Method == "" {
		l.Method, l.Target = request.text(methodFields...), request.text(targetFields...)
	}
	return l, nil
}

// text is the first field of the names that has a text.
func (o object) text(names ...string) string {
	for _, name := range names {
		var text string
		if json.Unmarshal(o[name], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// header is a field of the request's header in an object of Caddy's.
func (o object) header(name string) string {
	var header map[string][]string
	if json.Unmarshal(o["headers"], &header) != nil || len(header[name]) == 0 {
		return ""
	}
	return header[name][0]
}

// layouts are how times are written in texts. Those without a zone are taken for UTC.
var layouts = []string{
	time.RFC3339Nano, clock, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05.999999999",
	"2006/01/02 15:04:05.999999999",
}

func (o object) time() (time.Time, error) {
	for _, name := range timeFields {
		raw, ok := o[name]
		if !ok {
			continue
		}
		text := o.text(name)
		if text == "" {
			text = string(raw)
		}
		if seconds, err := strconv.ParseFloat(text, 64); err == nil {
			return sinceEpoch(seconds)
		}
		for _, layout := range layouts {
			if at, err := time.Parse(layout, text); err == nil {
				return at, nil
			}
		}
		return time.Time{}, fmt.Errorf("its time is %.40q", text)
	}
	return time.Time{}, errors.New("it has no time")
}

// sinceEpoch is a time that is written as a number: of seconds, or of milliseconds,
// microseconds or nanoseconds if that alone makes a sensible time.
func sinceEpoch(number float64) (time.Time, error) {
	for ; number > 1e11; number /= 1000 {
		if number > 1e20 {
			break
		}
	}
	if !(number >= 0 && number <= 1e11) {
		return time.Time{}, fmt.Errorf("its time is %g", number)
	}
	whole, part := math.Modf(number)
	return time.Unix(int64(whole), int64(part*1e6)*1000).UTC(), nil
}
