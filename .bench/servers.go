package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// serve serves h on a free loopback port, prints the address, and ends with ctx.
// The server has the time limits that every server on the Internet needs, the
// gate's own: they cost a little, and are not what is compared.
func serve(ctx context.Context, h http.Handler) error { return serveTLS(ctx, h, "", "") }

// serveTLS is serve with the files of a certificate and its key, or "" for plain HTTP.
func serveTLS(ctx context.Context, h http.Handler, cert, key string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	fmt.Println(l.Addr())
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if cert != "" {
		err = s.ServeTLS(l, cert, key)
	} else {
		err = s.Serve(l)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// serveSite is an origin: 1 KiB for every request.
func serveSite(ctx context.Context) error {
	page := make([]byte, 1<<10)
	for i := range page {
		page[i] = "a page of a shop "[i%17]
	}
	contentType, length := []string{"text/html; charset=utf-8"}, []string{strconv.Itoa(len(page))}
	return serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h["Content-Type"], h["Content-Length"] = contentType, length
		_, _ = w.Write(page)
	}))
}

// serveProxy is a reverse proxy without a gate: the gate's own ("tuned"), or the
// standard library's with the same tuning ("bare"), which may serve TLS.
func serveProxy(ctx context.Context, kind, to, cert, key string) error {
	u, err := url.Parse(to)
	if err != nil {
		return fmt.Errorf("reading the origin's address: %w", err)
	}
	if kind == "bare" {
		return serveTLS(ctx, bareProxy(u), cert, key)
	}
	o, err := origin.New(origin.Config{URL: u})
	if err != nil {
		return err
	}
	defer o.Close()
	return serve(ctx, o)
}

func bareProxy(u *url.URL) http.Handler {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(u)
			pr.Out.Host = pr.In.Host
			pr.SetXForwarded()
		},
		Transport:  &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true, Protocols: protocols},
		BufferPool: &buffers{sync.Pool{New: func() any { return new([32 << 10]byte) }}},
	}
}

// buffers are the bare proxy's, as the gate has them.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte  { return b.pool.Get().(*[32 << 10]byte)[:] }
func (b *buffers) Put(p []byte) { b.pool.Put((*[32 << 10]byte)(p)) }

// answer is an answer of the gate, to be written by a handler that knows nothing
// else.
type answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// serveAnswer writes the answer in file to every request. The header's values
// are shared between answers, which is as cheap as net/http allows.
func serveAnswer(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		for name, values := range a.Header {
			h[name] = values
		}
		w.WriteHeader(a.Status)
		_, _ = w.Write(a.Body)
	}))
}
