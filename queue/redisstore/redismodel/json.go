package redismodel

import (
	"encoding/json"

	lua "github.com/yuin/gopher-lua"
)

// packJSON is cjson.encode, and in the model also cmsgpack.pack: only scripts read what it makes.
func packJSON(l *lua.LState) int {
	text, err := json.Marshal(plain(l.CheckAny(1)))
	if err != nil {
		l.RaiseError("%v", err)
	}
	l.Push(lua.LString(text))
	return 1
}

// unpackJSON is cjson.decode and cmsgpack.unpack.
func unpackJSON(l *lua.LState) int {
	var v any
	if err := json.Unmarshal([]byte(l.CheckString(1)), &v); err != nil {
		l.RaiseError("%v", err)
	}
	l.Push(ofJSON(l, v))
	return 1
}

func plain(v lua.LValue) any {
	switch v := v.(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return float64(v)
	case lua.LBool:
		return bool(v)
	case *lua.LTable:
		if n := v.Len(); n > 0 {
			list := make([]any, n)
			for i := range list {
				list[i] = plain(v.RawGetInt(i + 1))
			}
			return list
		}
		fields := map[string]any{}
		v.ForEach(func(key, value lua.LValue) { fields[key.String()] = plain(value) })
		return fields
	default:
		return nil
	}
}

func ofJSON(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case string:
		return lua.LString(v)
	case float64:
		return lua.LNumber(v)
	case bool:
		return lua.LBool(v)
	case []any:
		t := l.CreateTable(len(v), 0)
		for _, item := range v {
			t.Append(ofJSON(l, item))
		}
		return t
	case map[string]any:
		t := l.CreateTable(0, len(v))
		for key, item := range v {
			t.RawSetString(key, ofJSON(l, item))
		}
		return t
	default:
		return lua.LNil
	}
}
