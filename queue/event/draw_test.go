package event_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

// draw is one with a fixed secret, of an event that starts five minutes and a half after a whole
// minute.
func draw() *event.Draw {
	start := nine.Add(30 * time.Second)
	return &event.Draw{Event: "sale", Prequeue: start.Add(-5 * time.Minute), Start: start, Secret: event.Secret{7, 31: 9}}
}

// id is the n-th of ids that count up: those of a generator that is not random at all.
func id(n int) (i queue.ID) {
	binary.BigEndian.PutUint64(i[:], uint64(n))
	return i
}

// chiSquare is how far counts are from equal ones.
func chiSquare(counts []int) float64 {
	total, sum := 0, 0.
	for _, n := range counts {
		total += n
	}
	mean := float64(total) / float64(len(counts))
	for _, n := range counts {
		sum += (float64(n) - mean) * (float64(n) - mean) / mean
	}
	return sum
}

// With 99 degrees of freedom, one draw in a thousand is above 149.
func TestMomentsAreDrawnUniformlyAndAheadOfWhoComesAfterTheStart(t *testing.T) {
	d, counts := draw(), make([]int, 100)
	first, last := queue.At(d.Prequeue).Ceil(time.Minute), queue.At(d.Start).Floor(time.Minute)
	for n := range 100_000 {
		at := d.Moment(d.Value(d.Entry(id(n))))
		require.True(t, at >= first && at < last, "in whole minutes after the prequeue's start and before the event's")
		counts[int(at-first)*100/int((4*time.Minute).Milliseconds())]++
	}
	assert.Less(t, chiSquare(counts), 149.)
}

// Each of the 24 orders of four visitors comes as often as the others, whoever came first. With 23
// degrees of freedom, one in a thousand is above 49.7.
func TestEveryOrderIsAsLikelyAsAnother(t *testing.T) {
	orders, list := map[string]int{}, []int{}
	for n := range 24_000 {
		d := draw()
		binary.BigEndian.PutUint64(d.Secret[8:], uint64(n))
		of := []int{0, 1, 2, 3}
		slices.SortFunc(of, func(a, b int) int { return int(d.Moment(d.Value(d.Entry(id(a)))) - d.Moment(d.Value(d.Entry(id(b))))) })
		orders[fmt.Sprint(of)]++
	}
	for _, n := range orders {
		list = append(list, n)
	}
	require.Len(t, list, 24)
	assert.Less(t, chiSquare(list), 49.7)
}

func TestTheSecretIsInNeitherTheSeedNorTheEntries(t *testing.T) {
	d := draw()
	secret, _ := d.Secret.MarshalText()
	order := event.NewOrder("shop", d, []string{d.Entry(id(1))})
	var b bytes.Buffer
	require.NoError(t, order.Write(&b))
	assert.NotContains(t, b.String(), string(secret))
	assert.NotContains(t, fmt.Sprint(d.Secret), string(secret), "and it is not logged")
	assert.NotContains(t, b.String(), id(1).String())
	other := *d
	other.Prequeue = d.Prequeue.Add(time.Minute)
	assert.NotEqual(t, d.Value("X"), other.Value("X"))
	var read event.Secret
	require.NoError(t, read.UnmarshalText(secret))
	assert.Equal(t, d.Secret, read)
	assert.Error(t, read.UnmarshalText([]byte("00")))
}

// published is an order of n entries.
func published(t *testing.T, n int) []string {
	t.Helper()
	d, entries := draw(), []string{}
	for i := range n {
		entries = append(entries, d.Entry(id(i)))
	}
	order := event.NewOrder("shop", d, append(entries, entries[0]))
	var b bytes.Buffer
	require.NoError(t, order.Write(&b))
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	require.Len(t, lines, n+1, "an entry that was noted twice is there once")
	return lines
}

func TestAnOrderIsRecomputedAndOneAlteredEntryFails(t *testing.T) {
	check := func(lines []string) error {
		_, err := event.ReadOrder(strings.NewReader(strings.Join(lines, "\n")))
		return err
	}
	require.NoError(t, check(published(t, 50)))
	edit := func(line string, change func(map[string]any)) string {
		var of map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &of))
		change(of)
		text, err := json.Marshal(of)
		require.NoError(t, err)
		return string(text)
	}
	d := draw()
	foreign := d.Entry(id(1000))
	for name, c := range map[string]struct {
		change func([]string) []string
		says   string
	}{
		"another entry in a place": {func(l []string) []string {
			l[9] = edit(l[9], func(of map[string]any) { of["entry"] = foreign })
			return l
		}, "line 10: the entry " + foreign + " has drawn"},
		"another draw": {func(l []string) []string {
			l[9] = edit(l[9], func(of map[string]any) { of["draw"] = "0000000000000000" })
			return l
		}, "was altered"},
		"two entries in each other's place": {func(l []string) []string { l[9], l[10] = l[10], l[9]; return l }, "the place was altered"},
		"two moved with their places": {func(l []string) []string {
			nine, ten := edit(l[10], func(of map[string]any) { of["place"] = 9 }), edit(l[9], func(of map[string]any) { of["place"] = 10 })
			l[9], l[10] = nine, ten
			return l
		}, "was moved"},
		"an entry missing in the middle": {func(l []string) []string { return slices.Delete(l, 9, 10) }, "an entry is missing"},
		"the last entry missing":         {func(l []string) []string { return l[:50] }, "entries are missing"},
		"an entry added": {func(l []string) []string {
			last := fmt.Sprintf(`{"place":51,"entry":%q,"draw":"%016x"}`, high(d), d.Value(high(d)))
			return append(l, last)
		}, "entries were added"},
		"an entry added, and counted": {func(l []string) []string {
			last := fmt.Sprintf(`{"place":51,"entry":%q,"draw":"%016x"}`, high(d), d.Value(high(d)))
			return append([]string{edit(l[0], func(of map[string]any) { of["entries"] = 51 })}, append(l[1:], last)...)
		}, "do not have the digest"},
		"another seed": {func(l []string) []string {
			l[0] = edit(l[0], func(of map[string]any) { of["seed"] = strings.Repeat("00", 32) })
			return l
		}, "another seed"},
		"no header": {func(l []string) []string { return l[1:] }, "not the header"},
		"no JSON":   {func(l []string) []string { l[3] = "x"; return l }, "line 4 is not an entry"},
	} {
		t.Run(name, func(t *testing.T) { assert.ErrorContains(t, check(c.change(published(t, 50))), c.says) })
	}
}

// high is the name of an entry that is behind most others.
func high(d *event.Draw) string {
	for n := 1000; ; n++ {
		if entry := d.Entry(id(n)); d.Value(entry) > 0xff<<56 {
			return entry
		}
	}
}

func TestListsOfSeveralGatesHaveOneOrder(t *testing.T) {
	d := draw()
	entries := func(from, to int) (list []string) {
		for n := from; n < to; n++ {
			list = append(list, d.Entry(id(n)))
		}
		return list
	}
	whole := event.NewOrder("shop", d, entries(0, 40))
	joined, err := event.Join([]event.Order{event.NewOrder("shop", d, entries(0, 25)), event.NewOrder("shop", d, entries(20, 40))})
	require.NoError(t, err)
	assert.Equal(t, whole, joined)
	other := *d
	other.Secret[0]++
	_, err = event.Join([]event.Order{whole, event.NewOrder("shop", &other, nil)})
	assert.ErrorContains(t, err, "not of one draw")
}
