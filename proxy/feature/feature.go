package feature

import (
	"context"
	"net/http"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// Feature is something that a room may have beside its limits. One value serves a gate for as long
// as the gate lives.
type Feature interface {
	// Part makes what a room has of the feature in one configuration; nil where the room does not
	// have it. It changes nothing that is at work. The part implements the stages in which the
	// feature has a say.
	Part(ctx context.Context, s *Setup) (Part, error)
}

// Part is what one room has of a feature in one configuration. It does not change.
type Part any

// A Sharer is a part of a family that each of its rooms has anew. All other parts the rooms share.
type Sharer interface {
	// For makes the part of a room of the family.
	For(s *Setup) (Part, error)
}

// PartOf is the part of a room that has a type, if the room has it.
func PartOf[P Part](s *Setup) (p P, ok bool) {
	for _, of := range s.Parts {
		if p, ok = of.(P); ok {
			break
		}
	}
	return p, ok
}

// A Chooser is a feature to which a configuration says more than its rooms do.
type Chooser interface {
	// Choose makes ready for the parts of a configuration. It changes nothing that is at work.
	Choose(ctx context.Context, c Configuration) error
	// Use puts to work what Choose has made ready.
	Use()
}

// An Owner has paths of the gate's own.
type Owner interface{ Paths() []Path }

// A Runner does something by itself.
type Runner interface {
	// Run returns soon after ctx has ended.
	Run(ctx context.Context)
}

// A Closer has something to end with the gate, once the gate's tasks have ended.
type Closer interface{ Close() }

// A Hearer is a part that hears what the site says of visitors.
type Hearer interface{ HearsOfVisitors() }

// A Preferrer is a part by which some people may be let in before others who came earlier.
type Preferrer interface{ PrefersSome(by queue.Method) bool }

// A Drainer keeps answers open, which it ends when the gate drains.
type Drainer interface{ Drain() }

// A Follower looks at a room before its first sync, and after each, whether it failed or not.
type Follower interface{ Follow(r *Room) }

// An Escort goes with requests from their beginning to their end.
type Escort interface {
	// Begin returns what a request goes on with, and what is told of its end; nil where nothing is.
	Begin(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, *http.Request, Ender)
}

// A Witness is told of each request before it is answered. It may drop one of people who are not
// in, so that those who are in need not wait behind it: it does not return from such a request.
type Witness interface {
	// Visit is told of a visit and what the queue, or the gate, has decided about it.
	Visit(r *http.Request, v *Visit, d *room.Decision)
	// Aside is told of a request that is no visit.
	Aside(r *http.Request)
	// Withheld is told of a request that takes neither a place nor a slot, and that the site does
	// not get.
	Withheld(r *http.Request, by Counted)
	// Exempt is told of a request that passes a room by.
	Exempt(r *http.Request, by Counted)
	// Renewal is told of a question of visitors who have checked in by it, and what the queue has
	// decided about each.
	Renewal(r *http.Request, visitors []*Visit, decisions []room.Decision)
}

// Counted is a room or a family whose requests are counted.
type Counted interface {
	// Settings returns those in force; for a family those that its rooms begin with.
	Settings() queue.Settings
	// Of is the name of the room or family.
	Of() string
	// Count counts what became of a request.
	Count(what metrics.Result)
}

// A Registrar notes the entries of draws, and knows the order of those who have come to this gate.
type Registrar interface {
	NoteEntry(room string, d *event.Draw, entry string)
	Order(room string, d *event.Draw) (event.Order, error)
	// Header is that of the order.
	Header(room string, d *event.Draw) (event.Header, error)
}

// A Messenger sends what webhooks are told.
type Messenger interface{ Sender() *webhooks.Sender }

// An Administered feature has resources of the admin API, or a section of the dashboard.
type Administered interface{ Admin(a admin.API) admin.Part }

// A Chronicler notes the changes of what rooms go by.
type Chronicler interface {
	NoteChange(room string, c overrides.Change)
}

// Path is one of the gate's own paths.
type Path struct {
	Name   string // what follows Paths; with a slash at its end, all that is below it, too
	Method string // the only one that it takes; "" where Serve sees to methods, and to pages of other sites
	Serve  http.HandlerFunc
}

// A Listener hears what the site tells by headers of its answers, and keeps them from visitors.
type Listener interface {
	Headers() []string
	Told(resp *http.Response)
}

// The stages of a visit, in their order. Those without a say in them cost a room nothing.
type (
	// A Dresser adds to what the room's pages have.
	Dresser interface{ Dress(o *templates.Options) }

	// An EndlessLine takes in people before anything else is known of them, and lets in none. The
	// room does not know of them, and no store is asked: all that there is of them is in their
	// cookie. It is comparable.
	EndlessLine interface {
		// Takes says whether it takes in the sender of a request.
		Takes(r *http.Request, s *Setup) bool
		// At is how somebody stands with a ticket of the line.
		At(of *room.Room, at time.Time, t queue.Ticket) room.Decision
	}

	// A Recogniser says who sends a request, and what they may have. The ticket is open by then.
	Recogniser interface {
		Recognise(r *http.Request, v *Visit)
	}

	// A Doorkeeper may answer a visitor who may not join the room, and says whether it has.
	Doorkeeper interface {
		Before(w http.ResponseWriter, r *http.Request, v *Visit) bool
	}

	// A Substitute may answer a visitor who is not let in, in place of the page, and says whether
	// it has.
	Substitute interface {
		Instead(w http.ResponseWriter, r *http.Request, v *Visit, d *room.Decision) bool
	}

	// An Asker adds to the request of a visitor on its way to the site. The visitor is nil for a
	// request that passes the room by.
	Asker interface {
		Ask(r *http.Request, of *Room, v *Visit) *http.Request
	}

	// A Watcher may watch the answer of the site to a visitor with a ticket, by a writer of its
	// own. The Ender is told when the answer has ended; it is nil where the writer is the one that
	// was given.
	Watcher interface {
		Writer(w http.ResponseWriter, r *http.Request, v *Visit, ticket queue.ID) (http.ResponseWriter, Ender)
	}

	// An Ender is told that an answer has ended.
	Ender interface{ End() }

	// An Issuer adds cookies to those that a decision means for its visitor.
	Issuer interface {
		Issue(to []string, r *http.Request, v *Visit, d *room.Decision) []string
	}

	// A Keeper keeps the place of a visitor whose page says goodbye, and lets go one who gives it up.
	Keeper interface {
		Keeps(v *Visit) bool
		LetGo(v *Visit)
	}
)

// Stages are the parts of a room, and those by the stages in which they have a say, in the order of
// the features.
type Stages struct {
	Parts        []Part
	Dressers     []Dresser
	EndlessLines []EndlessLine
	Recognisers  []Recogniser
	Doorkeepers  []Doorkeeper
	Substitutes  []Substitute
	Askers       []Asker
	Watchers     []Watcher
	Issuers      []Issuer
	Keepers      []Keeper
}

// Add adds a part to the stages in which it has a say.
func (s *Stages) Add(p Part) {
	s.Parts = append(s.Parts, p)
	add(&s.Dressers, p)
	add(&s.EndlessLines, p)
	add(&s.Recognisers, p)
	add(&s.Doorkeepers, p)
	add(&s.Substitutes, p)
	add(&s.Askers, p)
	add(&s.Watchers, p)
	add(&s.Issuers, p)
	add(&s.Keepers, p)
}

func add[S any](to *[]S, p Part) {
	if stage, ok := p.(S); ok {
		*to = append(*to, stage)
	}
}
