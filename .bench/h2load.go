package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// h2load is a load of one visitor whose browsers keep a connection of HTTP/2 each:
// streams requests are under way on each, and connections in all.
type h2load struct {
	program string
	ticket  string // name=value
}

const streams = 8

var h2Statuses = regexp.MustCompile(`(?m)^status codes: (\d+) 2xx, 0 3xx, 0 4xx, 0 5xx`)

// load runs h2load for a time in whole seconds, and returns how many requests were
// answered. Answers that are not 2xx are an error.
func (l h2load) load(ctx context.Context, p *process, span time.Duration) (int, error) {
	args := []string{"-t1", "-c" + strconv.Itoa(connections/streams), "-m" + strconv.Itoa(streams), "-D" + strconv.Itoa(int(span/time.Second))}
	for _, h := range navigation {
		args = append(args, "-H", h.name+": "+h.value)
	}
	args = append(args, "-H", "Cookie: "+siteCookies+"; "+l.ticket, p.url()+target)
	said, err := exec.CommandContext(ctx, l.program, args...).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("running h2load: %w: %s", err, strings.TrimSpace(string(said)))
	}
	if !strings.Contains(string(said), "Application protocol: h2") || !h2Statuses.Match(said) {
		return 0, fmt.Errorf("asking %s: h2load says: %s", p.addr, said)
	}
	return strconv.Atoi(string(h2Statuses.FindSubmatch(said)[1]))
}
