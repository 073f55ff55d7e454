package draws_test

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

var secretInAStore = regexp.MustCompile(`"secret":\s*"([0-9a-f]{64})"`)

func TestTheOrderOfAShuffledPrequeueIsASecretUntilItIsOver(t *testing.T) {
	one, _, crowd := gatetest.Shuffled(t, 3)
	var e struct {
		Draw struct {
			SeedHash string `json:"seed_hash"`
			Seed     string `json:"seed"`
		} `json:"draw"`
	}
	one.API(http.MethodGet, "/api/v1/rooms/shop/events/sale", "", &e)
	require.Len(t, e.Draw.SeedHash, 64)
	assert.Empty(t, e.Draw.Seed)
	assert.Equal(t, http.StatusConflict, one.API(http.MethodGet, "/api/v1/rooms/shop/events/sale/order", "", nil).Status)
	for _, path := range []string{"", "/shop", "/shop/status", "/shop/visitors", "/shop/events", "/shop/events/sale", "/shop/events/sale/details"} {
		body := one.API(http.MethodGet, "/api/v1/rooms"+path, "", nil).Body
		assert.False(t, secretInAStore.MatchString(body), path)
		assert.NotContains(t, body, `"secret"`, path)
	}
	one.Clock.Add(21 * time.Second)
	for i, v := range crowd {
		a := v.Get("/", gatetest.AsJSON)
		assert.Equal(t, e.Draw.SeedHash, a.Told("shuffleSeedHash"))
		assert.Len(t, a.Told("shuffleEntry"), 16)
		for name, want := range map[string]any{"shuffleAtEventStart": true, "shuffleSeed": "", "usersAheadKnown": false, "usersAhead": 0., "position": 0., "placedAt": ""} {
			assert.Equal(t, want, a.Told(name), name)
		}
		arrived, err := time.Parse(time.RFC3339Nano, a.Told("arrivedAt").(string))
		require.NoError(t, err)
		// The clock may have moved between a gate's look at it and at the store's.
		assert.WithinDuration(t, gatetest.Opening.Add(time.Minute+time.Duration(i)*10*time.Millisecond), arrived, 10*time.Millisecond, "they are told when they truly came")
		assert.Equal(t, arrived.Truncate(time.Minute).Format("2006-01-02T15:04:05.000Z"), a.Told("bucketId"), "and not the place that is drawn")
		page := v.Get("/").Body
		assert.Contains(t, page, "The order is drawn at the start.")
		assert.Contains(t, page, `Your number in the draw: <code id="entry" dir="ltr">`+a.Told("shuffleEntry").(string)+"</code>")
	}
}

func TestAShuffledPrequeueIsAdmittedInTheOrderThatIsPublished(t *testing.T) {
	t.Parallel()
	const people, late = 120, 10
	one, other, crowd := gatetest.Shuffled(t, people)
	entries := make([]string, people)
	for i, v := range crowd {
		a := v.Get("/", gatetest.AsJSON)
		entries[i] = a.Told("shuffleEntry").(string)
	}
	startsIn := func() time.Duration { return gatetest.Opening.Add(6 * time.Minute).Sub(one.Clock.Now()) }
	one.Clock.Add(startsIn() - 70*time.Second)
	c := &rounds{one: one, other: other, crowd: crowd}
	c.run(func() bool { return startsIn() <= 0 })
	require.Empty(t, c.admitted)
	gatetest.Stands(t, "queueing", one, other)
	for i := range late {
		v := one.Visitor()
		require.False(t, v.Get(fmt.Sprintf("/?who=%d", people+i)).In())
		c.crowd = append(c.crowd, v)
	}
	c.run(func() bool { return len(c.admitted) == people+late || startsIn() < -10*time.Minute })
	require.Len(t, c.admitted, people+late)

	var orders []event.Order
	for _, f := range []*gatetest.Fixture{one, other} {
		a := f.API(http.MethodGet, "/api/v1/rooms/shop/events/sale/order", "", nil)
		require.Equal(t, http.StatusOK, a.Status)
		order, err := event.ReadOrder(strings.NewReader(a.Body))
		require.NoError(t, err)
		assert.Len(t, order.Lines, people/2, "each gate has those who came to it")
		orders = append(orders, order)
	}
	whole, err := event.Join(orders)
	require.NoError(t, err)
	require.Len(t, whole.Lines, people)
	moved := 0.
	for i, l := range whole.Lines {
		who := slices.Index(entries, l.Entry)
		require.GreaterOrEqual(t, who, 0, "everybody finds their own entry")
		moved += math.Abs(float64(i - slices.Index(c.admitted, who)))
	}
	// Ten are admitted in ten seconds. In an order that is not the published one, each would be 40
	// places away from their own.
	assert.Less(t, moved/people, 10., "places that each is away from the published one, on the average")
	for i, who := range c.admitted {
		assert.Equal(t, who >= people, i >= people, "who came after the start is behind all others")
	}
}

