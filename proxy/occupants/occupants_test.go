package occupants_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/occupants"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
)

const (
	key  = "a-key-of-the-sites-program"
	path = "/.fairdoor/occupants?room="
)

var signed = gatetest.With("Authorization", "Bearer "+key)

// telling has the first room tell of its occupants, of whom there may be so many.
func telling(people int) func(*proxy.Config, *proxy.Options) {
	return gatetest.Room(func(r *proxy.RoomConfig) {
		r.Options = r.Options.With(occupants.RoomOptions{Keys: []string{"another-key-of-the-site", key}})
		r.Settings.TotalActiveUsers, r.Subject.TokenHeader, r.Subject.Secrets, r.Subject.LabelClaim = people, "X-Token", [][]byte{gatetest.TokenSecret}, "profile"
	})
}

// inLine has the first room be one with an exact line.
var inLine = gatetest.Settings(func(s *queue.Settings) { s.Method = queue.Line })

// says has a site say something of each visitor to whom it answers.
func says(s *gatetest.Site) {
	s.Will(func(w http.ResponseWriter, r *http.Request) {
		if said := r.URL.Query().Get("say"); said != "" {
			w.Header().Set("Fairdoor-Visitor", said)
		}
		_, _ = w.Write([]byte("in"))
	})
}

// list is who is there.
type list struct {
	Room            string
	Occupants, Line []person
	Truncated       bool
}

type person struct {
	ID         string
	Data       any
	AcceptedAt time.Time
	Rank       int
}

// people are the data of those who are in, and of those in line.
func (l list) people() (in, waiting []any) {
	for _, p := range l.Occupants {
		in = append(in, p.Data)
	}
	for _, p := range l.Line {
		waiting = append(waiting, p.Data)
	}
	return in, waiting
}

// ask asks a gate about a room.
func ask(f *gatetest.Fixture, room string) (l list) {
	f.T.Helper()
	a := f.Visitor().Get(path+room, signed)
	require.Equal(f.T, http.StatusOK, a.Status, a.Body)
	assert.Equal(f.T, "no-store", a.Header.Get("Cache-Control"))
	require.NoError(f.T, json.Unmarshal([]byte(a.Body), &l))
	return l
}

// enters has a visitor come in of whom the site says something.
func enters(f *gatetest.Fixture, said string) *gatetest.Visitor {
	f.T.Helper()
	v := f.Visitor()
	a := v.Get("/?say=" + said)
	require.True(f.T, a.In())
	assert.Empty(f.T, a.Header.Values("Fairdoor-Visitor"), "which the visitor does not see")
	f.Clock.Add(time.Millisecond)
	return v
}

func token(t *testing.T, f *gatetest.Fixture, subject string, profile any) func(*http.Request) {
	t.Helper()
	text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": subject, "exp": f.Clock.Now().Add(time.Hour).Unix(), "profile": profile}).SignedString(gatetest.TokenSecret)
	require.NoError(t, err)
	return gatetest.With("X-Token", text)
}

func TestAnyGateTellsWhoIsIn(t *testing.T) {
	one, other := gatetest.StartTwo(t, telling(4))
	says(one.Site)
	came := one.Clock.Now()
	enters(one, `{"name":"Ann","seat":7}`)
	require.True(t, one.Visitor().Get("/", token(t, one, "7", map[string]any{"name": "Ben"})).In())
	one.Clock.Add(time.Millisecond)
	enters(other, `"Cid"`)
	one.Clock.Add(time.Millisecond)
	require.True(t, other.Visitor().Get("/").In())
	// No gate has synced since: whichever is killed now, all is known.
	for _, f := range []*gatetest.Fixture{one, other} {
		l := ask(f, "shop")
		in, waiting := l.people()
		assert.Equal(t, []any{map[string]any{"name": "Ann", "seat": 7.}, map[string]any{"name": "Ben"}, "Cid", nil}, in, "in the order of entry")
		assert.Empty(t, waiting)
		assert.Equal(t, "shop", l.Room)
		assert.False(t, l.Truncated)
		assert.Len(t, l.Occupants[0].ID, 32)
		assert.True(t, came.Equal(l.Occupants[0].AcceptedAt))
	}
	page := one.API(http.MethodGet, "/rooms/shop", "", nil)
	assert.Contains(t, page.Body, "Ann", "operators see the names")
	assert.Contains(t, page.Body, "Cid")
}

