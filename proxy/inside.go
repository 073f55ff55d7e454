package proxy

import (
	"bufio"
	"context"
	"maps"
	"net"
	"net/http"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// inside is a site that is a handler in this process. It never fails as origins do.
type inside struct {
	gate    *Gate
	handler http.Handler
}

// Failing implements site.
func (*inside) Failing() bool { return false }

// Wanted implements site.
func (*inside) Wanted(string) {}

// Has implements site.
func (*inside) Has(*origin.Origin) bool { return false }

// Origins implements site.
func (*inside) Origins() []*origin.Origin { return nil }

// ServeVisitor implements site.
func (i *inside) ServeVisitor(w http.ResponseWriter, r *http.Request, _ [16]byte) { i.ServeHTTP(w, r) }

// ServeHTTP has the handler answer a request.
func (i *inside) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	origin.RemoveOwn(r.Header)
	a := &answering{ResponseWriter: w, gate: i.gate, request: r}
	defer a.end()
	i.handler.ServeHTTP(a, r)
	a.ensureBegun()
}

// answering is the writer of a handler's answer. The gate does to its header what it does to that
// of an origin's answer.
type answering struct {
	http.ResponseWriter
	gate     *Gate
	request  *http.Request
	begun    bool          // the header has been seen to
	response http.Response // what it was seen to as
	refused  bool          // the gate has replaced the answer, and its body is lost
	keep     func() bool   // has a connection that was taken over stay open; nil for none
}

// begin sees to the header of an answer with a status, once, and returns the status to send.
func (a *answering) begin(status int) int {
	if a.begun {
		return status
	}
	a.begun = true
	resp := &a.response
	*resp = http.Response{StatusCode: status, Header: a.Header(), Request: a.request, Body: http.NoBody}
	a.gate.respond(resp)
	if resp.StatusCode != status {
		a.refused = true
		clear(a.Header())
		maps.Copy(a.Header(), resp.Header)
	}
	return resp.StatusCode
}

// end ends an answer whose handler has returned.
func (a *answering) end() {
	a.begun = true // whatever a handler that broke off still writes is no answer to the visitor
	if a.keep != nil {
		a.keep()
	}
}

// WriteHeader sends the header, or an informational one before it.
func (a *answering) WriteHeader(status int) {
	if status < http.StatusOK && status != http.StatusSwitchingProtocols {
		a.inform(status)
		return
	}
	a.ResponseWriter.WriteHeader(a.begin(status))
}

// inform sends an informational header, without what tells the gate something: the gate hears it
// with the answer's header.
func (a *answering) inform(status int) {
	h, told := a.Header(), http.Header{}
	for _, name := range a.gate.toldBy {
		if lines, ok := h[name]; ok {
			told[name] = lines
			delete(h, name)
		}
	}
	a.ResponseWriter.WriteHeader(status)
	maps.Copy(h, told)
}

// ensureBegun sends the header of an answer whose handler has named no status.
func (a *answering) ensureBegun() {
	if !a.begun {
		a.WriteHeader(http.StatusOK)
	}
}

// Write sends a part of the body.
func (a *answering) Write(p []byte) (int, error) {
	a.ensureBegun()
	if a.refused {
		return len(p), nil
	}
	return a.ResponseWriter.Write(p)
}

// FlushError sends what was written so far.
func (a *answering) FlushError() error {
	a.ensureBegun()
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Flush implements http.Flusher.
func (a *answering) Flush() { _ = a.FlushError() }

// Hijack implements http.Hijacker. While the handler runs, the connection is closed when its
// visitor has to leave.
func (a *answering) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if a.begin(http.StatusSwitchingProtocols); a.refused {
		return nil, nil, http.ErrNotSupported
	}
	conn, rw, err := http.NewResponseController(a.ResponseWriter).Hijack()
	if err == nil {
		a.keep = context.AfterFunc(a.request.Context(), func() { conn.Close() })
	}
	return conn, rw, err
}

// Unwrap has http.ResponseController find the writer's other methods.
func (a *answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }
