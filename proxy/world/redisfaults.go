package world

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// faultsOfRedis befall gates that share a Redis.
var faultsOfRedis = []faultKind{
	{"gate killed", drawKill, kill},
	{linkCut, drawWayCut, cut},
	{repliesLost, drawLosses, loseReplies},
	{"replies late", drawMoment, delayReplies},
	{"commands twice", drawMoment, doubleCommands},
	{"Redis slow", drawSlow, slow},
	{"Redis restarted", drawMoment, restartRedis},
	{"Redis flushed", drawFillingMoment, flush},
	{keyLost, drawMoment, loseKey},
	{"failover", drawFillingMoment, failOver},
	{"scripts flushed", drawMoment, flushScripts},
	{"clock of Redis set", drawMoment, setClock},
	{"gate restarted", drawKill, restartGate},
}

const (
	linkCut     = "link cut" // a gate is cut off from Redis
	repliesLost = "replies lost"
	keyLost     = "key lost"
)

func cut(w *world, f *Fault) {
	w.note("the link of gate %d is cut for %v", f.Gate, f.Lasts)
	w.machines[f.Gate-1].wire.cut.Store(int64(w.history.now() + f.Lasts))
	wait(f.Lasts)
	w.note("the link of gate %d is whole", f.Gate)
}

// drawFillingCut draws a cut, mostly one that begins while the room fills: some slots are open then,
// and more people come than there are.
func drawFillingCut(p *Plan, r *rand.Rand) Fault {
	f := drawWayCut(p, r)
	if r.IntN(4) == 0 {
		return f
	}
	f.At = p.fills(r.IntN(p.first())) + time.Second + time.Duration(r.Int64N(int64(time.Second)))
	f.Lasts = 20*time.Second + time.Duration(r.Int64N(int64(time.Minute)))
	return f
}

// drawFillingMoment draws a moment, mostly just before one of the last comes who may be let in at
// first: nobody has left then, and it shows if anything is forgotten.
func drawFillingMoment(p *Plan, r *rand.Rand) Fault {
	f := drawMoment(p, r)
	if f.Size%4 != 0 {
		f.At = max(time.Second, p.fills(max(p.first()-1-int(f.Size/4%4), 0))-time.Duration(f.Size%uint64(200*time.Millisecond)))
	}
	return f
}

// first is how many may be let in at first.
func (p *Plan) first() int {
	return min(p.Settings.TotalActiveUsers, p.Settings.NewUsersPerMinute, len(p.People))
}

// fills is when so many have come, at the start of a sale at the earliest.
func (p *Plan) fills(n int) time.Duration {
	var joins []time.Duration
	for i := range p.People {
		joins = append(joins, p.People[i].Joins)
	}
	slices.Sort(joins)
	return p.Sale.Start + joins[n]
}

// drawLosses draws some moments, one after the other, at which replies are lost.
func drawLosses(p *Plan, r *rand.Rand) Fault {
	return Fault{At: p.moment(r), Lasts: time.Duration(r.IntN(60)) * time.Second, Gate: 1 + r.IntN(p.Gates), Size: r.Uint64()}
}

// loseReplies has a reply of Redis get lost every few seconds, or up to three that follow each
// other.
func loseReplies(w *world, f *Fault) {
	size, until := f.Size, w.history.now()+f.Lasts
	for {
		w.machines[f.Gate-1].wire.lose.Store(int64(1 + size%3))
		w.note("gate %d loses %d replies", f.Gate, 1+size%3)
		if w.history.now() >= until {
			return
		}
		size = mix(size, f.Size)
		wait(3*time.Second + time.Duration(size%uint64(5*time.Second)))
	}
}

// delayReplies has some replies of Redis come later than a gate waits for them, or just in time.
func delayReplies(w *world, f *Fault) {
	w.machines[f.Gate-1].wire.late.Store(int64(1 + f.Size%10))
	w.note("%d replies to gate %d are late", 1+f.Size%10, f.Gate)
}

// doubleCommands has some commands come to Redis twice.
func doubleCommands(w *world, f *Fault) {
	w.machines[f.Gate-1].wire.twice.Store(int64(1 + f.Size%10))
	w.note("%d commands of gate %d come twice", 1+f.Size%10, f.Gate)
}

// drawSlow draws a time in which each way to Redis takes longer.
func drawSlow(p *Plan, r *rand.Rand) Fault {
	return Fault{At: p.moment(r), Lasts: time.Duration(1+r.IntN(30)) * time.Second, Gate: 1 + r.IntN(p.Gates), Size: uint64(5 + r.IntN(100))}
}

func slow(w *world, f *Fault) {
	of := &w.machines[f.Gate-1].wire
	w.note("each way between gate %d and Redis takes %d ms longer, for %v", f.Gate, f.Size, f.Lasts)
	of.slow.Store(int64(time.Duration(f.Size) * time.Millisecond))
	wait(f.Lasts)
	of.slow.Store(0)
	w.note("the ways between gate %d and Redis are as before", f.Gate)
}

// server names a process of Redis.
func (w *world) server() string { return fmt.Sprintf("redis%d", w.history.now()) }

// leave has Redis answer nobody for a time in which another server takes its place: no less than
// package redisstore counts on. Half of them are so short that nobody notices by the time alone.
func (w *world) leave(f *Fault) {
	most := []time.Duration{600 * time.Millisecond, 5 * time.Second}[f.Size/16%2]
	d := 300*time.Millisecond + time.Duration(f.Size%uint64(most))
	var all sync.WaitGroup
	for _, m := range w.machines {
		all.Go(func() { m.wire.fail(d) })
	}
	all.Wait()
}

func restartRedis(w *world, f *Fault) {
	w.note("Redis restarts")
	w.redis.Restart(w.server())
	w.leave(f)
	w.note("Redis has what it had")
}

func flush(w *world, _ *Fault) {
	w.note("Redis is flushed")
	w.redis.Flush()
}

func flushScripts(w *world, _ *Fault) {
	w.note("the scripts are flushed")
	w.redis.FlushScripts()
}

func loseKey(w *world, f *Fault) { w.note("Redis loses the key %s", w.redis.Drop(f.Size)) }

// failOver has a replica take over that lacks the last second, or less: some gates may have told
// Redis nothing in it.
func failOver(w *world, f *Fault) {
	lacks := []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, time.Second}[f.Size/32%3]
	copied := w.redis.Copy()
	wait(lacks)
	w.note("Redis is gone")
	w.redis.FailOver(w.server(), copied)
	w.leave(f)
	w.note("a replica takes over that lacks the last %v", lacks)
}

// setClock sets the clock of the machine of Redis, forward or back. A room follows steps of less
// than five seconds.
func setClock(w *world, f *Fault) {
	by := []time.Duration{10 * time.Second, 10 * time.Minute, time.Hour}[f.Size%3]
	if f.Size/3%2 == 0 {
		by = -by
	}
	w.note("the clock of Redis is set by %v", by)
	w.redisAhead.Add(int64(by))
}