func TestWhatWasSaidLastCountsAndEndsWithTheSession(t *testing.T) {
	one, other := gatetest.StartTwo(t, telling(2))
	says(one.Site)
	v := enters(one, `"Ann"`)
	require.True(t, v.AtGate(other).Get(`/?say="Anna"`).In())
	in, _ := ask(one, "shop").people()
	assert.Equal(t, []any{"Anna"}, in)
	one.Pass(9 * time.Minute)
	other.Pass(0)
	in, _ = ask(other, "shop").people()
	assert.Empty(t, in)
	require.True(t, v.Get("/").In())
	in, _ = ask(other, "shop").people()
	assert.Equal(t, []any{nil}, in, "who comes anew has nothing said of them")
}

func TestWhatIsTooLongOrNoJSONIsRefused(t *testing.T) {
	core, logs := observer.New(zap.ErrorLevel)
	f := gatetest.Start(t, telling(5), func(_ *proxy.Config, o *proxy.Options) { o.Log = zap.New(core) })
	says(f.Site)
	long := strings.Repeat("x", 510)
	enters(f, `"`+long+`"`)
	assert.Empty(t, logs.All())
	enters(f, `"`+long+`x"`)
	enters(f, `Ann`)
	require.True(t, f.Visitor().Get("/", token(t, f, "7", long+"x")).In())
	in, _ := ask(f, "shop").people()
	assert.ElementsMatch(t, []any{long, nil, nil, nil}, in)
	require.Len(t, logs.All(), 1, "once")
	assert.Equal(t, "it is longer than 512 bytes of JSON", logs.All()[0].ContextMap()["problem"])
	assert.Equal(t, "shop", logs.All()[0].ContextMap()["room"])
}

func TestStrangersAreToldNothing(t *testing.T) {
	f := gatetest.Start(t, telling(2), func(c *proxy.Config, _ *proxy.Options) {
		silent := c.Rooms[0]
		silent.Name, silent.Routes[0].Path, silent.Options = "silent", "/silent", nil
		c.Rooms[0].Routes = append(silent.Routes[:0:0], c.Rooms[0].Routes...)
		c.Rooms[0].Routes[0].Path = "/"
		c.Rooms = append(c.Rooms, silent)
	})
	in := f.Visitor()
	require.True(t, in.Get("/").In())
	for name, says := range map[string]func(*http.Request){
		"nothing":        gatetest.With("X-Nothing", ""),
		"a wrong key":    gatetest.With("Authorization", "Bearer "+key+"x"),
		"another scheme": gatetest.With("Authorization", "Basic "+key),
		"no key":         gatetest.With("Authorization", "Bearer "),
	} {
		for _, accept := range []string{"application/json", "text/event-stream"} {
			a := in.Get(path+"shop", says, gatetest.With("Accept", accept))
			assert.Equal(t, http.StatusUnauthorized, a.Status, name)
			assert.Equal(t, "Bearer", a.Header.Get("WWW-Authenticate"))
			assert.NotContains(t, a.Body, "occupants\"")
		}
	}
	for _, room := range []string{"", "nowhere", "shop.x", "silent"} {
		assert.Equal(t, http.StatusNotFound, in.Get(path+room, signed).Status, "%q", room)
	}
	assert.Equal(t, http.StatusMethodNotAllowed, in.Send(http.MethodPost, path+"shop", nil, signed).Status)
}

func TestAVisitorSaysNothingOfThemselves(t *testing.T) {
	f := gatetest.Start(t, telling(2), gatetest.Room(func(r *proxy.RoomConfig) { r.Subject.LabelHeader = "X-Name" }))
	f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header { // as a careless site might
			w.Header()[name] = values
		}
		_, _ = w.Write([]byte("in"))
	})
	forged := func(r *http.Request) {
		for _, name := range []string{"Fairdoor-Visitor", "Fairdoor_visitor", "fairdoor-visitor", "X-Name"} {
			r.Header[name] = []string{`"root"`}
		}
	}
	for range 2 {
		require.Equal(t, http.StatusOK, f.Visitor().Get("/", forged).Status)
	}
	in, _ := ask(f, "shop").people()
	assert.Equal(t, []any{nil, nil}, in)
}

func TestARoomWithoutKeysPassesTheHeaderOver(t *testing.T) {
	f := gatetest.Start(t)
	says(f.Site)
	enters(f, `"Ann"`)
	assert.Contains(t, f.API(http.MethodGet, "/api/v1/rooms/shop/visitors", "", nil).Body, `"active"`)
	assert.NotContains(t, f.API(http.MethodGet, "/api/v1/rooms/shop/visitors", "", nil).Body, "Ann")
}

