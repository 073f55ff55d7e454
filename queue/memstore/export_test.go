package memstore

// FailWrites makes writing the journal of a room fail until mend is called, as
// on a full disk: the directory takes no new file either.
func FailWrites(s *Store, room string) (mend func(), err error) {
	r, err := s.room(room)
	if err != nil {
		return nil, err
	}
	path := r.journal.path
	r.journal.path = "/dev/null/none"
	return func() { r.journal.path = path }, r.journal.closeFile()
}

// Rooms is how many rooms the store has in memory.
func Rooms(s *Store) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.rooms)
}
