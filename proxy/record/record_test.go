package record_test

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
)

var start = time.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC)

// gate is a gate that tells its record of a room.
type gate struct {
	*record.Record
	t       *testing.T
	dir     string
	now     time.Time
	sample  record.Sample
	log     *zap.Logger
	entries *observer.ObservedLogs
}

func newGate(t *testing.T, dir string) *gate {
	core, entries := observer.New(zap.InfoLevel)
	g := &gate{t: t, dir: dir, now: start, sample: record.Sample{Room: "shop", Known: true}, log: zap.New(core), entries: entries}
	g.sample.Standing = record.Standing{TotalActiveUsers: 10, NewUsersPerMinute: 60}
	g.restart()
	return g
}

// restart opens the record, as a gate does that starts. What it counts begins at 0.
func (g *gate) restart() {
	g.Record, g.sample.Counted = record.Open(g.dir, g.now, g.log), record.Counted{}
	g.observe(0)
}

// observe tells the record how the room stands, some seconds later.
func (g *gate) observe(seconds int) {
	for range seconds {
		g.now = g.now.Add(time.Second)
		g.sample.At = g.now
		g.Observe(g.now, g.sample)
	}
	g.sample.At = g.now
	g.Observe(g.now, g.sample)
}

func (g *gate) minutes() []record.Minute {
	return g.Minutes("shop", start.Add(-30*24*time.Hour), start.Add(30*24*time.Hour))
}

func (g *gate) changes() []record.Change {
	return g.Audit("shop", start.Add(-30*24*time.Hour), start.Add(30*24*time.Hour))
}

// file is the text of today's file.
func (g *gate) file() string {
	text, err := os.ReadFile(filepath.Join(g.dir, "record", "2026-11-22.jsonl"))
	require.NoError(g.t, err)
	return string(text)
}

func TestAMinuteHasWhatTheRoomDidInIt(t *testing.T) {
	g := newGate(t, "")
	s := &g.sample
	s.Standing.Active, s.Standing.Queued, s.Standing.Open = 10, 3, 0
	s.Counted.LetIn, s.Counted.StoreErrors, s.Counted.Refused.Busy = 5, 2, 1
	s.Counted.Waits.Add(30 * time.Second)
	g.observe(10)
	s.Standing.Active, s.Standing.Queued, s.Standing.Admitted, s.Standing.Open = 8, 1, 7, 2
	s.Counted.LetIn = 7
	s.Counted.Waits.Add(90 * time.Second)
	g.observe(20)
	s.StoreFailing, s.Known, s.Standing = true, false, record.Standing{}
	g.observe(29)
	s.StoreFailing, s.Known = false, true
	g.observe(31)
	all := g.minutes()
	require.Len(t, all, 2)
	m := all[0]
	assert.Equal(t, start, m.At)
	assert.InDelta(t, 59, m.Seconds, 1)
	assert.Equal(t, 10, m.Room.ActiveMost)
	assert.Equal(t, 8, m.Room.Active, "as it was last known")
	assert.Equal(t, 3, m.Room.QueuedMost)
	assert.Equal(t, 7, m.Room.Admitted)
	assert.InDelta(t, 30, m.Room.QueueingSeconds, 0)
	assert.InDelta(t, 10*10+20*8, m.Room.UsedSeconds, 0)
	assert.InDelta(t, 20, m.Room.IdleSeconds, 0, "one of the two open slots had nobody to take it")
	assert.InDelta(t, 29, m.StoreFailingSeconds, 0)
	assert.Equal(t, 7, m.LetIn)
	assert.Equal(t, 2, m.Waits.Visitors())
	assert.Equal(t, 90*time.Second, m.Waits.Longest().Round(10*time.Second))
	assert.Equal(t, record.Refused{Busy: 1}, m.Refused)
	assert.Equal(t, 2, m.StoreErrors)
	assert.Zero(t, all[1].LetIn)
	assert.InDelta(t, 30, all[1].Seconds, 1)
}

