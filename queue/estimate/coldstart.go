package estimate

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// coldStart is for how long people look around before their last request, as it is measured where
// nobody knows of admissions from before. The first who leave are those who look around least, and
// the others are in yet: so the mean of those who have left is too short, until slots have been
// given on many times. What is right is the time for which all have looked around, over how many
// have left.
type coldStart struct {
	looked float64 // person-minutes of looking around, of those who have left and of those who are in
	left   int     // how many have left
	given  bool    // slots have been given on once, on average, as many as are in use now
	over   bool    // slots have been given on coldRounds times, or admissions from before were known
}

// coldRounds is how often slots are given on, on average, until a cold start is over.
const coldRounds = 8

// follow takes in how many left between two moments, who had been in, and how many are active now.
func (c *coldStart) follow(held []heldSlots, from, until queue.Instant, left, active int, settings *queue.Settings) {
	for _, h := range held {
		longer := until.Sub(h.at) - settings.SessionDuration
		if longer <= 0 {
			break
		}
		c.looked += float64(h.n) * min(longer, until.Sub(from)).Minutes()
	}
	c.left += left
	c.given = c.left >= max(1, active)
	c.over = c.over || c.left >= coldRounds*max(1, active)
}

// adjust returns for how long slots are held on average, where those that have come free were for
// so long. Who leaves early does not look around, and the guess counts as one who has left. Until
// as many have left as are in, nobody is taken to look around for longer than was guessed, or than
// somebody has. For how long they stayed counts by itself from the second half of a cold start on:
// while those who came at once leave one after the other, it is the shorter ones.
func (c *coldStart) adjust(stay time.Duration, at queue.Instant, held []heldSlots, active int, settings *queue.Settings) time.Duration {
	if c.over || len(held) == 0 || !settings.Renews() || settings.Occupancy != queue.BySession {
		return stay
	}
	guess, rounds := settings.SessionDuration/2, float64(c.left)/float64(max(1, active))
	around := time.Duration((guess.Minutes() + c.looked) / float64(c.left+1) * float64(time.Minute))
	if rounds < 1 {
		around = min(around, max(guess, at.Sub(held[0].at)-settings.SessionDuration))
	}
	return stay + time.Duration(float64(min(stay, settings.SessionDuration)+around-stay)*min(1, max(0, 2-2*rounds/coldRounds)))
}
