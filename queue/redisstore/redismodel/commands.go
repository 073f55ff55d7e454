package redismodel

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// command is what the server does for the name of a command. The arguments come without the name.
type command struct {
	least int // arguments, the name among them
	do    func(s *Server, args []string) any
}

// commands are all that the model knows, by name.
var commands map[string]command

func init() { //nolint:gochecknoinits // EVAL does commands itself
	commands = map[string]command{
		"PING": {1, func(*Server, []string) any { return Status("PONG") }}, "HELLO": {1, hello}, "INFO": {1, info}, "TIME": {1, (*Server).time},
		"CLIENT": {1, ok}, "SELECT": {2, ok}, "AUTH": {2, ok},
		"EVAL": {3, (*Server).eval}, "EVALSHA": {3, (*Server).evalSHA}, "SCRIPT": {2, (*Server).script},
		"DEL": {2, (*Server).del}, "UNLINK": {2, (*Server).del}, "EXISTS": {2, (*Server).exists}, "TYPE": {2, (*Server).typeOf}, "PEXPIRE": {3, (*Server).pexpire},
		"PTTL": {2, (*Server).pttl}, "FLUSHALL": {1, (*Server).flush}, "SET": {3, (*Server).set}, "GET": {2, (*Server).get}, "KEYS": {2, (*Server).list},
		"HSET": {4, (*Server).hset}, "HGET": {3, (*Server).hget}, "HMGET": {3, (*Server).hmget}, "HDEL": {3, (*Server).hdel}, "HGETALL": {2, (*Server).hgetall},
		"HKEYS": {2, (*Server).hkeys}, "HINCRBY": {4, (*Server).hincrby}, "HLEN": {2, (*Server).hlen}, "HRANDFIELD": {3, (*Server).hrandfield},
		"ZADD": {4, (*Server).zadd}, "ZREM": {3, (*Server).zrem}, "ZSCORE": {3, (*Server).zscore}, "ZMSCORE": {3, (*Server).zmscore}, "ZCARD": {2, (*Server).zcard},
		"ZCOUNT": {4, (*Server).zcount}, "ZLEXCOUNT": {4, (*Server).zlexcount}, "ZRANK": {3, (*Server).zrank}, "ZINCRBY": {4, (*Server).zincrby},
		"ZRANGE": {4, (*Server).zrange}, "ZRANGEBYSCORE": {4, (*Server).zrangebyscore}, "ZREVRANGEBYSCORE": {4, (*Server).zrevrangebyscore},
		"ZREMRANGEBYRANK": {4, (*Server).zremrangebyrank}, "RPUSH": {3, (*Server).rpush}, "LPOP": {2, (*Server).lpop}, "LLEN": {2, (*Server).llen},
	}
}

func ok(*Server, []string) any { return Status("OK") }

func hello(*Server, []string) any {
	return pairs{"server", "redis", "version", "7.2.0", "proto", int64(3), "id", int64(1), "mode", "standalone", "role", "master", "modules", []any{}}
}

func info(s *Server, _ []string) any {
	return "# Server\r\nredis_version:7.2.0\r\nrun_id:" + s.process + "\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\ncluster_enabled:0\r\n"
}

func (s *Server) time([]string) any {
	now := s.clock()
	return []any{strconv.FormatInt(now.Unix(), 10), strconv.Itoa(now.Nanosecond() / 1000)}
}

func (s *Server) del(keys []string) any {
	n := int64(0)
	for _, key := range keys {
		if s.find(key) != nil {
			delete(s.keys, key)
			n++
		}
	}
	return n
}

func (s *Server) exists(keys []string) any {
	n := int64(0)
	for _, key := range keys {
		if s.find(key) != nil {
			n++
		}
	}
	return n
}

func (s *Server) typeOf(args []string) any {
	v := s.find(args[0])
	if v == nil {
		return Status("none")
	}
	switch v.held.(type) {
	case *hash:
		return Status("hash")
	case *sorted:
		return Status("zset")
	case *list:
		return Status("list")
	default:
		return Status("string")
	}
}

func (s *Server) pexpire(args []string) any {
	ms, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return errNumber
	}
	v := s.find(args[0])
	if v == nil {
		return int64(0)
	}
	if ms <= 0 {
		delete(s.keys, args[0])
		return int64(1)
	}
	v.expires = s.clock().Add(time.Duration(ms) * time.Millisecond)
	return int64(1)
}

func (s *Server) pttl(args []string) any {
	switch v := s.find(args[0]); {
	case v == nil:
		return int64(-2)
	case v.expires.IsZero():
		return int64(-1)
	default:
		return v.expires.Sub(s.clock()).Milliseconds()
	}
}

func (s *Server) flush([]string) any {
	clear(s.keys)
	return Status("OK")
}

// list is KEYS with the pattern * or a prefix before it.
func (s *Server) list(args []string) any {
	prefix, _ := strings.CutSuffix(args[0], "*")
	names := []string{}
	for key := range s.keys {
		if strings.HasPrefix(key, prefix) && s.find(key) != nil {
			names = append(names, key)
		}
	}
	return texts(sortedCopy(names))
}

func (s *Server) set(args []string) any {
	s.keys[args[0]] = &value{held: text(args[1])}
	return Status("OK")
}

func (s *Server) get(args []string) any {
	v, err := lookUp[text](s, args[0])
	switch {
	case err != nil:
		return err
	case s.find(args[0]) == nil:
		return nil
	}
	return string(v)
}

// text is what a key of the plainest type has.
type text string

func texts(list []string) []any {
	all := make([]any, len(list))
	for i, t := range list {
		all[i] = t
	}
	return all
}

// number reads an integer.
func number(arg string) (int64, error) {
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil {
		return 0, errNumber
	}
	return n, nil
}

// scoreText writes a score as Redis does.
func scoreText(score float64) string {
	if score == float64(int64(score)) {
		return strconv.FormatInt(int64(score), 10)
	}
	return fmt.Sprintf("%.17g", score)
}
