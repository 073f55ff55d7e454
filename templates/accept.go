package templates

import "strings"

// WantsJSON reports whether an Accept header asks for JSON rather than for the
// page: it names application/json, with a quality above zero and not below
// that of text/html; where both are named with the same quality, the first one
// named counts. Wildcards alone ask for the page, and so does an empty header.
// Several header lines are to be joined by commas, as RFC 9110 has it. An
// element whose quality cannot be read counts as not being there.
func WantsJSON(accept string) bool {
	if !mentionsJSON(accept) {
		return false
	}
	json, html := noRange, noRange
	subtypes, all := noRange, noRange // text/* and */*
	for position := 0; accept != ""; position++ {
		var element string
		element, accept = cutList(accept, ',')
		media, params := cutList(element, ';')
		quality, ok := qualityOf(params)
		if !ok {
			continue
		}
		switch media = trim(media); {
		case is(media, "application/json"):
			json.add(quality, position)
		case is(media, "text/html"):
			html.add(quality, position)
		case is(media, "text/*"):
			subtypes.add(quality, position)
		case media == "*/*" || media == "*":
			all.add(quality, position)
		}
	}
	if json.quality <= 0 {
		return false
	}
	if html.named() {
		return json.quality > html.quality || json.quality == html.quality && json.position < html.position
	}
	if subtypes.named() {
		return json.quality >= subtypes.quality
	}
	return json.quality >= all.quality
}

// mentionsJSON spares most browsers' headers from being taken apart.
func mentionsJSON(accept string) bool {
	for {
		slash := strings.IndexByte(accept, '/')
		if slash < 0 {
			return false
		}
		accept = accept[slash+1:]
		if len(accept) >= len("json") && is(accept[:len("json")], "json") {
			return true
		}
	}
}

// mediaRange is what an Accept header says of one media type: the best of its
// qualities, in thousandths, and where it was first named.
type mediaRange struct {
	quality, position int
}

var noRange = mediaRange{quality: -1}

func (m *mediaRange) named() bool { return m.quality >= 0 }

func (m *mediaRange) add(quality, position int) {
	if !m.named() {
		m.position = position
	}
	m.quality = max(m.quality, quality)
}

// cutList cuts a list at its first separator outside of quoted strings.
func cutList(list string, separator byte) (head, tail string) {
	quoted := false
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && c == separator:
			return list[:i], list[i+1:]
		}
	}
	return list, ""
}

// qualityOf finds the parameter q, in thousandths; 1000 without one. It is not
// ok if q is not a number between 0 and 1.
func qualityOf(params string) (quality int, ok bool) {
	for params != "" {
		var param string
		param, params = cutList(params, ';')
		name, value, found := strings.Cut(param, "=")
		if name = trim(name); found && (name == "q" || name == "Q") {
			return thousandths(trim(value))
		}
	}
	return 1000, true
}

// thousandths reads "1", "0.5", "1.000" or ".2", which old clients send.
// Digits beyond the third are dropped.
func thousandths(text string) (n int, ok bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	switch {
	case whole == "1":
		n = 1000
	case whole != "0" && (whole != "" || fraction == ""):
		return 0, false
	}
	for i, unit := 0, 100; i < len(fraction); i, unit = i+1, unit/10 {
		digit := fraction[i] - '0'
		if digit > 9 || n >= 1000 && digit > 0 {
			return 0, false
		}
		n += int(digit) * unit
	}
	return n, true
}

// is compares a media type without regard to ASCII letter case. Of equal
// length, no letter beyond ASCII folds to one within.
func is(media, want string) bool {
	return len(media) == len(want) && strings.EqualFold(media, want)
}

// trim removes the white space that RFC 9110 allows around list elements.
func trim(s string) string {
	return strings.Trim(s, " \t")
}
