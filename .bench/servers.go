package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// serve serves a part of this program until ctx ends. The server has the time limits that every
// server on the Internet needs, the gate's own: they cost a little, and are not what is compared.
func serve(ctx context.Context, flags *flag.FlagSet, args []string) error {
	listen := flags.String("listen", "127.0.0.1:0", "where to listen, as `host:port`")
	to := flags.String("to", "", "of polls, the gate's `URL`; of tuned and bare, the origin's")
	kind := flags.String("flood", "http1", "`which` flood polls makes")
	cert := flags.String("cert", "", "a `file` with a certificate, to serve TLS")
	key := flags.String("key", "", "a `file` with the certificate's key")
	file := flags.String("file", "", "the `file` of answer, in JSON")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	u, err := url.Parse(*to)
	if err != nil {
		return fmt.Errorf("reading -to: %w", err)
	}
	var handler http.Handler
	switch args[0] {
	case "origin":
		handler = site()
	case "tuned":
		o, fault := origin.New(origin.Config{URL: u})
		if fault != nil {
			return fault
		}
		defer o.Close()
		handler = o
	case "bare":
		handler = bareProxy(u)
	case "answer":
		handler, err = copyOf(*file)
	case "polls":
		handler, err = flood(ctx, u, *kind)
	default:
		return fmt.Errorf("there is no part %q", args[0])
	}
	if err != nil {
		return err
	}
	s := &http.Server{Addr: *listen, Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	if *cert != "" {
		err = s.ListenAndServeTLS(*cert, *key)
	} else {
		err = s.ListenAndServe()
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// site is an origin: 1 KiB for every request.
func site() http.Handler {
	page := make([]byte, 1<<10)
	for i := range page {
		page[i] = "a page of a shop "[i%17]
	}
	return &answer{Status: http.StatusOK, Body: page, Header: http.Header{
		"Content-Type": {"text/html; charset=utf-8"}, "Content-Length": {strconv.Itoa(len(page))}}}
}

// bareProxy is the standard library's proxy, with the gate's tuning.
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

// copyOf writes the answer in file to every request.
func copyOf(file string) (http.Handler, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	a := new(answer)
	if err := json.Unmarshal(text, a); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	return a, nil
}

// ServeHTTP writes the answer. The header's values are shared between requests, which is as cheap
// as net/http allows.
func (a *answer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	for name, values := range a.Header {
		h[name] = values
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body)
}
