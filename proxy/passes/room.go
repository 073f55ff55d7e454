package passes

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates"
	"github.com/fairdoor-gate/fairdoor/templates/passpage"
)

// Path is that of the passes of the only room that takes any on a host. That of a room's own passes
// goes on with a slash and the room's name.
const Path = feature.Paths + "pass"

// keepCookie is how long browsers keep the cookie: the most that they do.
const keepCookie = 400 * 24 * time.Hour

// Config is what a room's passes are configured with.
type Config struct {
	Room     string
	Host     string // that the room is on; "" for any
	Only     bool   // nobody gets into the room without a pass
	Language string // default of the pages; "" for en-US
	Identity templates.Identity
	Keys     []cookie.Key
	Cookie   cookie.Attributes
}

// Options are what a room's passes work with.
type Options struct {
	Clock  func() time.Time
	Log    *zap.Logger
	Record *waitlist.Passes

	// Problem answers somebody with the gate's page for a status.
	Problem func(w http.ResponseWriter, r *http.Request, status int)

	// Enter takes an attempt off what a network may have, and says whether there was one left. The
	// network is that of the address.
	Enter func(addr netip.Addr, now time.Time, perMinute int) bool
}

// Known is what a gate knows of the passes of a room. It outlives configurations. The zero value is
// ready.
type Known struct {
	revoked atomic.Pointer[map[string]bool] // their ids

	// What the dashboard remembers: the passes that it has made last, with their codes, for a while, and
	// what links begin with.
	made atomic.Pointer[[]waitlist.Pass]
	site atomic.Pointer[string]

	mu    sync.Mutex
	users map[queue.ID]queue.ID // of the site, by the use of a pass that they were the first to bring
}

func (k *Known) isRevoked(id string) bool {
	ids := k.revoked.Load()
	return ids != nil && (*ids)[id]
}

// showsCodes is for how long the dashboard shows the codes of the passes that it has made.
const showsCodes = 5 * time.Minute

// forgetCodes forgets the codes that were shown for long enough.
func (k *Known) forgetCodes(now time.Time) {
	made := k.made.Load()
	if made != nil && now.Sub((*made)[0].MadeAt) >= showsCodes {
		k.made.CompareAndSwap(made, nil)
	}
}

// codeOf is the code of a pass that the dashboard has made just now; "" for others.
func (k *Known) codeOf(id string, now time.Time) string {
	k.forgetCodes(now)
	made := k.made.Load()
	if made == nil {
		return ""
	}
	for _, p := range *made {
		if p.ID == id {
			return p.Code
		}
	}
	return ""
}

// belongsTo says whether a use of a pass is that of a user of the site, which is the first who has
// brought it to this gate.
func (k *Known) belongsTo(use, user queue.ID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.users == nil {
		k.users = map[queue.ID]queue.ID{}
	}
	first, found := k.users[use]
	if !found {
		k.users[use] = user
	}
	return !found || first == user
}

// userOf is the user of the site whose a use of a pass is, if there is one.
func (k *Known) userOf(use queue.ID) (user queue.ID, found bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	user, found = k.users[use]
	return user, found
}

// Room is the passes of a room, by one configuration.
type Room struct {
	Config
	o     Options
	known *Known
	links *cookie.Codec
	jar   *cookie.Jar
	pages *passpage.Pages
}

// New returns the passes of a room. It fails if something in the configuration cannot be used.
func New(c Config, o Options, known *Known) (*Room, error) {
	r := &Room{Config: c, o: o, known: known}
	var err error
	// No room and no waitlist has a name like these.
	if r.links, err = cookie.New(cookie.Config{Name: cookie.Name(".link." + c.Room), Keys: c.Keys}); err != nil {
		return nil, fmt.Errorf("making the codec of links: %w", err)
	}
	codec, err := cookie.New(cookie.Config{Name: cookie.Name(".pass." + c.Room), Keys: c.Keys})
	if err != nil {
		return nil, fmt.Errorf("making the cookie's codec: %w", err)
	}
	c.Cookie.MaxAge = keepCookie
	if r.jar, err = cookie.NewJar(codec, c.Cookie); err != nil {
		return nil, fmt.Errorf("reading the cookie's attributes: %w", err)
	}
	if r.pages, err = passpage.New(c.Language, c.Identity); err != nil {
		return nil, fmt.Errorf("making the pages: %w", err)
	}
	return r, nil
}

// path is that of the room's own passes.
func (r *Room) path() string { return Path + "/" + r.Config.Room }

// Follow learns which passes were revoked, at whichever gate, and forgets codes in time. What is known
// of passes stays while the record does not answer.
func (r *Room) Follow(ctx context.Context) error {
	r.known.forgetCodes(r.o.Clock())
	ids, err := r.o.Record.Revoked(ctx, r.Config.Room, r.o.Clock())
	if err == nil {
		r.known.revoked.Store(&ids)
	}
	return err
}

// Forget has the record forget the passes that have expired long ago.
func (r *Room) Forget(ctx context.Context) error {
	return r.o.Record.Forget(ctx, r.Config.Room, r.o.Clock())
}