func TestARestartGoesOnWithTheMinute(t *testing.T) {
	g := newGate(t, t.TempDir())
	g.sample.Counted.LetIn = 4
	g.observe(20)
	g.Note("shop", record.Change{At: g.now, By: "ann", What: "queue_all", From: "false", To: "true"})
	g.Close(g.now)
	g.restart()
	g.sample.Counted.LetIn = 3
	g.observe(50)
	all := g.minutes()
	require.Len(t, all, 2)
	assert.Equal(t, 7, all[0].LetIn)
	assert.InDelta(t, 60, all[0].Seconds, 1)
	assert.Equal(t, []record.Change{{At: start.Add(20 * time.Second), By: "ann", What: "queue_all", From: "false", To: "true"}}, g.changes())
	info, err := os.Stat(filepath.Join(g.dir, "record", "2026-11-22.jsonl"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
}

func TestAKilledGateLosesTheRunningMinuteOnly(t *testing.T) {
	g := newGate(t, t.TempDir())
	g.sample.Counted.LetIn = 4
	g.observe(61)
	g.sample.Counted.LetIn = 5
	g.Note("shop", record.Change{At: g.now, By: "ann", What: "queue_all"})
	g.observe(20)
	g.restart() // without a Close
	g.sample.Counted.LetIn = 2
	g.observe(60)
	all := g.minutes()
	require.Len(t, all, 3)
	assert.Equal(t, []int{4, 2, 0}, []int{all[0].LetIn, all[1].LetIn, all[2].LetIn})
	assert.InDelta(t, 39, all[1].Seconds, 1, "the other seconds are not known")
	assert.Len(t, g.changes(), 1)
	g.Close(g.now)
}

func TestWhatCannotBeReadIsPassedOverWithOneWarning(t *testing.T) {
	g := newGate(t, t.TempDir())
	g.observe(181)
	text := g.file()
	lines := strings.SplitAfter(text, "\n")
	require.Len(t, lines, 4)
	path := filepath.Join(g.dir, "record", "2026-11-22.jsonl")
	broken := lines[0] + "{\"room\": 7}\n\x00\xff garbage\n{}\n{\"room\":\"shop\",\"minute\":{}}\n\n" + lines[1] + lines[2][:len(lines[2])/2]
	require.NoError(t, os.WriteFile(path, []byte(broken), 0o600))
	g.restart()
	assert.Equal(t, 1, g.entries.FilterLevelExact(zap.WarnLevel).Len())
	g.observe(60)
	g.Close(g.now)
	g.restart()
	var at []time.Time
	for _, m := range g.minutes() {
		at = append(at, m.At)
	}
	assert.Equal(t, []time.Time{start, start.Add(time.Minute), start.Add(3 * time.Minute), start.Add(4 * time.Minute)}, at, "what comes after a line that was cut is whole")
}

func TestDaysAreBounded(t *testing.T) {
	g := newGate(t, t.TempDir())
	folder := filepath.Join(g.dir, "record")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	for _, day := range []string{"2026-11-08", "2026-11-09", "2026-11-21"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, day+".jsonl"), nil, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "notes.txt"), nil, 0o600))
	g.observe(61)
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	assert.Equal(t, []string{"2026-11-09.jsonl", "2026-11-21.jsonl", "2026-11-22.jsonl", "notes.txt"}, names)
}

func TestTheOldestDaysGoWhereAllTakeTooMuch(t *testing.T) {
	g := newGate(t, t.TempDir())
	folder := filepath.Join(g.dir, "record")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	for _, day := range []string{"2026-11-19", "2026-11-20", "2026-11-21"} {
		path := filepath.Join(folder, day+".jsonl")
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Truncate(path, record.MaxBytes/3)) // takes no space on the disk
	}
	g.observe(61)
	assert.NoFileExists(t, filepath.Join(folder, "2026-11-19.jsonl"))
	assert.FileExists(t, filepath.Join(folder, "2026-11-20.jsonl"))
	assert.FileExists(t, filepath.Join(folder, "2026-11-22.jsonl"))
}

func TestADiskThatTakesNothingHurtsNobody(t *testing.T) {
	g := newGate(t, t.TempDir())
	folder := filepath.Join(g.dir, "record")
	require.NoError(t, os.WriteFile(folder, nil, 0o600)) // where the folder should be
	g.sample.Counted.LetIn = 4
	g.observe(180)
	assert.Len(t, g.minutes(), 4, "it is in memory")
	assert.Equal(t, 1, g.entries.FilterLevelExact(zap.ErrorLevel).Len(), "%v", g.entries.All())
	require.NoError(t, os.Remove(folder))
	g.observe(60)
	g.Close(g.now)
	g.restart()
	assert.Len(t, g.minutes(), 5, "nothing is lost once the disk is back")
}

func TestADayIsReadFromItsFile(t *testing.T) {
	g := newGate(t, t.TempDir())
	g.sample.Counted.LetIn = 4
	g.observe(61)
	for range 3 * 24 * 60 {
		g.now = g.now.Add(59 * time.Second)
		g.observe(1)
	}
	assert.Len(t, g.minutes(), 3*24*60+2, "each once, wherever it is")
	first := g.Minutes("shop", start, start.Add(time.Minute))
	require.Len(t, first, 1)
	assert.Equal(t, 4, first[0].LetIn)
	assert.Less(t, first[0].Seconds+first[0].Seconds, 121.0)
}

