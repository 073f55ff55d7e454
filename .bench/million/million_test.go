// Package million_test has a sale for a million people at one gate, in virtual time: make
// bench-million runs it.
package million_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/measure"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
)

var (
	people    = flag.Int("people", 1_000_000, "how many come")
	minutes   = flag.Int("minutes", 30, "how long the sale is watched")
	alike     = flag.Int("alike", 5, "of how many people one comes to the sale in which all ask every 20 s; 0 for no such sale")
	withRedis = flag.Int("redis", 5, "for how many minutes, in real time, the sale is at a gate with a Redis; 0 for no such sale")
	strict    = flag.Bool("strict", false, "fail when a target is missed")
	profile   = flag.String("profile", "", "a `file` for the profile of the processor's time")
	heap      = flag.String("heap", "", "a `file` for the profile of the heap")
)

// The sale.
const (
	perMinute   = 600
	comesWithin = 3 * time.Minute
	allowed     = 10                                              // seconds of admissions by which a place may be wrong
	bucket      = perMinute * int(queue.CutTime/time.Second) / 60 // people whom the line does not tell apart at its head
)

// sale is one sale and what is measured of it.
type sale struct {
	share   int     // one of so many people has come
	sells   int     // how many are let in while it is watched
	memory  float64 // of the gate, in MiB
	crowd   []visitor
	wheel   wheel
	present line
	rng     *rand.Rand
	gate    *proxy.Gate
	now     int32
	begun   time.Time

	polls   int
	perMin  []time.Duration // processor time of each minute
	pollsIn []int           // of each minute
	near    places          // that were told to those whose turn comes within the sale
	far     places          // and to others
	in      []int32         // who was let in, in order

	answer answer

	mu    sync.Mutex      // held while the above change
	apart *sync.WaitGroup // of the requests under way, where these may have to wait for claims of others; nil where one ends before the next
}

// places are those that people were told.
type places struct {
	told, known, right int
	wrong              [20]int // by less than 1, 2, 4, 8 … seconds of admissions
}

// answer takes an answer. Its parts are used again.
type answer struct {
	header http.Header
	status int
	body   []byte
}

func (a *answer) Header() http.Header    { return a.header }
func (a *answer) WriteHeader(status int) { a.status = status }
func (a *answer) Write(p []byte) (int, error) {
	a.body = append(a.body, p...)
	return len(p), nil
}

func TestASaleForAMillion(t *testing.T) {
	fmt.Printf("%d are let in a minute; of those who come, within %v, %.0f %% give up, and %.0f %% lock their phones for a while\n", perMinute, comesWithin, 100*giveUp, 100*(1-giveUp)*phones)
	missed := 0
	if *profile != "" {
		f, err := os.Create(*profile)
		require.NoError(t, err)
		require.NoError(t, pprof.StartCPUProfile(f))
	}
	sell(t, fmt.Sprintf("%s people at one gate, in virtual time", measure.Grouped(*people)), *people, 0, func(s *sale) {
		for range *minutes {
			s.minute()
		}
	}).report(&missed)
	pprof.StopCPUProfile()
	if *alike > 0 {
		s := sell(t, fmt.Sprintf("beside it, %s people who all ask every 20 s", measure.Grouped(*people / *alike)), *people / *alike, 20*time.Second, func(s *sale) {
			for range min(*minutes, 8) {
				s.minute()
			}
		})
		s.share = *alike
		s.report(&missed)
	}
	if *withRedis > 0 {
		sellByRedis(t, &missed)
	}
	if *strict && missed > 0 {
		t.Fatalf("%d targets missed", missed)
	}
}

// sell has so many people come to a sale in virtual time.
func sell(t *testing.T, name string, people int, longest time.Duration, run func(s *sale)) *sale {
	s := newSale(name, people)
	without := inUse()
	synctest.Test(t, func(t *testing.T) {
		s.open(t, longest, proxy.Options{Store: memstore.New()})
		run(s)
		s.memory = (inUse() - without) / (1 << 20)
		if *heap != "" && longest == 0 {
			f, err := os.Create(*heap)
			require.NoError(t, err)
			require.NoError(t, pprof.Lookup("heap").WriteTo(f, 0))
			require.NoError(t, f.Close())
		}
		s.gate.Close()
	})
	return s
}

