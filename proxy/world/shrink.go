package world

import (
	"slices"
	"testing"
)

// Shrink returns a plan in which the same promise is broken by fewer people and fewer faults. It
// lives so many lives to find it.
func Shrink(t *testing.T, p Plan, promise string, lives int) Plan {
	t.Helper()
	breaks := func(p Plan) bool {
		lives--
		return lives >= 0 && slices.ContainsFunc(Check(Run(t, p)), func(b Breach) bool { return b.Promise == promise })
	}
	p.Faults = fewer(p.Faults, func(rest []Fault) bool {
		q := p
		q.Faults = rest
		return breaks(q)
	})
	p.People = fewer(p.People, func(rest []Person) bool {
		q := p
		q.People = rest
		return breaks(q)
	})
	return p
}

// fewer leaves parts of a list out, ever smaller ones, as long as the rest is enough.
func fewer[T any](list []T, enough func(rest []T) bool) []T {
	for part := (len(list) + 1) / 2; part > 0; part /= 2 {
		for from := 0; from < len(list); {
			rest := slices.Concat(list[:from], list[min(from+part, len(list)):])
			if enough(rest) {
				list = rest
			} else {
				from += part
			}
		}
	}
	return list
}
