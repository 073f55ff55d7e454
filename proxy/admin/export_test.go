package admin

// Resources are the patterns of what the API answers for.
func Resources() (patterns []string) {
	a := &api{Config: Config{Metrics: nil}}
	for _, r := range append(a.openResources(), a.resources()...) {
		patterns = append(patterns, r.pattern)
	}
	return patterns
}
