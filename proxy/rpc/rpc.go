// Package rpc is what the gate knows of gRPC: whether a request is a call, and how one is answered
// that is not passed on. A client of gRPC shows its caller a status, and neither a page nor JSON.
package rpc

import (
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Calls reports whether a request is a call of gRPC, a POST by HTTP/2. Browsers' gRPC-Web is none:
// it reads answers as other scripts do.
func Calls(r *http.Request) bool {
	kind := r.Header["Content-Type"]
	if r.ProtoMajor != 2 || r.Method != http.MethodPost || len(kind) != 1 {
		return false
	}
	rest, ok := strings.CutPrefix(kind[0], "application/grpc")
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
}

// The codes of statuses that the gate answers with
// (https://grpc.github.io/grpc/core/md_doc_statuscodes.html).
const (
	internal         = 13
	permissionDenied = 7
	unauthenticated  = 16
	unavailable      = 14
	unimplemented    = 12
)

// codeOf is the code that clients make of a status of HTTP
// (https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md). All others of the
// gate's own, also a waiting page's 200, say that a call may be made again later.
func codeOf(status int) int {
	switch status {
	case http.StatusBadRequest:
		return internal
	case http.StatusUnauthorized:
		return unauthenticated
	case http.StatusForbidden:
		return permissionDenied
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusMisdirectedRequest:
		return unimplemented
	}
	return unavailable
}

// Refuse answers a call that another request would have got a page or JSON for, with the status and
// the header that it has so far. Retry-After is told as the field tells it: to the client's own
// retries in grpc-retry-pushback-ms, and to the caller in a google.rpc.RetryInfo.
func Refuse(w http.ResponseWriter, status int, message string) {
	h, code := w.Header(), codeOf(status)
	seconds, err := strconv.ParseUint(strings.Join(h["Retry-After"], ""), 10, 31)
	later := err == nil && code == unavailable
	if later {
		message += fmt.Sprintf("; try again in %d seconds", seconds)
	}
	for _, name := range [...]string{"Content-Encoding", "Content-Language", "Content-Length", "Content-Security-Policy", "Refresh", "Retry-After"} {
		delete(h, name)
	}
	h["Content-Type"] = []string{"application/grpc"}
	h["Grpc-Status"], h["Grpc-Message"] = []string{strconv.Itoa(code)}, []string{percent(message)}
	if later {
		h["Grpc-Retry-Pushback-Ms"] = []string{strconv.FormatUint(min(seconds*1000, math.MaxInt32), 10)}
		h["Grpc-Status-Details-Bin"] = []string{base64.RawStdEncoding.EncodeToString(details(code, message, seconds))}
	}
	w.WriteHeader(http.StatusOK)
}

// details is a google.rpc.Status with a google.rpc.RetryInfo
// (https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto).
func details(code int, message string, seconds uint64) []byte {
	duration := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), seconds)
	retry := field(nil, 1, duration)
	packed := field(field(nil, 1, []byte("type.googleapis.com/google.rpc.RetryInfo")), 2, retry)
	status := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(code))
	return field(field(status, 2, []byte(message)), 3, packed)
}

func field(to []byte, number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), content)
}

// percent spells a message as headers have it.
func percent(message string) string {
	var b strings.Builder
	for _, c := range []byte(message) {
		if c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