func TestTheRecordIsReadWhileItIsKept(t *testing.T) {
	g := newGate(t, t.TempDir())
	g.sample.Standing.Queued = 1
	var reading sync.WaitGroup
	for range 2 {
		reading.Go(func() {
			for range 50 {
				_, err := json.Marshal(g.Excerpt("shop", start.Add(-30*24*time.Hour), start.Add(time.Hour)))
				assert.NoError(t, err)
			}
		})
	}
	for range 200 {
		g.sample.Counted.Waits.Add(time.Second)
		g.observe(1)
		g.Note("shop", record.Change{At: g.now, What: "queue_all"})
	}
	reading.Wait()
	g.Close(g.now)
}

func TestChangesOfAFamilyAreThoseOfItsRooms(t *testing.T) {
	g := newGate(t, "")
	for i, name := range []string{"shop.a", "shopping", "shop", "shop.b"} {
		g.Note(name, record.Change{At: g.now.Add(time.Duration(4-i) * time.Second), What: name})
	}
	var what []string
	for _, c := range g.changes() {
		what = append(what, c.What)
	}
	assert.Equal(t, []string{"shop.b", "shop", "shop.a"}, what)
	assert.Len(t, g.Audit("shop.a", start, start.Add(time.Hour)), 1)
	assert.Empty(t, g.Audit("shop.a", start, start.Add(time.Second)))
	assert.True(t, g.Has("shopping"))
	assert.False(t, g.Has("shops"))
}

