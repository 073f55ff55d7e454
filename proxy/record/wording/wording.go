// Package wording says in plain words what a setting is, what it is set to, and what a change has
// changed. The dashboard and the report have the same words.
package wording

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// OfEvent begins what a change of a planned event is of: its name follows.
const OfEvent = "event "

// Plain says in plain words what a setting is; its own name for what is none.
func Plain(setting string) string {
	f := queue.Setting(setting)
	if f == nil {
		return setting
	}
	return strings.ToUpper(f.Usage[:1]) + f.Usage[1:]
}

// Value is the value of a setting as people read it.
func Value(setting, value string) string {
	if setting == "items" {
		if told := queue.Items(value).Words(); told != "" {
			return told
		}
	}
	switch value { // there may be no items, or no list of them
	case "true":
		return "on"
	case "false":
		return "off"
	case "":
		return "(empty)"
	}
	return value
}

// mostCharacters is how much of a text a change shows.
const mostCharacters = 80

// short is the begin of a text, up to a word.
func short(text string) string {
	if utf8.RuneCountInString(text) <= mostCharacters {
		return text
	}
	begin := string([]rune(text)[:mostCharacters])
	if at := strings.LastIndexAny(begin, " \n"); at > mostCharacters/2 {
		begin = begin[:at]
	}
	return begin + "…"
}

// Change is what something was before a change, "" for nothing, and what it is since, as people read
// it: of a long text the begin, and of an event that has changed what is other than before. Its times
// are as the record has them: see [record.WithMoments].
func Change(c record.Change) (from, to string) {
	switch {
	case queue.Setting(c.What) == nil && !strings.HasPrefix(c.What, OfEvent):
		return c.From, c.To
	case queue.Setting(c.What) != nil:
		from, to = Value(c.What, c.From), Value(c.What, c.To)
		if c.What != "items" {
			from, to = short(from), short(to)
		}
		return from, to
	}
	switch "" {
	case c.From:
		return "not planned", shortParts(partsOf(c.To))
	case c.To:
		return shortParts(partsOf(c.From)), "cancelled"
	}
	was, is := partsOf(c.From), partsOf(c.To)
	return shortParts(otherThan(was, is)), shortParts(otherThan(is, was))
}

// part is something that an event has, as a change tells it: what it is, and the rest.
type part struct{ name, value string }

// partsOf are the parts of an event. They are divided by commas, but for those of quoted texts.
func partsOf(event string) (parts []part) {
	quoted, begin := false, 0
	for i := 0; i <= len(event); i++ {
		switch {
		case i == len(event) || !quoted && strings.HasPrefix(event[i:], ", "):
			name, value, _ := strings.Cut(event[begin:i], " ")
			if len(parts) == 0 { // its times, without a name
				name, value = "", event[begin:i]
			}
			parts = append(parts, part{name, value})
			begin = i + len(", ")
		case event[i] == '\\' && quoted:
			i++
		case event[i] == '"':
			quoted = !quoted
		}
	}
	return parts
}

// otherThan are those parts that others do not have, with those that only the others have.
func otherThan(parts, others []part) (list []part) {
	named := func(in []part, name string) *part {
		for i := range in {
			if in[i].name == name {
				return &in[i]
			}
		}
		return nil
	}
	for _, p := range parts {
		if o := named(others, p.name); o == nil || o.value != p.value {
			list = append(list, p)
		}
	}
	for _, o := range others {
		switch {
		case named(parts, o.name) != nil:
		case o.value == "":
			list = append(list, part{"not " + o.name, ""})
		case queue.Setting(o.name) != nil:
			list = append(list, part{o.name, "as the room has it"})
		default:
			list = append(list, part{"no " + o.name, ""})
		}
	}
	return list
}

// shortParts are parts in a line. Pages are told apart by the first digits of their hash.
func shortParts(parts []part) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		switch {
		case p.name == "page":
			texts[i] = "a page of its own (" + p.value + ")"
		case strings.HasPrefix(p.value, `"`):
			text, err := strconv.Unquote(p.value)
			if err != nil {
				text = p.value
			}
			texts[i] = p.name + " “" + short(text) + "”"
		default:
			texts[i] = strings.TrimSpace(p.name + " " + p.value)
		}
	}
	return strings.Join(texts, ", ")
}