// noted are the entries that stand in the state directory of a gate which runs.
func noted(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "draws", "shop", "sale", "*"))
	require.NoError(t, err)
	if len(files) == 0 {
		return nil
	}
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	return strings.Fields(string(text))
}

func TestOnlyThoseWhoComeBackHaveEntries(t *testing.T) {
	dir := t.TempDir()
	e := gatetest.SaleAt(gatetest.Opening.Add(6*time.Minute), 5*time.Minute, true)
	f := gatetest.Start(t, gatetest.Planned(e), func(_ *proxy.Config, o *proxy.Options) { o.StateDir = dir })
	f.Clock.Add(time.Minute)
	gatetest.Stands(t, "event_prequeueing", f)
	for range 20 {
		f.Visitor().Get("/")
	}
	early, late := f.Visitor(), f.Visitor()
	early.Get("/")
	require.Empty(t, noted(t, dir), "nobody has come back")
	f.Clock.Add(21 * time.Second)
	entry := early.Get("/", gatetest.AsJSON).Told("shuffleEntry")
	assert.Equal(t, []string{entry.(string)}, noted(t, dir))
	f.Clock.Add(4*time.Minute + 29*time.Second)
	name := late.Get("/", gatetest.AsJSON).Told("shuffleEntry").(string)
	f.Clock.Add(30 * time.Second)
	gatetest.Stands(t, "not_queueing", f)
	require.True(t, late.Get("/").In(), "they first come back after the start")
	assert.Equal(t, []string{entry.(string), name}, noted(t, dir), "and are noted before they are let in")
	order, err := event.ReadOrder(strings.NewReader(f.API(http.MethodGet, "/api/v1/rooms/shop/events/sale/order", "", nil).Body))
	require.NoError(t, err)
	assert.Len(t, order.Lines, 2)
}

// rounds are the check-ins of a crowd at two gates, whose members check in whenever they are due.
type rounds struct {
	one, other *gatetest.Fixture
	crowd      []*gatetest.Visitor
	due        map[*gatetest.Visitor]time.Time
	admitted   []int // in order
}

// run has the crowd check in, twice in a second, until it is done.
func (c *rounds) run(done func() bool) {
	for ; !done(); c.one.Clock.Add(500 * time.Millisecond) {
		c.one.Status("shop")
		c.other.Status("shop")
		for i, v := range c.crowd {
			if slices.Contains(c.admitted, i) || c.one.Clock.Now().Before(c.due[v]) {
				continue
			}
			a := v.Get("/", gatetest.AsJSON)
			if a.In() {
				c.admitted = append(c.admitted, i)
				continue
			}
			if c.due == nil {
				c.due = map[*gatetest.Visitor]time.Time{}
			}
			c.due[v] = c.one.Clock.Now().Add(time.Duration(a.Told("refreshLeftSeconds").(float64)) * time.Second)
		}
	}
}