// sellByRedis has as many people come to a gate with a Redis, in real time, and says for how long a
// second it runs scripts, once all have come.
func sellByRedis(t *testing.T, missed *int) {
	s := newSale(fmt.Sprintf("%s people at a gate with a Redis, in real time", measure.Grouped(*people)), *people)
	redis := redistest.Start(t, redistest.Options{})
	store, _, err := redisstore.Open(t.Context(), redis.URL())
	require.NoError(t, err)
	s.apart = &sync.WaitGroup{}
	s.open(t, 0, proxy.Options{Store: store, SyncInterval: time.Second, Gather: redisstore.Gather, Slack: redisstore.Slack})
	var calls, took, used float64
	for m := range *withRedis {
		if m == int(comesWithin/time.Minute) {
			calls, took, used = scripts(t, redis)
		}
		s.minute()
	}
	seconds := float64(*withRedis)*60 - comesWithin.Seconds()
	callsAfter, tookAfter, usedAfter := scripts(t, redis)
	each := (tookAfter - took) / 1000 / seconds
	judge(missed, "Redis runs scripts for", fmt.Sprintf("%.2f ms a second", each), fmt.Sprintf("≤ %d ms", mostStore), each <= mostStore)
	tell("… scripts", fmt.Sprintf("%.1f a second, of %.0f µs each", (callsAfter-calls)/seconds, (tookAfter-took)/(callsAfter-calls)))
	tell("… its processor time, that for its connections included", fmt.Sprintf("%.2f ms a second", (usedAfter-used)*1000/seconds))
	behind := time.Since(s.begun) - time.Duration(s.now)*time.Millisecond
	tell("… the crowd was late by, at the end", behind.Round(time.Millisecond).String())
	s.apart.Wait()
	s.gate.Close()
	require.NoError(t, store.Close())
}

// scripts is how many scripts a Redis has run, and for how long, in microseconds: by the clock, also
// where other programs had its processor meanwhile. It also returns how much processor time the Redis has
// used, in seconds.
func scripts(t *testing.T, redis *redistest.Server) (calls, microseconds, used float64) {
	_, err := fmt.Sscanf(redis.Info("commandstats", "cmdstat_evalsha"), "calls=%f,usec=%f,", &calls, &microseconds)
	require.NoError(t, err)
	for _, field := range []string{"used_cpu_user", "used_cpu_sys"} {
		seconds, err := strconv.ParseFloat(redis.Info("cpu", field), 64)
		require.NoError(t, err)
		used += seconds
	}
	return calls, microseconds, used
}

// inUse is how much memory is in use, in bytes.
func inUse() float64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

func newSale(name string, people int) *sale {
	fmt.Println(name)
	rng := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // the crowd is to be the same each time
	return &sale{
		crowd: newCrowd(people, comesWithin, rng), wheel: newWheel(), present: make(line, people+1), rng: rng, in: make([]int32, 0, people),
		share: 1, sells: *minutes * perMinute, answer: answer{header: http.Header{}},
	}
}

// open opens the gate, and has the crowd come from now on.
func (s *sale) open(t *testing.T, longest time.Duration, o proxy.Options) {
	key, err := cookie.ParseKey(cookie.NewKey())
	require.NoError(t, err)
	site := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["In"] = nil
		w.Header()["Content-Type"] = []string{"text/html"}
		_, _ = io.WriteString(w, "in")
	})
	s.gate, err = proxy.New(t.Context(), proxy.Config{Keys: []cookie.Key{key}, Handler: site, Rooms: []proxy.RoomConfig{{
		Name: "sale", Routes: []route.Route{{Path: "/"}}, Basics: config.Basics{JSON: true},
		Settings: queue.Settings{TotalActiveUsers: 20_000, NewUsersPerMinute: perMinute, SessionDuration: 5 * time.Minute, RefreshIntervalMax: longest},
	}}}, o)
	require.NoError(t, err)
	s.begun = time.Now()
	for i := range s.crowd {
		s.wheel.add(s.crowd, int32(len(s.crowd)-1-i), s.crowd[len(s.crowd)-1-i].arrives)
	}
}

