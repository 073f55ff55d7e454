package redismodel

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Status is a reply such as OK.
type Status string

// pairs is a list that goes over the connection as a map.
type pairs []any

var errProtocol = errors.New("this is not the protocol of Redis")

// readCommand reads a command: a list of texts.
func readCommand(in *bufio.Reader) ([]string, error) {
	n, err := readLength(in, '*')
	if err != nil {
		return nil, err
	}
	args := make([]string, n)
	for i := range args {
		size, err := readLength(in, '$')
		if err != nil {
			return nil, err
		}
		text := make([]byte, size+2)
		if _, err := io.ReadFull(in, text); err != nil {
			return nil, err
		}
		args[i] = string(text[:size])
	}
	return args, nil
}

func readLength(in *bufio.Reader, kind byte) (int, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" || line[0] != kind {
		return 0, errProtocol
	}
	return strconv.Atoi(line[1:])
}

// appendReply writes a reply in the third version of the protocol.
func appendReply(b []byte, reply any) []byte {
	switch r := reply.(type) {
	case nil:
		return append(b, "_\r\n"...)
	case string:
		b = fmt.Appendf(b, "$%d\r\n", len(r))
		return append(append(b, r...), "\r\n"...)
	case Status:
		return fmt.Appendf(b, "+%s\r\n", string(r))
	case int64:
		return fmt.Appendf(b, ":%d\r\n", r)
	case error:
		return fmt.Appendf(b, "-%s\r\n", strings.NewReplacer("\r", " ", "\n", " ").Replace(r.Error()))
	case pairs:
		b = fmt.Appendf(b, "%%%d\r\n", len(r)/2)
		for _, item := range r {
			b = appendReply(b, item)
		}
		return b
	case []any:
		b = fmt.Appendf(b, "*%d\r\n", len(r))
		for _, item := range r {
			b = appendReply(b, item)
		}
		return b
	default:
		panic(fmt.Sprintf("a reply of type %T", reply))
	}
}
