package origin

import (
	"bytes"
	"strconv"
)

// chunks finds the end of a body in chunks (RFC 9112, section 7.1). It is no judge: net/http reads
// the same bytes.
type chunks struct {
	left    int64  // of a chunk and the line end behind it
	line    []byte // the beginning of a line whose end has not come
	trailer bool   // the last chunk has come
	ended   bool
	lost    bool // what came is no chunk, so that the end is not known
}

// take reads what has come on, up to the end of the body, and returns how many bytes that is.
func (c *chunks) take(p []byte) (n int) {
	for n < len(p) && !c.ended && !c.lost {
		if c.left > 0 {
			m := min(c.left, int64(len(p)-n))
			c.left -= m
			n += int(m)
			continue
		}
		i := bytes.IndexByte(p[n:], '\n')
		if i < 0 {
			c.line = append(c.line, p[n:]...)
			c.lost = len(c.line) > maxChunkLine
			return len(p)
		}
		line := p[n : n+i]
		if len(c.line) > 0 {
			line = append(c.line, line...)
		}
		c.read(line)
		c.line = c.line[:0]
		n += i + 1
	}
	if c.lost {
		return len(p)
	}
	return n
}

// maxChunkLine bounds a line between chunks, in bytes. net/http allows fewer.
const maxChunkLine = maxResponseHeader

// read reads a line: the size of a chunk, or one of the trailer.
func (c *chunks) read(line []byte) {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if c.trailer {
		c.ended = len(line) == 0
		return
	}
	size, _, _ := bytes.Cut(line, []byte{';'})
	length, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 62)
	switch {
	case err != nil:
		c.lost = true
	case length == 0:
		c.trailer = true
	default:
		c.left = int64(length) + int64(len("\r\n"))
	}
}
