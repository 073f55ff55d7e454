package accesslog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// maxLine is the length of the longest line that is read.
const maxLine = 64 << 10

var errLongLine = fmt.Errorf("it is longer than %d bytes", maxLine)

// Scan reads a log, which may be compressed by gzip, and gives each line with its number:
// what it says, or why it cannot be read. Empty lines are left out. It fails if r does.
func Scan(r io.Reader, each func(number int, l Line, err error)) error {
	plain, err := uncompressed(r)
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(plain, maxLine)
	for number := 1; ; number++ {
		text, err := lines.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) { // to the end of the line
			_, err = lines.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading line %d: %w", number, err)
		}
		switch {
		case long:
			each(number, Line{}, errLongLine)
		case len(bytes.TrimSpace(text)) > 0:
			l, fault := Parse(text)
			each(number, l, fault)
		}
		if err != nil {
			return nil
		}
	}
}

// uncompressed is what r holds, without a byte order mark.
func uncompressed(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	begins, _ := buffered.Peek(3) // a failure comes again when it is read
	if bytes.HasPrefix(begins, []byte{0x1f, 0x8b}) {
		plain, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("uncompressing: %w", err)
		}
		return plain, nil
	}
	if string(begins) == "\ufeff" {
		_, _ = buffered.Discard(len(begins)) // they are in the buffer
	}
	return buffered, nil
}
