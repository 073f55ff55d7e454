package pressure

// Apart reports whether two paths fall into different groups: with this meter's seed.
func (m *Meter) Apart(a, b string) bool { return m.groupOf(a) != m.groupOf(b) }
