package redismodel

// list is a list of texts.
type list struct{ items []string }

func newList() *list { return &list{} }

func (l *list) size() int { return len(l.items) }

func (s *Server) rpush(args []string) any {
	return change(s, args[0], newList, func(l *list) any {
		l.items = append(l.items, args[1:]...)
		return int64(len(l.items))
	})
}

// lpop is LPOP with a count.
func (s *Server) lpop(args []string) any {
	count := int64(1)
	if len(args) > 1 {
		var err error
		if count, err = number(args[1]); err != nil || count < 0 {
			return errNumber
		}
	}
	if s.find(args[0]) == nil {
		return nil
	}
	return change(s, args[0], newList, func(l *list) any {
		n := min(int(count), len(l.items))
		taken := l.items[:n:n]
		l.items = l.items[n:]
		if len(args) == 1 {
			return taken[0]
		}
		return texts(taken)
	})
}

func (s *Server) llen(args []string) any {
	l, err := lookUp[*list](s, args[0])
	switch {
	case err != nil:
		return err
	case l == nil:
		return int64(0)
	}
	return int64(l.size())
}
