package listen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

// Redirect answers requests by plain HTTP: it sends them to https, on the port of address, where
// the gate speaks TLS. Visitors of the standard port are sent to the standard port, which something
// between them and the gate may lead to another. A request for a host that the gate does not serve
// is refused, so that nobody is sent anywhere else.
func Redirect(address string, serves func(host string) bool) http.Handler {
	_, port, _ := net.SplitHostPort(address)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, asked := route.ParseHost(r.Host)
		if !asked || !serves(r.Host) {
			http.Error(w, "This server does not know the host.", http.StatusMisdirectedRequest)
			return
		}
		to := port
		if from := portOf(r.Host); from == "" || from == "80" || port == "443" {
			to = ""
		}
		http.Redirect(w, r, "https://"+withPort(name, to)+pathOf(r), redirectStatus(r))
	})
}

// redirectStatus has requests that may do more than read be sent as they are.
func redirectStatus(r *http.Request) int {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return http.StatusMovedPermanently
	}
	return http.StatusPermanentRedirect
}

// pathOf is the path and query of a request.
func pathOf(r *http.Request) string {
	if target := r.URL.RequestURI(); strings.HasPrefix(target, "/") {
		return target
	}
	return "/"
}

// portOf is the port that a Host names, "" for none.
func portOf(host string) string {
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		return ""
	}
	return port
}

// withPort is a host, and a port if there is one, as URLs have them.
func withPort(name, port string) string {
	switch {
	case port != "":
		return net.JoinHostPort(name, port)
	case strings.Contains(name, ":"):
		return "[" + name + "]"
	}
	return name
}

// errInsecure ends a connection on which somebody speaks plain HTTP and not TLS.
var errInsecure = errors.New("plain HTTP where TLS is spoken")

// isInsecure says whether what a connection begins with is a request of HTTP: it begins with the
// letter of a method, and a record of TLS does not.
func isInsecure(first byte) bool { return 'A' <= first && first <= 'Z' }

// answerInsecure answers a request that came by plain HTTP where TLS is spoken: with the address
// that was meant, and for GET and HEAD with a redirect to it. first is what was read of the
// request. The read deadline is that of the TLS handshake.
func (c *conn) answerInsecure(first []byte) {
	in := bufio.NewReader(io.LimitReader(io.MultiReader(bytes.NewReader(first), c.Conn), c.maxHeader))
	r, err := http.ReadRequest(in)
	to := ""
	if err == nil && c.serves != nil {
		if name, ok := route.ParseHost(r.Host); ok && c.serves(r.Host) {
			to = "https://" + withPort(name, portOf(r.Host)) + pathOf(r)
		}
	}
	if _, err := io.WriteString(c, insecureAnswer(r, to)); err != nil {
		return
	}
	// A connection that is closed before everything was read is reset, and the answer may be lost.
	_ = c.CloseWrite()
	_, _ = io.Copy(io.Discard, io.LimitReader(c.Conn, chunk))
}

// insecureAnswer is the answer to a request that belongs to the address to, as far as it is known.
// r is nil for what is no request.
func insecureAnswer(r *http.Request, to string) string {
	status, location, text := http.StatusBadRequest, "", "This port speaks https, and the request came by plain http. Begin the address with https://\n"
	if to != "" {
		text = fmt.Sprintf("This port speaks https, and the request came by plain http. Use %s\n", to)
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			status, location = redirectStatus(r), "Location: "+to+"\r\n"
		}
	}
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\n%sContent-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\nContent-Length: %d\r\nConnection: close\r\n\r\n",
		status, http.StatusText(status), location, len(text))
	if r != nil && r.Method == http.MethodHead {
		return head
	}
	return head + text
}
