package memstore

import "os"

// FailWrites makes writing the journal of a room fail until mend is called, as
// on a full disk: the directory takes no new file either.
func FailWrites(s *Store, room string) (mend func(), err error) {
	r, err := s.room(room)
	if err != nil {
		return nil, err
	}
	readOnly, err := os.Open(r.journal.path)
	if err != nil {
		return nil, err
	}
	file, path := r.journal.file, r.journal.path
	r.journal.file, r.journal.path = readOnly, "/dev/null/none"
	return func() {
		r.journal.file, r.journal.path = file, path
		_ = readOnly.Close()
	}, nil
}