func TestALineIsToldWithRanksAndComesIn(t *testing.T) {
	one, other := gatetest.StartTwo(t, telling(1), inLine, func(_ *proxy.Config, o *proxy.Options) { o.SyncInterval = 10 * time.Millisecond })
	says(one.Site)
	enters(one, `"Ann"`)
	ben, cid := one.Visitor(), other.Visitor()
	isBen, isCid := token(t, one, "7", "Ben"), token(t, one, "8", "Cid")
	require.False(t, ben.Get("/", isBen).In())
	require.False(t, cid.Get("/", isCid).In())
	l := ask(other, "shop")
	in, waiting := l.people()
	assert.Equal(t, []any{"Ann"}, in)
	assert.Equal(t, []any{"Ben", "Cid"}, waiting)
	assert.Equal(t, 1, l.Line[0].Rank)
	assert.Equal(t, 2, l.Line[1].Rank)

	stream := other.Visitor().ListenTo(path+"shop", signed)
	whole := stream.Next("occupants").Data
	assert.Len(t, whole["occupants"], 1)
	assert.Len(t, whole["line"], 2)
	annID := l.Occupants[0].ID
	one.API(http.MethodDelete, "/api/v1/rooms/shop/visitors/"+annID, "", nil)
	for range 3 {
		one.Pass(time.Second)
		other.Pass(time.Second)
	}
	assert.Equal(t, annID, stream.Next("out").Data["id"])
	one.Pass(gatetest.Interval)
	require.True(t, ben.Get("/", isBen).In())
	other.Pass(time.Second)
	assert.Equal(t, l.Line[0].ID, stream.Next("left").Data["id"])
	assert.Equal(t, "Ben", stream.Next("in").Data["data"])
	require.True(t, ben.Get(`/?say="Benjamin"`).In())
	other.Pass(time.Second)
	changed := stream.Next("data").Data
	assert.Equal(t, l.Line[0].ID, changed["id"])
	assert.Equal(t, "Benjamin", changed["data"])
	require.False(t, one.Visitor().Get("/", token(t, one, "9", "Dan")).In())
	other.Pass(time.Second)
	joined := stream.Next("joined").Data
	assert.Equal(t, "Dan", joined["data"])
	assert.Equal(t, 2., joined["rank"])
	other.Drain()
	assert.Empty(t, stream.Rest(), "the program opens another at another gate")
}

func TestAGateTellsOfARoomThatOnlyAnotherKnows(t *testing.T) {
	one, other := gatetest.StartTwo(t, telling(2), gatetest.Family())
	says(one.Site)
	require.True(t, one.Visitor().Get(`/room/garden?say="Ann"`).In())
	in, _ := ask(other, "chat.garden").people()
	assert.Equal(t, []any{"Ann"}, in)
	in, _ = ask(other, "chat.Kitchen").people()
	assert.Empty(t, in)
	assert.Equal(t, http.StatusNotFound, other.Visitor().Get(path+"chat.a/b", signed).Status)
}

func TestAStoreThatDoesNotAnswerIsSaid(t *testing.T) {
	var store gatetest.Fallible
	f := gatetest.Start(t, telling(2), store.Between)
	says(f.Site)
	require.True(t, f.Visitor().Get("/").In())
	store.Failing.Store(true)
	for _, accept := range []string{"application/json", "text/event-stream"} {
		assert.Equal(t, http.StatusServiceUnavailable, f.Visitor().Get(path+"shop", signed, gatetest.With("Accept", accept)).Status)
	}
}

func TestNobodyIsLostWhenAGateIsKilledAndStartsAgain(t *testing.T) {
	dir := t.TempDir()
	store, err := memstore.Open(dir)
	require.NoError(t, err)
	defer func() { assert.NoError(t, store.Close()) }()
	f := gatetest.Start(t, telling(2), func(_ *proxy.Config, o *proxy.Options) { o.Store = store })
	says(f.Site)
	enters(f, `"Ann"`)
	enters(f, `"Ben"`)

	left := t.TempDir() // what a kill leaves
	require.NoError(t, os.CopyFS(left, os.DirFS(dir)))
	again, err := memstore.Open(left)
	require.NoError(t, err)
	defer func() { assert.NoError(t, again.Close()) }()
	in, _ := ask(gatetest.Start(t, telling(2), func(_ *proxy.Config, o *proxy.Options) { o.Store, o.Clock = again, f.Clock.Now }), "shop").people()
	assert.Equal(t, []any{"Ann", "Ben"}, in)
}

// mortal is the store as a gate has it that can be killed: from then on it hears nothing of the gate.
// It is patient, as the machine may be busy.
type mortal struct {
	queue.Store
	killed atomic.Bool
}

func (m *mortal) try(call func() error) (err error) {
	for range 100 {
		if m.killed.Load() {
			return errors.New("killed")
		}
		if err = call(); err == nil {
			break
		}
	}
	return err
}

