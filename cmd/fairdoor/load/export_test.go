package load

import (
	"context"
	"net/http"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Consents fails if the gate's host does not agree to the crowd.
func (c *Config) Consents(ctx context.Context, transport http.RoundTripper) error {
	return c.consents(ctx, transport)
}

// Judge is what the origin makes of people, of whom each is a bot or not, and has waited or
// not before they were let in.
func Judge(o *Origin, people int, bot, waited func(i int) bool, s queue.Settings) (active, perMinute int) {
	crowd := make([]person, people)
	for i := range crowd {
		crowd[i].number, crowd[i].Bot = i, bot(i)
		if waited(i) {
			crowd[i].waits = 1
		}
	}
	l := o.judge(crowd, s)
	return l.MostActive, l.MostPerMinute
}