func TestWhatWaitsForTheDiskIsBounded(t *testing.T) {
	g := newGate(t, t.TempDir())
	path := filepath.Join(g.dir, "record", "2026-11-22.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, syscall.Mkfifo(path, 0o600)) // takes lines as slowly as they are read, and then does not keep them
	notes := func() {
		for range 20_000 {
			g.Note("shop", record.Change{At: g.now, By: "ann", What: "queue_all"})
		}
	}
	notes()
	var writing sync.WaitGroup
	writing.Go(func() { g.observe(0) })
	disk, err := os.Open(path)
	require.NoError(t, err)
	_, err = disk.Read(make([]byte, 1))
	require.NoError(t, err)
	notes()
	_, err = io.Copy(io.Discard, disk)
	require.NoError(t, err)
	writing.Wait()
	require.NoError(t, disk.Close())

	require.NoError(t, os.Remove(path))
	g.observe(0)
	assert.Equal(t, 20_000, strings.Count(g.file(), "\n"))
}

func TestWhatWasInForceIsKnownToTheSecond(t *testing.T) {
	r := record.Open(t.TempDir(), start, zap.NewNop())
	at := start
	see := func(until time.Duration, step time.Duration, s record.Sample) {
		for ; at.Before(start.Add(until)); at = at.Add(step) {
			s.Room, s.At, s.Known = "shop", at, !s.StoreFailing
			r.Observe(at, s)
		}
	}
	standing := func(s record.Standing) record.Sample { return record.Sample{Standing: s} }
	prequeue, sale := standing(record.Standing{Event: "sale", Prequeue: true}), standing(record.Standing{Event: "sale"})
	see(time.Minute, time.Second, record.Sample{})
	see(time.Minute+200*time.Millisecond, 200*time.Millisecond, standing(record.Standing{Held: true}))
	see(2*time.Minute, time.Second, record.Sample{})
	see(3*time.Minute, time.Second, prequeue)
	see(9*time.Minute, time.Second, sale)
	at = start.Add(11 * time.Minute) // the gate was away
	see(12*time.Minute, time.Second, sale)
	see(13*time.Minute, time.Second, record.Sample{OriginFailing: true})
	see(14*time.Minute, time.Second, record.Sample{StoreFailing: true})
	see(14*time.Minute+30*time.Second, time.Second, standing(record.Standing{SoldOut: true}))
	see(16*time.Minute, time.Second, record.Sample{})
	at = start.Add(40 * time.Minute)
	see(41*time.Minute, time.Second, sale)
	var told []string
	for _, b := range record.Bands(r.Excerpt("shop", start, start.Add(time.Hour)).Minutes) {
		told = append(told, b.From.Format("15:04:05")+" for "+b.To.Sub(b.From).Round(time.Second).String()+" "+b.Name)
	}
	assert.Equal(t, []string{
		"18:00:59 for 1s held by operators", "18:01:59 for 1m0s prequeue of sale", "18:02:59 for 9m0s event sale", "18:11:59 for 1m0s origin failing",
		"18:12:59 for 1m0s store unreachable", "18:13:59 for 30s sold out", "18:39:50 for 1m9s event sale",
	}, told)
}

func TestAHoldIsDrawnAsLongAsItWas(t *testing.T) {
	change := func(d time.Duration, from, to string) record.Change {
		return record.Change{At: start.Add(d), By: "olga", What: "queue_all", From: from, To: to}
	}
	e := record.Excerpt{
		Minutes: []record.Minute{{At: start, Spans: []chart.Band{{Name: "held by operators", From: start.Add(29 * time.Second), To: start.Add(40 * time.Second)}}}},
		Changes: []record.Change{
			change(10*time.Second, "false", "true"), change(10*time.Second+200*time.Millisecond, "true", "false"),
			change(30*time.Second, "false", "true"), change(39*time.Second, "true", "false"), change(50*time.Second, "false", "true"),
		},
	}
	assert.Equal(t, []chart.Band{
		{Name: "held by operators", From: start.Add(10 * time.Second), To: start.Add(10*time.Second + 200*time.Millisecond)},
		{Name: "held by operators", From: start.Add(30 * time.Second), To: start.Add(39 * time.Second)},
	}, e.Bands())
}

func TestAMinuteHasWhoGaveUpAndHowTheOriginDid(t *testing.T) {
	g := newGate(t, t.TempDir())
	g.sample.Counted.Alone = true
	g.sample.Counted.GaveUp, g.sample.Counted.Origin = 3, record.Answers{Count: 10, Faults: 1, Seconds: 2.5}
	g.observe(10)
	g.sample.Counted.GaveUp, g.sample.Counted.Origin = 4, record.Answers{Count: 14, Faults: 1, Seconds: 3}
	g.observe(60)
	sum := record.Sum(g.minutes())
	assert.Equal(t, 4, *sum.GaveUp)
	assert.Nil(t, record.Merge(record.Excerpt{Minutes: g.minutes()}, record.Excerpt{Minutes: g.minutes()}).Minutes[0].GaveUp, "of two gates, neither knows")
	g.sample.Counted.Alone, g.sample.Counted.GaveUp = false, 9
	g.observe(70)
	assert.Equal(t, 4, *record.Sum(g.minutes()).GaveUp, "another gate is there")
	assert.Equal(t, 14, sum.OriginAnswers)
	assert.Equal(t, 1, sum.OriginFaults)
	assert.InDelta(t, 3, sum.OriginSeconds, .001)
	assert.InDelta(t, 250, record.LatencyChart(g.minutes()).Lines[0].Values[0], 40, "milliseconds")
	old := record.Minute{}
	require.NoError(t, json.Unmarshal([]byte(`{"at": "2026-11-01T10:00:00Z", "seconds": 60, "letIn": 5}`), &old))
	assert.Equal(t, 5, record.Sum([]record.Minute{old, old}).LetIn-5)
	assert.True(t, math.IsNaN(record.LatencyChart([]record.Minute{old}).Lines[0].Values[0]), "what was not kept is not known")
	assert.True(t, math.IsNaN(record.GaveUpChart([]record.Minute{old}).Lines[0].Values[0]))
}

func TestWhatPeopleWereToldThatThereIsToBuyIsKeptWithItsTime(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 0, 10, 0, time.UTC)
	dir := t.TempDir()
	r := record.Open(dir, at, zap.NewNop())
	tell := func(second int, items string) {
		now := at.Add(time.Duration(second) * time.Second)
		r.Observe(now, record.Sample{Room: "shop", At: now, Known: true, Items: map[string]string{"": items}})
	}
	const some, fewer = `[{"name":"Standing","price":"49 €","left":2,"soldOut":false}]`, `[{"name":"Standing","price":"59 €","left":1,"soldOut":false}]`
	tell(0, "")
	tell(1, some)
	tell(2, some)
	tell(3, fewer)
	tell(55, fewer)
	tell(56, "")
	r.Close(at.Add(time.Minute))
	read, warnings, err := record.Read(dir, at.Add(-time.Hour), at.Add(time.Hour))
	require.NoError(t, err)
	require.Empty(t, warnings)
	minutes := read["shop"].Minutes
	require.Len(t, minutes, 2)
	second := func(n int) time.Time { return at.Add(time.Duration(n) * time.Second) }
	assert.Equal(t, []record.Offer{{At: second(1), Items: json.RawMessage(some)}, {At: second(3), Items: json.RawMessage(fewer)}}, minutes[0].Room.Items)
	assert.Equal(t, []record.Offer{{At: second(55), Items: json.RawMessage(fewer)}, {At: second(56), Items: json.RawMessage(`[]`)}}, minutes[1].Room.Items)
}