func (m *mortal) Admit(ctx context.Context, room string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (s queue.Status, err error) {
	err = m.try(func() error {
		s, err = m.Store.Admit(ctx, room, p, claims, grants)
		return err
	})
	return s, err
}

func (m *mortal) Sync(ctx context.Context, room string, p *queue.Report) (v *queue.View, err error) {
	err = m.try(func() error {
		v, err = m.Store.Sync(ctx, room, p)
		return err
	})
	return v, err
}

func (m *mortal) Roster(ctx context.Context, room string, ids []queue.ID) (l *queue.Roster, err error) {
	err = m.try(func() error {
		l, err = m.Store.Roster(ctx, room, ids)
		return err
	})
	return l, err
}

func TestNobodyIsLostWhenOneOfTwoGatesIsKilled(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	gate := func(keys []cookie.Key) (*gatetest.Fixture, *mortal) {
		store, _, err := redisstore.Open(t.Context(), server.URL())
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, store.Close()) })
		m := &mortal{Store: store}
		return gatetest.Start(t, telling(10), gatetest.InRealTime, func(c *proxy.Config, o *proxy.Options) {
			o.Store = m
			if keys != nil {
				c.Keys = keys
			}
		}), m
	}
	one, kill := gate(nil)
	other, _ := gate(one.Config.Keys)
	says(one.Site)
	stream := other.Visitor().ListenTo(path+"shop", signed)
	stream.Next("occupants")
	for i := range 10 {
		enters(one, strconv.Itoa(i))
	}
	kill.killed.Store(true)
	in, _ := ask(other, "shop").people()
	var want []any
	for i := range 10 {
		want = append(want, float64(i))
		stream.Next("in")
	}
	assert.ElementsMatch(t, want, in)
}

// counted counts the calls of a store.
type counted struct {
	queue.Store
	rosters, syncs atomic.Int64
}

func (c *counted) Roster(ctx context.Context, room string, ids []queue.ID) (*queue.Roster, error) {
	c.rosters.Add(1)
	return c.Store.Roster(ctx, room, ids)
}

func (c *counted) Sync(ctx context.Context, room string, p *queue.Report) (*queue.View, error) {
	c.syncs.Add(1)
	return c.Store.Sync(ctx, room, p)
}

func TestManyStreamsAskTheStoreNoMoreThanOne(t *testing.T) {
	store := &counted{Store: memstore.New()}
	f := gatetest.Start(t, telling(9), func(_ *proxy.Config, o *proxy.Options) { o.Store, o.SyncInterval = store, 10*time.Millisecond })
	says(f.Site)
	streams := make([]*gatetest.Listener, 8)
	for i := range streams {
		streams[i] = f.Visitor().ListenTo(path+"shop", signed)
		streams[i].Next("occupants")
	}
	for range 5 {
		enters(f, `"Ann"`)
		f.Pass(time.Second)
		for _, s := range streams {
			s.Next("in")
		}
	}
	asked := store.rosters.Load()
	assert.LessOrEqual(t, asked, store.syncs.Load()+2, "one question for each sync, and one before the first")
}

func TestALongListIsWholeInOrderOfEntryAndNoStreamFollowsIt(t *testing.T) {
	const people = 2*queue.MaxRoster + 1
	f := gatetest.Start(t, telling(people), gatetest.Settings(func(s *queue.Settings) { s.NewUsersPerMinute = people }),
		func(_ *proxy.Config, o *proxy.Options) { o.SyncInterval = 10 * time.Millisecond })
	stream := f.Visitor().ListenTo(path+"shop", signed)
	stream.Next("occupants")
	for range people {
		require.True(t, f.Visitor().Get("/").In())
		f.Clock.Add(time.Millisecond)
	}
	l := ask(f, "shop")
	assert.Len(t, l.Occupants, people)
	assert.False(t, l.Truncated)
	assert.True(t, slices.IsSortedFunc(l.Occupants, func(a, b person) int { return a.AcceptedAt.Compare(b.AcceptedAt) }))
	assert.NotContains(t, stream.Rest(), "out")
	refused := f.Visitor().Get(path+"shop", signed, gatetest.With("Accept", "text/event-stream"))
	assert.Equal(t, http.StatusConflict, refused.Status, refused.Body)
}

func TestALongLineIsListedInItsOrder(t *testing.T) {
	const people = queue.MaxRoster + 100
	f := gatetest.Start(t, telling(1), inLine)
	enters(f, "1")
	for i := range people {
		require.False(t, f.Visitor().Get("/", token(t, f, strconv.Itoa(i), i)).In())
	}
	l := ask(f, "shop")
	require.Len(t, l.Line, people)
	for i, p := range l.Line {
		require.Equal(t, float64(i), p.Data, "who came as the one after so many")
		require.Equal(t, i+1, p.Rank)
	}
}
