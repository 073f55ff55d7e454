package redismodel

// Size is how much a server keeps.
type Size struct {
	Keys    int
	Entries int // fields, members and elements of all keys
	Bytes   int // of their names and values; not what a server needs besides
}

// Size returns how much the server keeps now.
func (s *Server) Size() (all Size) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.keys {
		v := s.find(key)
		if v == nil {
			continue
		}
		all.Keys++
		all.Bytes += len(key)
		switch held := v.held.(type) {
		case *hash:
			for name, value := range held.values {
				all.add(len(name) + len(value))
			}
		case *sorted:
			for name := range held.scores {
				all.add(len(name) + 8)
			}
		case *list:
			for _, item := range held.items {
				all.add(len(item))
			}
		case text:
			all.add(len(held))
		}
	}
	return all
}

// add counts an entry of so many bytes.
func (s *Size) add(bytes int) {
	s.Entries++
	s.Bytes += bytes
}
