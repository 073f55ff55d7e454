package redismodel

import (
	"crypto/sha1" //nolint:gosec // scripts have such names
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// openLua makes what scripts find.
func (s *Server) openLua() {
	l := lua.NewState(lua.Options{RegistrySize: 1 << 12, RegistryMaxSize: 1 << 20, CallStackSize: 1 << 9})
	l.SetGlobal("pcall", l.NewFunction(s.pcall))
	redis := l.NewTable()
	l.SetFuncs(redis, map[string]lua.LGFunction{
		"call":  func(l *lua.LState) int { return s.called(l, true) },
		"pcall": func(l *lua.LState) int { return s.called(l, false) },
		"error_reply": func(l *lua.LState) int {
			t := l.NewTable()
			t.RawSetString("err", lua.LString(l.CheckString(1)))
			l.Push(t)
			return 1
		},
	})
	l.SetGlobal("redis", redis)
	l.SetGlobal("tonumber", l.NewFunction(toNumber))
	l.SetGlobal("struct", l.SetFuncs(l.NewTable(), map[string]lua.LGFunction{"pack": structPack, "unpack": structUnpack, "size": structSize}))
	l.SetGlobal("cmsgpack", l.SetFuncs(l.NewTable(), map[string]lua.LGFunction{"pack": packJSON, "unpack": unpackJSON}))
	l.SetGlobal("cjson", l.SetFuncs(l.NewTable(), map[string]lua.LGFunction{"encode": packJSON, "decode": unpackJSON}))
	s.lua = l
}

// pcall is pcall. That of the library has every function that is under way lose its variables at an
// error, those of the caller too: so each call has a thread of its own.
func (s *Server) pcall(l *lua.LState) int {
	if s.depth == len(s.threads) {
		thread, _ := s.lua.NewThread()
		s.threads = append(s.threads, thread)
	}
	thread, args := s.threads[s.depth], l.GetTop()
	s.depth++
	defer func() { s.depth-- }()
	thread.SetTop(0)
	for i := range args {
		thread.Push(l.Get(i + 1))
	}
	if err := thread.PCall(args-1, lua.MultRet, nil); err != nil {
		l.Push(lua.LFalse)
		l.Push(object(err))
		return 2
	}
	l.Push(lua.LTrue)
	results := thread.GetTop()
	for i := range results {
		l.Push(thread.Get(i + 1))
	}
	return 1 + results
}

// object is what a script has raised.
func object(err error) lua.LValue {
	if e, ok := err.(*lua.ApiError); ok { //nolint:errorlint // PCall returns no other
		return e.Object
	}
	return lua.LString(err.Error())
}

// toNumber is tonumber without a base. That of the library knows no integers beyond 63 bits, and no
// exponents.
func toNumber(l *lua.LState) int {
	switch v := l.CheckAny(1).(type) {
	case lua.LNumber:
		l.Push(v)
	case lua.LString:
		text := strings.TrimSpace(string(v))
		f, err := strconv.ParseFloat(text, 64)
		if n, hex := strings.CutPrefix(strings.ToLower(text), "0x"); hex {
			var whole uint64
			whole, err = strconv.ParseUint(n, 16, 64)
			f = float64(whole)
		}
		if err != nil && !errors.Is(err, strconv.ErrRange) || strings.Contains(text, "_") {
			l.Push(lua.LNil)
		} else {
			l.Push(lua.LNumber(f))
		}
	default:
		l.Push(lua.LNil)
	}
	return 1
}

func sha(source string) string {
	sum := sha1.Sum([]byte(source)) //nolint:gosec // scripts have such names
	return hex.EncodeToString(sum[:])
}

// load compiles a script.
func (s *Server) load(source string) (name string, err error) {
	name = sha(source)
	if _, known := s.scripts[name]; known {
		return name, nil
	}
	chunk, err := parse.Parse(strings.NewReader(source), name)
	if err != nil {
		return "", fault("ERR Error compiling script: " + err.Error())
	}
	proto, err := lua.Compile(chunk, name)
	if err != nil {
		return "", fault("ERR Error compiling script: " + err.Error())
	}
	s.scripts[name] = proto
	return name, nil
}

func (s *Server) script(args []string) any {
	switch strings.ToUpper(args[0]) {
	case "LOAD":
		name, err := s.load(args[1])
		if err != nil {
			return err
		}
		return name
	case "FLUSH":
		clear(s.scripts)
		return Status("OK")
	case "EXISTS":
		list := []any{}
		for _, name := range args[1:] {
			_, known := s.scripts[name]
			list = append(list, map[bool]int64{true: 1}[known])
		}
		return list
	}
	return errSyntax
}

func (s *Server) eval(args []string) any {
	name, err := s.load(args[0])
	if err != nil {
		return err
	}
	return s.run(name, args)
}

func (s *Server) evalSHA(args []string) any {
	if _, known := s.scripts[args[0]]; !known {
		return fault("NOSCRIPT No matching script. Please use EVAL.")
	}
	return s.run(args[0], args)
}

// run runs a script. The arguments begin with its name or source, and how many keys there are.
func (s *Server) run(name string, args []string) any {
	n, err := number(args[1])
	if err != nil || n < 0 || int(n) > len(args)-2 {
		return errNumber
	}
	l := s.lua
	l.SetGlobal("KEYS", table(l, args[2:2+n]))
	l.SetGlobal("ARGV", table(l, args[2+n:]))
	top := l.GetTop()
	defer l.SetTop(top)
	l.Push(l.NewFunctionFromProto(s.scripts[name]))
	if err := l.PCall(0, 1, nil); err != nil {
		text := object(err).String()
		if text != s.raised { // the script has made it
			text = "ERR " + text
		}
		return fault(text)
	}
	return fromLua(l.Get(-1))
}

func table(l *lua.LState, list []string) *lua.LTable {
	t := l.CreateTable(len(list), 0)
	for _, item := range list {
		t.Append(lua.LString(item))
	}
	return t
}

// called does a command for a script. With raise, an error of it is one of the script's.
func (s *Server) called(l *lua.LState, raise bool) int {
	args := make([]string, l.GetTop())
	for i := range args {
		switch v := l.Get(i + 1).(type) {
		case lua.LString:
			args[i] = string(v)
		case lua.LNumber:
			args[i] = scoreText(float64(v))
		default:
			l.Error(lua.LString("Lua redis lib command arguments must be strings or integers"), 0)
		}
	}
	reply := s.do(args)
	if err, failed := reply.(error); failed && raise {
		s.raised = err.Error()
		l.Error(lua.LString(err.Error()), 0)
	}
	l.Push(toLua(l, reply))
	return 1
}

// toLua is a reply as scripts have it.
func toLua(l *lua.LState, reply any) lua.LValue {
	switch r := reply.(type) {
	case string:
		return lua.LString(r)
	case int64:
		return lua.LNumber(r)
	case Status:
		t := l.NewTable()
		t.RawSetString("ok", lua.LString(r))
		return t
	case error:
		t := l.NewTable()
		t.RawSetString("err", lua.LString(r.Error()))
		return t
	case pairs:
		return toLua(l, []any(r))
	case []any:
		t := l.CreateTable(len(r), 0)
		for _, item := range r {
			t.Append(toLua(l, item))
		}
		return t
	default:
		return lua.LFalse
	}
}

// fromLua is what a script returns as a reply.
func fromLua(v lua.LValue) any {
	switch v := v.(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return int64(v)
	case lua.LBool:
		if v {
			return int64(1)
		}
		return nil
	case *lua.LTable:
		if err := v.RawGetString("err"); err != lua.LNil {
			return fault(err.String())
		}
		if status := v.RawGetString("ok"); status != lua.LNil {
			return Status(status.String())
		}
		list := []any{}
		for i := 1; v.RawGetInt(i) != lua.LNil; i++ {
			list = append(list, fromLua(v.RawGetInt(i)))
		}
		return list
	default:
		return nil
	}
}
