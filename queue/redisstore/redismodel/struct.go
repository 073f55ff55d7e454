package redismodel

import (
	"bytes"
	"encoding/binary"
	"math"

	lua "github.com/yuin/gopher-lua"
)

// item is one of a format of the library struct: how it is written, and how many bytes it takes.
type item struct {
	kind  byte // 'd', 'i' for an integer with a sign, 'u' for one without, 'c' for so many bytes, 's' for a text that ends with a zero
	bytes int
}

// formats are those that were read, by how they are written. Scripts use few.
func (l layouts) of(format string) []item {
	if known, ok := l[format]; ok {
		return known
	}
	items := []item{}
	for i := 0; i < len(format); i++ {
		kind, size := format[i], 0
		for i+1 < len(format) && format[i+1] >= '0' && format[i+1] <= '9' {
			i++
			size = size*10 + int(format[i]-'0')
		}
		switch kind {
		case '>': // all numbers are big-endian
		case 'd':
			items = append(items, item{'d', 8})
		case 'b':
			items = append(items, item{'i', 1})
		case 'B':
			items = append(items, item{'u', 1})
		case 'i':
			items = append(items, item{'i', size})
		case 'I':
			items = append(items, item{'u', size})
		case 'c':
			items = append(items, item{'c', size})
		case 's':
			items = append(items, item{'s', 0})
		default:
			panic("the model does not know the format " + format)
		}
	}
	l[format] = items
	return items
}

// layouts are formats that were read.
type layouts map[string][]item

// layoutsOf returns the formats that a state has read.
func layoutsOf(l *lua.LState) layouts {
	const name = "formats of struct"
	if kept, ok := l.G.Registry.RawGetString(name).(*lua.LUserData); ok {
		return kept.Value.(layouts)
	}
	fresh := layouts{}
	l.G.Registry.RawSetString(name, &lua.LUserData{Value: fresh})
	return fresh
}

func structSize(l *lua.LState) int {
	n := 0
	for _, of := range layoutsOf(l).of(l.CheckString(1)) {
		if of.kind == 's' {
			l.RaiseError("variable-size format in packsize")
		}
		n += of.bytes
	}
	l.Push(lua.LNumber(n))
	return 1
}

func structPack(l *lua.LState) int {
	var b []byte
	for i, of := range layoutsOf(l).of(l.CheckString(1)) {
		switch of.kind {
		case 'd':
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(float64(l.CheckNumber(i+2))))
		case 'i', 'u':
			n := int64(l.CheckNumber(i + 2))
			for shift := 8 * (of.bytes - 1); shift >= 0; shift -= 8 {
				b = append(b, byte(n>>shift))
			}
		case 'c':
			text := l.CheckString(i + 2)
			if len(text) < of.bytes {
				l.ArgError(i+2, "string too short")
			}
			b = append(b, text[:of.bytes]...)
		case 's':
			b = append(append(b, l.CheckString(i+2)...), 0)
		}
	}
	l.Push(lua.LString(b))
	return 1
}

func structUnpack(l *lua.LState) int {
	data, at, results := []byte(l.CheckString(2)), l.OptInt(3, 1)-1, 0
	for _, of := range layoutsOf(l).of(l.CheckString(1)) {
		if at < 0 || at+of.bytes > len(data) {
			l.ArgError(2, "data string too short")
		}
		part := data[at : at+of.bytes]
		at += of.bytes
		switch of.kind {
		case 'd':
			l.Push(lua.LNumber(math.Float64frombits(binary.BigEndian.Uint64(part))))
		case 'i', 'u':
			l.Push(lua.LNumber(integer(part, of.kind == 'i')))
		case 'c':
			l.Push(lua.LString(part))
		case 's':
			end := bytes.IndexByte(data[at:], 0)
			if end < 0 {
				l.ArgError(2, "unfinished string")
			}
			l.Push(lua.LString(data[at : at+end]))
			at += end + 1
		}
		results++
	}
	l.Push(lua.LNumber(at + 1))
	return results + 1
}

// integer reads a number of so many bytes, with a sign or without.
func integer(part []byte, signed bool) int64 {
	n := int64(0)
	for _, b := range part {
		n = n<<8 | int64(b)
	}
	if rest := 64 - 8*len(part); signed {
		n = n << rest >> rest
	}
	return n
}
