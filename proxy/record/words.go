package record

import (
	"cmp"
	"strings"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// SettingInWords says in plain words what a setting is; its own name for what is none.
func SettingInWords(name string) string {
	f := queue.Setting(name)
	if f == nil {
		return name
	}
	return strings.ToUpper(f.Usage[:1]) + f.Usage[1:]
}

// WasInWords is what something was before the change as people read it; "" where it was nothing.
func (c Change) WasInWords() string {
	if queue.Setting(c.What) == nil {
		return c.From
	}
	return ValueInWords(c.What, c.From)
}

// ThenInWords is what something is after the change as people read it.
func (c Change) ThenInWords() string {
	if queue.Setting(c.What) == nil {
		return cmp.Or(c.To, "none")
	}
	return ValueInWords(c.What, c.To)
}

// ValueInWords is the value of a setting as people read it.
func ValueInWords(name, value string) string {
	told := ""
	if name == "items" {
		told = queue.Items(value).Words() // "" if there are none, or it is no list
	}
	switch {
	case told != "":
		return told
	case value == "true":
		return "on"
	case value == "false":
		return "off"
	case value == "":
		return "(empty)"
	}
	return value
}
