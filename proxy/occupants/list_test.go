package occupants_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/proxy/occupants"
)

// take is what a program makes of the events of a stream.
func take(is occupants.People, events []occupants.Event) occupants.People {
	is.In, is.Line = slices.Clone(is.In), slices.Clone(is.Line)
	without := func(list []string, id string) []string {
		return slices.DeleteFunc(list, func(other string) bool { return other == id })
	}
	for _, e := range events {
		switch e.Name {
		case "out":
			is.In = without(is.In, e.ID)
		case "in":
			is.In = append(is.In, e.ID)
		case "left":
			is.Line = without(is.Line, e.ID)
		case "joined":
			is.Line = slices.Insert(is.Line, e.Rank-1, e.ID)
		}
	}
	return is
}

func TestWhoTakesInTheEventsHasTheList(t *testing.T) {
	names := []string{"Ann", "Ben", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal"}
	rapid.Check(t, func(rt *rapid.T) {
		people := func(what string) occupants.People {
			all := rapid.Permutation(names).Draw(rt, what)
			in := rapid.IntRange(0, len(all)).Draw(rt, "in "+what)
			return occupants.People{In: slices.Sorted(slices.Values(all[:in])), Line: all[in:rapid.IntRange(in, len(all)).Draw(rt, "there "+what)]}
		}
		was, is := people("before"), people("now")
		taken := take(was, occupants.Since(is, was))
		assert.ElementsMatch(rt, is.In, taken.In)
		assert.Equal(rt, append([]string{}, is.Line...), append([]string{}, taken.Line...))
		assert.Empty(rt, occupants.Since(is, is))
	})
}
