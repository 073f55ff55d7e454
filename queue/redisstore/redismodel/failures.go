package redismodel

import (
	"maps"
	"slices"
)

// Restart has the server be another process, with a new run_id and no scripts, and with the keys
// that it had.
func (s *Server) Restart(process string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process = process
	clear(s.scripts)
}

// Flush takes all keys away.
func (s *Server) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.keys)
}

// FlushScripts takes all scripts away.
func (s *Server) FlushScripts() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.scripts)
}

// Drop takes the key away that n chooses among those that there are, and returns its name; "" if
// there are none.
func (s *Server) Drop(n uint64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := slices.Sorted(maps.Keys(s.keys))
	if len(names) == 0 {
		return ""
	}
	name := names[n%uint64(len(names))]
	delete(s.keys, name)
	return name
}

// Copy is what the keys of a server were at some moment.
type Copy map[string]value

// Copy returns what the keys are now, as a replica has them.
func (s *Server) Copy() Copy {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := Copy{}
	for key, v := range s.keys {
		c[key] = value{held: copyOf(v.held), expires: v.expires}
	}
	return c
}

// FailOver has a replica take the server's place, with what it has.
func (s *Server) FailOver(process string, has Copy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process = process
	clear(s.keys)
	for key, v := range has {
		s.keys[key] = &value{held: copyOf(v.held), expires: v.expires}
	}
}

func copyOf(held any) any {
	switch h := held.(type) {
	case *hash:
		return &hash{values: maps.Clone(h.values), order: slices.Clone(h.order)}
	case *sorted:
		return &sorted{scores: maps.Clone(h.scores), order: slices.Clone(h.order)}
	case *list:
		return &list{items: slices.Clone(h.items)}
	default:
		return held
	}
}
