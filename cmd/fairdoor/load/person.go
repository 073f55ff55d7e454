package load

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/crowd"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// phase is how far a person has come.
type phase uint8

const (
	outside phase = iota
	waiting
	inside
	gone
)

// person is one of the crowd. Whoever has taken their appointment from the schedule has
// them alone.
type person struct {
	simulate.Person
	number  int
	visitor *crowd.Visitor // nil before the first request

	phase       phase
	joined      time.Time // when the first request was sent
	leaves      time.Time // when patience ends; zero for never
	letIn       time.Time // when the answer of the site came
	until       time.Time // of the browsing
	interval    time.Duration
	told        time.Duration // by the first answer that had them wait; 0 if it was not known
	waits       int           // answers that had them wait
	interrupted bool
	gaveUp      bool
	refused     bool

	last exchange
}

// exchange is a request and its answer.
type exchange struct {
	due, sent, answered time.Time
	goodbye             bool
	answer              crowd.Answer
	err                 error
}

// sentHeader tells the origin when a request was sent.
const sentHeader = "X-Load-Sent"

// act does what a person does next: asks, or says goodbye.
func (p *person) act(ctx context.Context, c *Config, transport http.RoundTripper) {
	if p.visitor == nil {
		p.visitor = crowd.New(transport, c.site(), userAgent(p.number))
		p.joined = time.Now()
		if p.Patience > 0 {
			p.leaves = p.joined.Add(p.Patience)
		}
	}
	if p.Bot {
		p.visitor.Forget()
	}
	p.last.sent = time.Now()
	p.last.goodbye = p.phase == waiting && !p.leaves.IsZero() && !p.leaves.After(p.last.sent)
	switch {
	case !p.last.goodbye:
		header := http.Header{sentHeader: {strconv.FormatInt(p.last.sent.UnixNano(), 10)}}
		p.last.answer, p.last.err = p.visitor.Ask(ctx, http.MethodGet, pathOf(c.Gate), header)
	case p.Goodbye:
		_, p.last.err = p.visitor.Ask(ctx, http.MethodPost, "/.fairdoor/leave", nil)
	}
	p.last.answered = time.Now()
}

func pathOf(u *url.URL) string {
	if path := u.RequestURI(); path != "" {
		return path
	}
	return "/"
}

// userAgent is the name of the person with the number, by which the origin knows them.
func userAgent(number int) string { return userAgentBegins + strconv.Itoa(number) }

const userAgentBegins = "fairdoor-load/"

// numberOf is the number of the person with the name.
func numberOf(userAgent string) (number int, ok bool) {
	if len(userAgent) <= len(userAgentBegins) || userAgent[:len(userAgentBegins)] != userAgentBegins {
		return 0, false
	}
	number, err := strconv.Atoi(userAgent[len(userAgentBegins):])
	return number, err == nil && number >= 0
}
