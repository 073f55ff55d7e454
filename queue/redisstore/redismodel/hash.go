package redismodel

import (
	"slices"
	"strconv"
)

// hash has fields, in the order in which they came.
type hash struct {
	values map[string]string
	order  []string
}

func newHash() *hash { return &hash{values: map[string]string{}} }

func (h *hash) size() int { return len(h.values) }

func (h *hash) set(field, value string) (added bool) {
	if _, known := h.values[field]; !known {
		h.order = append(h.order, field)
		added = true
	}
	h.values[field] = value
	return added
}

func (h *hash) get(field string) any {
	if h == nil {
		return nil
	}
	if v, ok := h.values[field]; ok {
		return v
	}
	return nil
}

func (s *Server) hset(args []string) any {
	if len(args)%2 == 0 {
		return fault("ERR wrong number of arguments for 'hset' command")
	}
	return change(s, args[0], newHash, func(h *hash) any {
		n := int64(0)
		for i := 1; i < len(args); i += 2 {
			if h.set(args[i], args[i+1]) {
				n++
			}
		}
		return n
	})
}

func (s *Server) hget(args []string) any {
	h, err := lookUp[*hash](s, args[0])
	if err != nil {
		return err
	}
	return h.get(args[1])
}

func (s *Server) hmget(args []string) any {
	h, err := lookUp[*hash](s, args[0])
	if err != nil {
		return err
	}
	list := make([]any, len(args)-1)
	for i, field := range args[1:] {
		list[i] = h.get(field)
	}
	return list
}

func (s *Server) hdel(args []string) any {
	return change(s, args[0], newHash, func(h *hash) any {
		n := int64(0)
		for _, field := range args[1:] {
			if _, known := h.values[field]; known {
				delete(h.values, field)
				h.order = slices.DeleteFunc(h.order, func(of string) bool { return of == field })
				n++
			}
		}
		return n
	})
}

func (s *Server) hgetall(args []string) any {
	h, err := lookUp[*hash](s, args[0])
	if err != nil || h == nil {
		return orEmpty(err)
	}
	all := pairs{}
	for _, field := range h.order {
		all = append(all, field, h.values[field])
	}
	return all
}

func (s *Server) hkeys(args []string) any {
	h, err := lookUp[*hash](s, args[0])
	if err != nil || h == nil {
		return orEmpty(err)
	}
	return texts(h.order)
}

// hrandfield returns as many fields as are asked for: those that it has not returned for longest.
func (s *Server) hrandfield(args []string) any {
	h, err := lookUp[*hash](s, args[0])
	if err != nil || h == nil {
		return orEmpty(err)
	}
	n, err := number(args[1])
	if err != nil {
		return err
	}
	n = min(max(n, 0), int64(len(h.order)))
	fields := slices.Clone(h.order[:n])
	h.order = append(h.order[n:], fields...)
	return texts(fields)
}

// orEmpty is an error if there is one, and else an empty list.
func orEmpty(err error) any {
	if err != nil {
		return err
	}
	return []any{}
}

func (s *Server) hlen(args []string) any {
	h, err := lookUp[*hash](s, args[0])
	switch {
	case err != nil:
		return err
	case h == nil:
		return int64(0)
	}
	return int64(h.size())
}

func (s *Server) hincrby(args []string) any {
	by, err := number(args[2])
	if err != nil {
		return err
	}
	return change(s, args[0], newHash, func(h *hash) any {
		before := int64(0)
		if v, known := h.values[args[1]]; known {
			if before, err = strconv.ParseInt(v, 10, 64); err != nil {
				return fault("ERR hash value is not an integer")
			}
		}
		h.set(args[1], strconv.FormatInt(before+by, 10))
		return before + by
	})
}