// minute has a minute pass.
func (s *sale) minute() {
	before, polls := processor(), s.polls
	s.mu.Lock()
	defer s.mu.Unlock()
	for end := s.now + int32(time.Minute.Milliseconds()); s.now < end; s.now++ {
		if s.wheel[s.now%spokes] != nobody {
			s.mu.Unlock()
			time.Sleep(time.Until(s.begun.Add(time.Duration(s.now) * time.Millisecond))) //nolint:forbidigo // the crowd's time, virtual or real
			s.mu.Lock()
			s.wheel.take(s.crowd, s.now, s.step)
		}
	}
	s.perMin, s.pollsIn = append(s.perMin, processor()-before), append(s.pollsIn, s.polls-polls)
	fmt.Printf("  minute %2d: %5.1f s of a core, %8s requests, %9s present, %6s in\n", len(s.perMin), s.perMin[len(s.perMin)-1].Seconds(),
		measure.Grouped(s.polls-polls), measure.Grouped(int(s.present.ahead(int32(len(s.crowd))))), measure.Grouped(len(s.in)))
}

// processor is the processor time of this process until now.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// step is the next thing that visitor i does: at the latest they are found absent once they are overdue.
func (s *sale) step(i int32) {
	v := &s.crowd[i]
	switch {
	case v.phase == waiting && v.leaves != 0 && v.leaves <= s.now:
		s.leave(i, v)
	case v.phase == waiting && v.locks != 0 && v.locks <= s.now && s.now < v.unlocks:
		s.lock(i, v)
	default:
		s.ask(i, v)
	}
}

// leave has a visitor give up. Who says nothing is present until they are overdue.
func (s *sale) leave(i int32, v *visitor) {
	if !v.goodbye && s.now < v.due {
		v.leaves = v.due
		s.wheel.add(s.crowd, i, v.due)
		return
	}
	if v.goodbye {
		s.polls++
		s.send(i, v, requests[goodbyeOf], &s.answer)
	}
	s.goes(i, v)
	v.phase = gone
}

// lock has a visitor's phone be locked. They are present until they are overdue.
func (s *sale) lock(i int32, v *visitor) {
	if s.now < v.due {
		s.wheel.add(s.crowd, i, min(v.due, v.unlocks))
		return
	}
	s.goes(i, v)
	s.wheel.add(s.crowd, i, v.unlocks)
}

// goes has a visitor be absent.
func (s *sale) goes(i int32, v *visitor) {
	if !v.absent {
		s.present.add(i, -1)
		v.absent, v.left = true, s.now
	}
}

// comes has a visitor be present.
func (s *sale) comes(i int32, v *visitor) {
	if v.absent {
		s.present.add(i, 1)
		v.absent, v.back = false, s.now
	}
}

// ask has a visitor ask for the page, or look at another one.
func (s *sale) ask(i int32, v *visitor) {
	kind := pollOf
	if v.phase != waiting {
		kind = pageOf
	}
	if s.apart == nil {
		s.send(i, v, requests[kind], &s.answer)
		s.answered(i, v, &s.answer)
		return
	}
	r, a := *requests[kind], &answer{header: http.Header{}}
	r.Header = r.Header.Clone()
	s.apart.Go(func() {
		s.send(i, v, &r, a)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answered(i, v, a)
	})
}

// answered has a visitor take an answer.
func (s *sale) answered(i int32, v *visitor, a *answer) {
	s.polls++
	if set := a.header["Set-Cookie"]; len(set) > 0 {
		end := max(0, bytes.IndexByte([]byte(set[0]), ';'))
		v.length = uint8(copy(v.ticket[:], set[0][:end]))
	}
	_, in := a.header["In"]
	again := a.header["Retry-After"]
	switch {
	case in:
		s.enter(i, v)
	case len(again) == 0:
		panic(fmt.Sprintf("visitor %d, who is at phase %d, was answered with %d and no interval: %s", i, v.phase, a.status, a.body))
	default:
		seconds, _ := strconv.Atoi(again[0])
		s.wait(i, v, int32(seconds)*1000, a)
	}
}

