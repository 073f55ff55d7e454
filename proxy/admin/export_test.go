package admin

import "slices"

// Resources are the patterns of what the API answers for.
func Resources() (patterns []string) {
	a := &api{Config: Config{Metrics: nil}}
	for _, r := range slices.Concat(a.openResources(), a.reportResources(), a.resources()) {
		patterns = append(patterns, r.pattern)
	}
	return patterns
}
