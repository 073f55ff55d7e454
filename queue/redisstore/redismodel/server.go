package redismodel

import (
	"bufio"
	"net"
	"strings"
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// Server is a model of a Redis server. It is made by New.
type Server struct {
	clock func() time.Time

	mu      sync.Mutex
	keys    map[string]*value
	process string // its run_id
	scripts map[string]*lua.FunctionProto
	lua     *lua.LState
	threads []*lua.LState // in which calls of pcall run, by how many they are within
	depth   int           // of those that are under way
	raised  string        // the last error of a command that became one of its script
}

// value is what a key has.
type value struct {
	held    any       // a hash, a *sorted, a list or a text
	expires time.Time // zero for never
}

// New returns an empty server that goes by the clock and has a run_id.
func New(clock func() time.Time, process string) *Server {
	s := &Server{clock: clock, keys: map[string]*value{}, process: process, scripts: map[string]*lua.FunctionProto{}}
	s.openLua()
	return s
}

// Serve answers the commands that come over a connection until it ends. Through pass, if it is set,
// goes each command before it is done, and each reply before it is sent: pass may wait. It returns
// how often the command or the reply arrives: if never, the connection is closed; a command that
// comes twice is done twice, as by a proxy that sends it again, and the last reply counts.
func (s *Server) Serve(c net.Conn, pass func(reply bool) (times int)) {
	defer func() { _ = c.Close() }()
	if pass == nil {
		pass = func(bool) int { return 1 }
	}
	in, out := bufio.NewReader(c), []byte(nil)
	for {
		args, err := readCommand(in)
		if err != nil {
			return
		}
		times := pass(false)
		if times == 0 {
			return
		}
		var reply any
		for range times {
			reply = s.Do(args...)
		}
		if pass(true) == 0 {
			return
		}
		if out = appendReply(out[:0], reply); !write(c, out) {
			return
		}
	}
}

func write(c net.Conn, b []byte) bool {
	_, err := c.Write(b)
	return err == nil
}

// Do does a command and returns its reply: nil, a string, a [Status], an int64, an error, or a list
// of them.
func (s *Server) Do(args ...string) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.do(args)
}

// do is Do for a caller who holds mu.
func (s *Server) do(args []string) any {
	if len(args) == 0 {
		return fault("ERR unknown command ''")
	}
	c, ok := commands[strings.ToUpper(args[0])]
	switch {
	case !ok:
		return fault("ERR unknown command '" + args[0] + "'")
	case len(args) < c.least:
		return fault("ERR wrong number of arguments for '" + strings.ToLower(args[0]) + "' command")
	}
	return c.do(s, args[1:])
}

// find returns what a key has; nil if it has nothing.
func (s *Server) find(key string) *value {
	v, ok := s.keys[key]
	if !ok {
		return nil
	}
	if !v.expires.IsZero() && !s.clock().Before(v.expires) {
		delete(s.keys, key)
		return nil
	}
	return v
}

// lookUp returns what a key has if it has something of type T, and the zero T if it has nothing.
func lookUp[T any](s *Server, key string) (held T, err error) {
	v := s.find(key)
	if v == nil {
		return held, nil
	}
	held, ok := v.held.(T)
	if !ok {
		return held, errType
	}
	return held, nil
}

// change has do change what a key has, which is made by empty where it has nothing. A key that has
// nothing left is gone.
func change[T interface{ size() int }](s *Server, key string, empty func() T, do func(T) any) any {
	held, err := lookUp[T](s, key)
	if err != nil {
		return err
	}
	v := s.find(key)
	if v == nil {
		held = empty()
		v = &value{held: held}
	}
	reply := do(held)
	if held.size() == 0 {
		delete(s.keys, key)
	} else {
		s.keys[key] = v
	}
	return reply
}

// fault is an error that a command replies with.
type fault string

// Error returns the text that goes over the connection.
func (f fault) Error() string { return string(f) }

const (
	errType   fault = "WRONGTYPE Operation against a key holding the wrong kind of value"
	errNumber fault = "ERR value is not an integer or out of range"
	errFloat  fault = "ERR min or max is not a float"
	errSyntax fault = "ERR syntax error"
)
