package world

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// Plan is all that is decided before a world begins.
type Plan struct {
	Seed     uint64 // of what is drawn as it goes
	Gates    int
	Redis    bool // which the gates share; else the only one keeps a journal
	Settings queue.Settings
	Sale     Sale
	People   []Person
	Faults   []Fault       // in the order in which they begin
	Lasts    time.Duration // after which everything ends
	Waitlist *Waitlist     // of a second room; nil for none
	Passes   []Pass
	Calls    *Calls // nil where nobody is called
}

// Person is somebody who will come, and how they behave.
type Person struct {
	Name     string
	Number   int           // theirs alone, in whatever plan
	Kind     string        // of [kinds]
	Joins    time.Duration // after the beginning
	Patience time.Duration // how long they wait at most; 0 for ever
	Browse   time.Duration // how long they stay once they are in
	Goodbye  bool          // they say so when they give up
}

// Fault is something that goes wrong.
type Fault struct {
	Kind  string        // of [faultKinds]
	At    time.Duration // after the beginning
	Lasts time.Duration // 0 for one that happens in a moment
	Gate  int           // that it befalls
	Size  uint64        // what else the kind needs
}

// String tells the plan in a line.
func (p *Plan) String() string {
	store := "a journal"
	if p.Redis {
		store = "a Redis"
	}
	faults := ""
	for _, f := range p.Faults {
		faults += fmt.Sprintf("; %s at %s", f.Kind, moment(f.At))
	}
	lasting := ""
	if p.Settings.DisableSessionRenewal {
		lasting = " from admission on"
	}
	if p.Settings.OnStoreError == queue.Share {
		lasting += ", shared where the store does not answer"
	}
	return fmt.Sprintf("seed %d: %d people come to %d gates with %s; %s, %d slots for %v%s, %d new ones a minute, check-ins every %v; it lasts for %v%s%s%s%s%s",
		p.Seed, len(p.People), p.Gates, store, p.Settings.Method, p.Settings.TotalActiveUsers, p.Settings.SessionDuration, lasting,
		p.Settings.NewUsersPerMinute, p.Settings.RefreshInterval, p.Lasts, &p.Sale, faults, p.Waitlist, passesOf(p.Passes), p.Calls)
}

// Draw draws a plan.
func Draw(seed uint64) Plan {
	r := source(seed, "plan")
	pick := func(of ...int) int { return of[r.IntN(len(of))] }
	seconds := func(of ...int) time.Duration { return time.Duration(pick(of...)) * time.Second }
	p := Plan{Seed: seed, Gates: 1 + r.IntN(2), Lasts: time.Duration(6+r.IntN(7)) * time.Minute}
	p.Redis = p.Gates > 1 || r.IntN(4) == 0
	p.Settings = queue.Settings{
		TotalActiveUsers: pick(3, 10, 20, 40), NewUsersPerMinute: pick(10, 30, 60, 300),
		SessionDuration: seconds(20, 45, 90, 180), RefreshInterval: seconds(3, 5, 10, 20), RefreshJitter: .15,
		Method: []queue.Method{queue.FIFO, queue.FIFO, queue.Line, queue.Random}[r.IntN(4)], ConfirmWithin: seconds(10, 60),
	}
	if r.IntN(4) == 0 { // so that who asks again when told comes as a session is over that a lost reply gave
		p.Settings.SessionDuration, p.Settings.RefreshInterval = 20*time.Second, 20*time.Second
	}
	p.Settings = p.Settings.WithDefaults()
	p.Settings.DisableSessionRenewal = r.IntN(6) == 0
	if r.IntN(4) == 0 {
		p.Settings.OnStoreError = queue.Share
	}
	p.drawSale(r)
	crowd := simulate.Config{
		Room: p.Settings, Seed: seed, Visitors: pick(40, 100, 200, 300), Over: p.Lasts / time.Duration(2+r.IntN(4)),
		Arrivals: []simulate.Arrivals{simulate.Uniform, simulate.Burst, simulate.Spike, simulate.Ramp}[r.IntN(4)],
		Browse:   seconds(5, 20, 60), GiveUp: .2, Patience: 3 * time.Minute, Goodbye: .5,
	}
	for i, someone := range simulate.DrawCrowd(crowd) {
		k := kinds.draw(r)
		if k.first {
			someone.Joins /= 20
		}
		p.People = append(p.People, Person{
			Name: name(i), Number: i, Kind: k.name, Joins: someone.Joins, Patience: someone.Patience, Browse: someone.Browse, Goodbye: someone.Goodbye,
		})
	}
	p.drawFaults(r)
	p.drawWaitlist()
	p.drawPasses()
	p.drawCalls()
	return p
}

// become has one of so many of those who come, and are like most, come as another kind.
func (p *Plan) become(kind string, of int, r *rand.Rand) {
	for i := range p.People {
		if someone := &p.People[i]; kinds.find(someone.Kind).polite && r.IntN(of) == 0 {
			someone.Kind = kind
		}
	}
}

// names are those of the first people; those who come later have a number.
var names = [...]string{
	"ada", "ben", "cleo", "dan", "eva", "finn", "gwen", "hugo", "ines", "jon", "kim", "leo", "mia", "noah", "olga", "paul", "quin", "rosa",
	"sam", "tara", "udo", "vera", "will", "xena", "yuri", "zoe",
}

func name(i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprint(names[i%len(names)], i/len(names)+1)
}
