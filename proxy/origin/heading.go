package origin

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// What makes the header of an answer one that is not passed on: net/http reads on where others
// stop.
var (
	errBlankName = errors.New("the answer's header has a blank before a colon")
	errOldChunks = errors.New("the answer is HTTP/1.0 and has a Transfer-Encoding")
)

var (
	lengthName   = []byte("Content-Length")
	encodingName = []byte("Transfer-Encoding")
)

// heading finds the end of an answer's header among the bytes of a connection, and reads what it
// says about the bytes that follow. It is no judge: net/http reads the same bytes. It passes over
// 1xx answers, which other answers follow.
type heading struct {
	held []byte // of a header, from the beginning, while its end has not come

	whole   bool // the header is there, and what follows is about it
	status  int
	old     bool  // HTTP/1.0
	length  int64 // -1 where none is said
	chunked bool
}

// begin makes the heading ready for the next answer.
func (h *heading) begin() { *h = heading{length: -1} }

// take reads what has come on, up to the end of the header, and returns how many bytes that is.
func (h *heading) take(p []byte) (n int, err error) {
	for n < len(p) && !h.whole {
		text, before := p[n:], len(h.held)
		if before > 0 {
			h.held = append(h.held, text...)
			text = h.held
		}
		end := headerEnd(text, before)
		if end == 0 {
			if before == 0 {
				h.held = bytes.Clone(text)
			}
			return len(p), nil
		}
		if err := h.read(text[:end]); err != nil {
			return n, err
		}
		n += end - before
		if h.status/100 == 1 && h.status != http.StatusSwitchingProtocols {
			h.begin()
			continue
		}
		h.held, h.whole = nil, true
	}
	return n, nil
}

// headerEnd is where a header ends that is at the beginning of text, behind its empty line; 0 if
// that has not come. It is known that it does not end within the first from bytes.
func headerEnd(text []byte, from int) int {
	for {
		i := bytes.IndexByte(text[from:], '\n')
		if i < 0 {
			return 0
		}
		from += i + 1
		line := bytes.TrimSuffix(text[:from-1], []byte{'\r'})
		if len(line) == 0 || line[len(line)-1] == '\n' {
			return from
		}
	}
}

// read reads a whole header.
func (h *heading) read(text []byte) error {
	line, rest, _ := bytes.Cut(text, []byte{'\n'})
	h.readStatus(line)
	for len(rest) > 0 {
		line, rest = nextField(rest)
		if err := h.readField(line); err != nil {
			return err
		}
	}
	if h.old && h.chunked {
		return errOldChunks
	}
	return nil
}

// nextField cuts off the first field, which may go on in lines that begin with a blank.
func nextField(text []byte) (field, rest []byte) {
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return text, nil
		}
		at += i + 1
		if at == len(text) || text[at] != ' ' && text[at] != '\t' {
			return text[:at], text[at:]
		}
	}
}

func (h *heading) readStatus(line []byte) {
	version, rest, _ := bytes.Cut(line, []byte{' '})
	h.old = bytes.HasPrefix(version, []byte("HTTP/0.")) || string(version) == "HTTP/1.0"
	rest = bytes.TrimLeft(rest, " ")
	h.status, _ = strconv.Atoi(string(rest[:min(3, len(rest))]))
}

func (h *heading) readField(field []byte) error {
	name, value, found := bytes.Cut(field, []byte{':'})
	if !found {
		return nil
	}
	if n := len(name); n > 0 && (name[n-1] == ' ' || name[n-1] == '\t') {
		return errBlankName
	}
	switch {
	case bytes.EqualFold(name, encodingName):
		h.chunked = true // net/http refuses any other
	case bytes.EqualFold(name, lengthName):
		length, err := strconv.ParseInt(strings.TrimSpace(string(value)), 10, 64)
		if err != nil {
			return nil // net/http refuses it
		}
		h.length = max(h.length, length) // net/http refuses others
	}
	return nil
}

// bodiless reports whether the answer has no body whatever its header says.
func (h *heading) bodiless() bool {
	return h.status == http.StatusNoContent || h.status == http.StatusNotModified
}

// liesInWait reports whether the header announces a body that the answer cannot have. An origin
// that sends it nevertheless, late, would have it taken for the next answer: so the connection is
// not used again.
func (h *heading) liesInWait() bool {
	return h.bodiless() && (h.chunked || h.length > 0)
}
