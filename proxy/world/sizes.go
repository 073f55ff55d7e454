package world

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Size is how much there is at a moment.
type Size struct {
	Counted bool // whether Active and Queued are known
	Active  int  // sessions, as a gate counts them
	Queued  int  // people who wait, as a gate counts them
	Disk    int  // bytes on the disk of a gate
	Keys    int  // of Redis
	Entries int  // in them
	Bytes   int  // that these have
}

// measureEvery is how often sizes are noted.
const measureEvery = 5*time.Second + 11

// measure notes how much there is, again and again until over is closed.
func (w *world) measure(over <-chan struct{}) {
	wait(time.Millisecond / 2) // by when the gates' work of that moment is done: what begins in the same nanosecond has no order
	ticker := time.NewTicker(measureEvery)
	defer ticker.Stop()
	for {
		select {
		case <-over:
			return
		case <-ticker.C:
			for _, m := range w.machines {
				if p := m.now.Load(); p != nil {
					w.history.add(Event{What: Measured, Who: nobody, Gate: m.number, Size: w.sizeAt(p)})
				}
			}
		}
	}
}

// sizeAt is how much there is by a gate and its store.
func (w *world) sizeAt(p *process) Size {
	var s Size
	if w.history.remembers(w.history.now()) { // or else the gate may warn of old numbers, again and again
		s = w.counts(p)
	}
	s.Disk = p.on.disk.size()
	if w.redis != nil {
		kept := w.redis.Size()
		s.Keys, s.Entries, s.Bytes = kept.Keys, kept.Entries, kept.Bytes
	}
	return s
}

// counts is how many people there are by the status that a gate shows to operators.
func (w *world) counts(p *process) (s Size) {
	a := &answer{header: http.Header{}}
	r := http.Request{
		Method: http.MethodGet, URL: &url.URL{Path: "/api/v1/rooms/" + roomName + "/status"}, Host: "127.0.0.1:9090", Header: http.Header{},
		Body: http.NoBody, RemoteAddr: "127.0.0.1:4711",
	}
	p.admin.ServeHTTP(a, r.WithContext(p.lives))
	var told struct {
		Active int `json:"activeUsers"`
		Queued int `json:"estimated_queued_users"`
	}
	s.Counted = json.Unmarshal(a.body, &told) == nil
	s.Active, s.Queued = told.Active, told.Queued
	return s
}

// size is how many bytes the files of a disk have.
func (d *disk) size() (all int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.files {
		all += len(c.text)
	}
	return all
}

// What may be kept besides what each visitor needs: a journal is written anew when it has a MiB,
// and Redis keeps some hundred counts.
const (
	diskAlways     = 1<<20 + 256<<10
	diskOfVisitor  = 512
	redisAlways    = 32 << 10
	redisOfVisitor = 300 // 200 in line, and a session or an admission
)

// checkGrowth finds a disk or a Redis that has more than those who came can need, and a gate that
// counts more people who wait than may.
func checkGrowth(h *History, breach func(time.Duration, string, ...any)) {
	var here crowd
	for i := range h.Events {
		e := &h.Events[i]
		if e.What != Measured {
			here.hear(h, e)
			continue
		}
		s, n := e.Size, len(here.people)+len(here.strangers)
		if most := diskAlways + diskOfVisitor*n; s.Disk > most {
			breach(e.At, "the disk of gate %d has %d bytes, though only %d visitors came", e.Gate, s.Disk, n)
			return
		}
		if most := redisAlways + redisOfVisitor*n; s.Bytes > most {
			breach(e.At, "Redis has %d bytes, though only %d visitors came", s.Bytes, n)
			return
		}
		if !h.quiet(0, e.At) {
			continue
		}
		most := h.Plan.Gates * here.since(e.At-max(h.Plan.Settings.LineDropout, h.longestInterval())-measureSlack) // whoever changes gates may be counted at both
		if h.Plan.Redis && s.Queued > most {
			most += cameLate(spellsOf(h), e.At)
		}
		if s.Queued > most {
			breach(e.At, "gate %d counts %d who wait, and at most %d can", e.Gate, s.Queued, most)
			return
		}
	}
}

// measureSlack is how old what a gate counts may be, and how much longer than they need somebody
// may be counted.
const measureSlack = 10 * time.Second

// crowd is who has come.
type crowd struct {
	people    map[int]time.Duration // when they were heard of last
	strangers []time.Duration       // when those were who send no ticket back, or a copy
}

// hear takes in an event.
func (c *crowd) hear(h *History, e *Event) {
	switch {
	case e.Who == nobody:
	case e.What == Copied || kinds.find(h.Plan.People[e.Who].Kind).strange:
		c.strangers = append(c.strangers, e.At)
	default:
		if c.people == nil {
			c.people = map[int]time.Duration{}
		}
		switch e.What {
		case Waits: // a stream has nothing to tell while nothing changes
			c.people[e.Who] = h.Ends
		case Served, Enters, Goodbye, Left:
			c.people[e.Who] = e.At
		default:
			c.people[e.Who] = max(c.people[e.Who], e.At)
		}
	}
}

// since is how many visitors were heard of since a moment, at most.
func (c *crowd) since(moment time.Duration) (n int) {
	for _, at := range c.people {
		if at >= moment {
			n++
		}
	}
	for _, at := range c.strangers {
		if at >= moment {
			n++
		}
	}
	return n
}
