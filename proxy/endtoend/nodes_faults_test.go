//go:build soak

package endtoend_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// faults are a run in which everything breaks that can, as one source of chance
// has it.
type faults struct {
	*nodes
	rand   *rand.Rand
	dumps  []dump      // what keys once held
	deaths []time.Time // of gates
}

type dump struct{ key, value string }

// The room's keys, by the beginnings of their names.
const (
	keysOfRoom  = "fairdoor:{default}:"
	metaOfRoom  = keysOfRoom + "meta"
	listsOfRoom = keysOfRoom + "places:"
)

// faultsFor is how long things go on breaking.
const faultsFor = 15 * time.Second

// Server, keys, scripts, gates and clocks fail together. The limit is kept but for
// those whom a gate let in shortly before it died, no request of whoever is in is
// refused, no gate ends, and in the end the line moves again.
func TestAllFaultsTogether(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	f := &faults{rand: rand.New(rand.NewPCG(seed, 0))}
	method := []string{"fifo", "random", "line"}[f.rand.IntN(3)]
	t.Logf("seed %d: a room with the method %s", seed, method)
	l := limits{active: 15, perMinute: 100_000, session: 3 * time.Second}
	f.nodes = serveNodes(t, 3, l, "--queueing-method", method, "--line-dropout", "3s")
	c := f.crowd()
	c.breaking(true)
	c.come("visitor", 120, func(int) person {
		return person{delay: upTo(faultsFor), browse: upTo(2 * time.Second), patience: 10 * time.Second}
	})
	for began := time.Now(); time.Since(began) < faultsFor; {
		f.setDown()
		key := f.oneOf(f.loseKey, f.changeKey, f.restoreKey)
		f.oneOf(f.killGate, f.killServer, f.freezeServer, f.forgetScripts, f.jumpClock, key, key, key)()
		f.wait(2 * time.Second)
	}
	from := time.Now()
	c.come("latecomer", 5, func(int) person { return person{} })
	require.Eventually(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.ContainsFunc(mapValues(c.admitted), from.Before)
	}, resumed+l.session+settled, 20*time.Millisecond, "somebody is let in again")
	t.Logf("somebody is let in again after %v", time.Since(from).Round(10*time.Millisecond))
	c.end()
	f.judge()
	for i, g := range f.gates {
		assert.Equal(t, 200, g.ready(), "gate %d", i)
		assert.NotContains(t, g.log.String(), "WRONGTYPE", "gate %d", i)
		assert.NotContains(t, g.log.String(), "something else", "gate %d", i)
	}
}

func mapValues(m map[string]time.Time) (list []time.Time) {
	for _, v := range m {
		list = append(list, v)
	}
	return list
}

// judge asserts that no more were in than may be. Whom a gate has let in nobody tells
// a store again that forgets them before the other gates hear, once the gate is dead.
func (f *faults) judge() {
	f.t.Helper()
	all := f.limits
	all.active = 1 << 30
	admissions := judgeLimits(f.t, f.origin.all(), all)
	most := 0
	for _, a := range admissions {
		excused := 0
		for _, death := range f.deaths {
			if a.seen.Before(death) || a.seen.Sub(death) > f.limits.session+resumed {
				continue
			}
			for _, before := range admissions {
				if before.seen.Before(death) && death.Sub(before.sent) < settled {
					excused++
				}
			}
		}
		most = max(most, a.active)
		assert.LessOrEqual(f.t, a.active, f.limits.active+excused, "people active at %v", a.seen.Format("05.000"))
	}
	f.t.Logf("at most %d of %d", most, f.limits.active)
}

func (f *faults) note(format string, args ...any) {
	f.t.Logf("%s "+format, append([]any{time.Now().Format("05.000")}, args...)...)
}

func (f *faults) oneOf(list ...func()) func() { return list[f.rand.IntN(len(list))] }

// wait waits for less than the time given.
func (f *faults) wait(most time.Duration) { <-time.After(time.Duration(f.rand.Int64N(int64(most)))) }

// killGate kills a gate and starts it again once the others know the store as it is
// now: to one that is the first to ask, a store that has forgotten everything is new.
func (f *faults) killGate() {
	g := f.gates[f.rand.IntN(len(f.gates))]
	f.note("a gate dies")
	others := slices.DeleteFunc(slices.Clone(f.gates), func(other *gate) bool { return other == g })
	f.only(others...)
	f.deaths = append(f.deaths, time.Now())
	g.kill()
	f.wait(time.Second)
	alive := &nodes{gates: others}
	f.until("the others have the store", func() bool { return alive.failing(false) })
	f.note("and is back")
	g.start()
	f.only(f.gates...)
}

func (f *faults) killServer() {
	f.note("the server dies with all that it knows")
	f.redis.Kill()
	f.wait(time.Second)
	f.redis.Restart(true)
}

func (f *faults) freezeServer() {
	f.note("the server stands still")
	f.redis.Stop()
	f.wait(3 * time.Second)
	f.redis.Cont()
}

func (f *faults) keys() []string {
	f.t.Helper()
	keys, err := f.redis.Client().Keys(f.t.Context(), keysOfRoom+"*").Result()
	require.NoError(f.t, err)
	slices.Sort(keys)
	return keys
}

// key draws one of the room's keys; the many lists of an exact line count as one.
func (f *faults) key() string {
	keys := f.keys()
	lists := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !strings.HasPrefix(key, listsOfRoom) })
	keys = slices.DeleteFunc(keys, func(key string) bool { return strings.HasPrefix(key, listsOfRoom) })
	if len(lists) > 0 {
		keys = append(keys, lists[f.rand.IntN(len(lists))])
	}
	if len(keys) == 0 {
		return metaOfRoom
	}
	return keys[f.rand.IntN(len(keys))]
}

func (f *faults) loseKey() {
	key := f.key()
	f.note("%s is lost", key)
	f.redis.Do("DEL", key)
}

func (f *faults) changeKey() {
	key := f.key()
	f.note("%s is of another type", key)
	f.redis.Do("DEL", key)
	f.oneOf(func() { f.redis.Do("SET", key, "x") }, func() { f.redis.Do("RPUSH", key, "x") })()
}

// setDown takes down what the keys hold.
func (f *faults) setDown() {
	for _, key := range f.keys() {
		if value, ok := f.redis.Do("DUMP", key).(string); ok {
			f.dumps = append(f.dumps, dump{key, value})
		}
	}
}

func (f *faults) restoreKey() {
	if len(f.dumps) == 0 {
		return
	}
	d := f.dumps[f.rand.IntN(len(f.dumps))]
	f.note("%s is as it was", d.key)
	f.redis.Do("RESTORE", d.key, 0, d.value, "REPLACE")
}

func (f *faults) forgetScripts() {
	f.note("the scripts are forgotten")
	f.redis.Do("SCRIPT", "FLUSH")
}

// jumpClock makes the server's clock jump, as far as the room can tell.
func (f *faults) jumpClock() {
	by := f.rand.IntN(60_000) - 30_000
	f.note("the server's clock jumps by %d ms", by)
	if f.redis.Do("TYPE", metaOfRoom) == "hash" {
		f.redis.Do("HINCRBY", metaOfRoom, "offset", by)
	}
}
