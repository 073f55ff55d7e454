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

// wrk is a load of one visitor: wrk over 64 connections, one request after the
// other on each.
type wrk struct {
	program string
	ticket  string // name=value
}

var (
	wrkCount  = regexp.MustCompile(`(?m)^\s*(\d+) requests in `)
	wrkFaults = regexp.MustCompile(`(?m)^\s*(Non-2xx or 3xx responses|Socket errors):.*$`)
)

// load runs wrk for a time in whole seconds, and returns how many requests were
// answered. Answers that are not 2xx are an error.
func (l wrk) load(ctx context.Context, p *process, span time.Duration) (int, error) {
	args := []string{"-t1", "-c" + strconv.Itoa(connections), "-d" + strconv.Itoa(int(span/time.Second)) + "s"}
	for _, h := range navigation {
		args = append(args, "-H", h.name+": "+h.value)
	}
	args = append(args, "-H", "Cookie: "+siteCookies+"; "+l.ticket, p.url()+target)
	said, err := exec.CommandContext(ctx, l.program, args...).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("running wrk: %w: %s", err, strings.TrimSpace(string(said)))
	}
	if fault := wrkFaults.Find(said); fault != nil {
		return 0, fmt.Errorf("asking %s: wrk says: %s", p.addr, strings.TrimSpace(string(fault)))
	}
	count := wrkCount.FindSubmatch(said)
	if count == nil {
		return 0, fmt.Errorf("running wrk: no count of requests in what it said: %s", said)
	}
	return strconv.Atoi(string(count[1]))
}
