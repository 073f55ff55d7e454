package redismodel

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// score reads a score.
func score(arg string) (float64, error) {
	switch strings.ToLower(arg) {
	case "+inf", "inf":
		return math.Inf(1), nil
	case "-inf":
		return math.Inf(-1), nil
	}
	f, err := strconv.ParseFloat(arg, 64)
	if err != nil || math.IsNaN(f) {
		return 0, fault("ERR value is not a valid float")
	}
	return f, nil
}

func readBound(arg string) (b bound, err error) {
	rest, without := strings.CutPrefix(arg, "(")
	if b.score, err = score(rest); err != nil {
		return b, errFloat
	}
	b.without = without
	return b, nil
}

func readBounds(low, high string) (from, to bound, err error) {
	if from, err = readBound(low); err != nil {
		return from, to, err
	}
	to, err = readBound(high)
	return from, to, err
}

func (s *Server) zadd(args []string) any {
	rest, only := args[1:], ""
	if option := strings.ToUpper(rest[0]); slices.Contains([]string{"NX", "XX", "GT", "LT"}, option) {
		rest, only = rest[1:], option
	}
	if len(rest)%2 != 0 || len(rest) == 0 {
		return errSyntax
	}
	scores := make([]float64, len(rest)/2)
	for i := range scores {
		var err error
		if scores[i], err = score(rest[2*i]); err != nil {
			return err
		}
	}
	return change(s, args[0], newSorted, func(z *sorted) any {
		n := int64(0)
		for i, to := range scores {
			name := rest[2*i+1]
			before, known := z.scores[name]
			if known && (only == "NX" || only == "GT" && to <= before || only == "LT" && to >= before) || !known && only == "XX" {
				continue
			}
			if z.set(name, to) {
				n++
			}
		}
		return n
	})
}

func (s *Server) zrem(args []string) any {
	return change(s, args[0], newSorted, func(z *sorted) any {
		n := int64(0)
		for _, name := range args[1:] {
			if z.remove(name) {
				n++
			}
		}
		return n
	})
}

func (z *sorted) score(name string) any {
	if z == nil {
		return nil
	}
	if f, known := z.scores[name]; known {
		return scoreText(f)
	}
	return nil
}

func (s *Server) zscore(args []string) any {
	z, err := lookUp[*sorted](s, args[0])
	if err != nil {
		return err
	}
	return z.score(args[1])
}

func (s *Server) zmscore(args []string) any {
	z, err := lookUp[*sorted](s, args[0])
	if err != nil {
		return err
	}
	list := make([]any, len(args)-1)
	for i, name := range args[1:] {
		list[i] = z.score(name)
	}
	return list
}

func (s *Server) zcard(args []string) any {
	z, err := lookUp[*sorted](s, args[0])
	switch {
	case err != nil:
		return err
	case z == nil:
		return int64(0)
	}
	return int64(z.size())
}

func (s *Server) zcount(args []string) any {
	from, to, err := readBounds(args[1], args[2])
	if err != nil {
		return err
	}
	z, err := lookUp[*sorted](s, args[0])
	if err != nil {
		return err
	}
	return int64(len(z.between(from, to)))
}

// zlexcount counts the members, all of one score, up to a text: the lower end is always -.
func (s *Server) zlexcount(args []string) any {
	z, err := lookUp[*sorted](s, args[0])
	high, without := strings.CutPrefix(args[2], "(")
	switch {
	case err != nil:
		return err
	case args[1] != "-" || !without:
		return fault("ERR the model counts from - to before a text only")
	case z == nil:
		return int64(0)
	}
	n := int64(0)
	for _, m := range z.order {
		if m.name >= high {
			break
		}
		n++
	}
	return n
}

func (s *Server) zrank(args []string) any {
	z, err := lookUp[*sorted](s, args[0])
	if err != nil {
		return err
	}
	if z == nil {
		return nil
	}
	f, known := z.scores[args[1]]
	if !known {
		return nil
	}
	return int64(z.rank(member{f, args[1]}))
}

func (s *Server) zincrby(args []string) any {
	by, err := score(args[1])
	if err != nil {
		return err
	}
	return change(s, args[0], newSorted, func(z *sorted) any {
		to := z.scores[args[2]] + by
		z.set(args[2], to)
		return scoreText(to)
	})
}

// window are the places from first to last in a row of n, as Redis counts: from the end if they are
// negative.
func window(first, last string, n int) (from, to int, err error) {
	a, err := number(first)
	if err != nil {
		return 0, 0, err
	}
	b, err := number(last)
	if err != nil {
		return 0, 0, err
	}
	size := int64(n)
	if a < 0 {
		a = max(a+size, 0)
	}
	if b < 0 {
		b += size
	}
	b = min(b, size-1)
	if a > b {
		return 0, 0, nil
	}
	return int(a), int(b) + 1, nil
}

// members writes members, with their scores if it is so wished.
func members(of []member, scores bool) []any {
	list := make([]any, 0, len(of)*2)
	for _, m := range of {
		list = append(list, m.name)
		if scores {
			list = append(list, scoreText(m.score))
		}
	}
	return list
}

func (s *Server) zrange(args []string) any {
	z, err := lookUp[*sorted](s, args[0])
	if err != nil || z == nil {
		return orEmpty(err)
	}
	from, to, err := window(args[1], args[2], z.size())
	if err != nil {
		return err
	}
	return members(z.order[from:to], len(args) > 3)
}

func (s *Server) zremrangebyrank(args []string) any {
	return change(s, args[0], newSorted, func(z *sorted) any {
		from, to, err := window(args[1], args[2], z.size())
		if err != nil {
			return err
		}
		for _, m := range slices.Clone(z.order[from:to]) {
			z.remove(m.name)
		}
		return int64(to - from)
	})
}

func (s *Server) zrangebyscore(args []string) any { return s.byScore(args, args[1], args[2], false) }

func (s *Server) zrevrangebyscore(args []string) any { return s.byScore(args, args[2], args[1], true) }

func (s *Server) byScore(args []string, low, high string, reversed bool) any {
	from, to, err := readBounds(low, high)
	if err != nil {
		return err
	}
	scores, skip, most := false, int64(0), int64(-1)
	for rest := args[3:]; len(rest) > 0; {
		switch option := strings.ToUpper(rest[0]); {
		case option == "WITHSCORES":
			scores, rest = true, rest[1:]
		case option == "LIMIT" && len(rest) > 2:
			if skip, err = number(rest[1]); err != nil {
				return err
			}
			if most, err = number(rest[2]); err != nil {
				return err
			}
			rest = rest[3:]
		default:
			return errSyntax
		}
	}
	z, err := lookUp[*sorted](s, args[0])
	if err != nil {
		return err
	}
	found := z.between(from, to)
	if reversed {
		found = slices.Clone(found)
		slices.Reverse(found)
	}
	found = found[min(int(skip), len(found)):]
	if most >= 0 {
		found = found[:min(int(most), len(found))]
	}
	return members(found, scores)
}