// enter has a visitor be in, who looks at some pages.
func (s *sale) enter(i int32, v *visitor) {
	if v.phase != inside {
		if v.phase == waiting {
			s.comes(i, v)
			s.present.add(i, -1)
		}
		v.phase, v.enters, v.pages = inside, s.now, pages
		s.in = append(s.in, i)
	}
	if v.pages == 0 {
		v.phase = gone
		return
	}
	v.pages--
	s.wheel.add(s.crowd, i, s.now+1+s.rng.Int32N(2*int32(reading.Milliseconds())))
}

// wait has a visitor wait for as long as they were told.
func (s *sale) wait(i int32, v *visitor, told int32, a *answer) {
	switch v.phase {
	case waiting:
		s.comes(i, v)
		s.judge(i, a)
	case outside:
		v.phase = waiting
		s.present.add(i, 1)
	default:
		panic(fmt.Sprintf("visitor %d was thrown out", i))
	}
	v.before, v.told, v.asked, v.due = v.told, told, s.now, s.now+told+networkTakes
	next := s.now + told + s.rng.Int32N(networkTakes)
	if v.leaves != 0 && v.leaves < next {
		next = max(v.leaves, s.now+1)
	}
	if v.locks != 0 && v.locks < next && next < v.unlocks {
		next = max(v.locks, s.now+1)
	}
	s.wheel.add(s.crowd, i, next)
}

// The kinds of requests.
type kind int

const (
	pageOf kind = iota
	pollOf
	goodbyeOf
)

var requests = [...]*http.Request{
	pageOf: request(http.MethodGet, "/sale", http.Header{
		"Accept": {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}, "Sec-Fetch-Dest": {"document"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Site": {"none"},
	}),
	pollOf: request(http.MethodGet, "/sale", http.Header{
		"Accept": {"application/json"}, "Fairdoor-Returning": {"1"}, "Sec-Fetch-Dest": {"empty"}, "Sec-Fetch-Mode": {"cors"}, "Sec-Fetch-Site": {"same-origin"}, "Referer": {"https://shop.example/sale"},
	}),
	goodbyeOf: request(http.MethodPost, "/.fairdoor/leave", http.Header{
		"Sec-Fetch-Dest": {"empty"}, "Sec-Fetch-Mode": {"no-cors"}, "Sec-Fetch-Site": {"same-origin"}, "Origin": {"https://shop.example"}, "Referer": {"https://shop.example/sale"},
	}),
}

func request(method, path string, header http.Header) *http.Request {
	header["User-Agent"] = []string{"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"}
	header["Accept-Language"], header["Accept-Encoding"] = []string{"en-GB,en;q=0.9,de;q=0.8"}, []string{"gzip, deflate, br, zstd"}
	return &http.Request{Method: method, URL: &url.URL{Path: path}, RequestURI: path, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Body: http.NoBody, Host: "shop.example"}
}

// send sends a request of visitor i.
func (s *sale) send(i int32, v *visitor, r *http.Request, a *answer) {
	clear(a.header)
	a.status, a.body = 0, a.body[:0]
	r.RemoteAddr = address(i)
	if delete(r.Header, "Cookie"); v.length > 0 {
		r.Header["Cookie"] = []string{string(v.ticket[:v.length])}
	}
	s.gate.ServeHTTP(a, r)
}

var aheadField, knownField = []byte(`"usersAhead":`), []byte(`"usersAheadKnown":true`)

// judge compares the place that visitor i was told with theirs: how many people are present who came
// before.
func (s *sale) judge(i int32, a *answer) {
	ahead, p := int(s.present.ahead(i)), &s.far
	if ahead <= s.sells {
		p = &s.near
	}
	if p.told++; !bytes.Contains(a.body, knownField) {
		return
	}
	p.known++
	_, after, _ := bytes.Cut(a.body, aheadField)
	told, err := strconv.Atoi(string(after[:max(0, bytes.IndexAny(after, ",}"))]))
	if err != nil {
		panic(fmt.Sprintf("no place in %s", a.body))
	}
	wrong := float64(max(told-ahead, ahead-told)) * 60 / perMinute
	if wrong <= allowed {
		p.right++
	}
	power := 0
	for ; wrong >= 1; wrong /= 2 {
		power++
	}
	p.wrong[power]++
}
