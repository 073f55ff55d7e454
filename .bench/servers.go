package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/securecookie"

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
		handler, err = waitingWithoutAQueue(*file)
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

// ticketed opens the ticket that a request brings, seals it anew, and writes the same answer to all:
// what the gate does for somebody who waits, without the queue.
type ticketed struct {
	answer
	name, attributes string // of the cookie
	newcomers        []byte // their tickets' payload
	jar              *securecookie.SecureCookie
}

// waitingWithoutAQueue answers as the gate has in a file. Its tickets are as long as the gate's.
func waitingWithoutAQueue(file string) (http.Handler, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	h := &ticketed{jar: securecookie.New(securecookie.GenerateRandomKey(32), securecookie.GenerateRandomKey(32)).SetSerializer(securecookie.NopEncoder{}).MaxAge(0)}
	if err := json.Unmarshal(text, &h.answer); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	name, value, _ := strings.Cut(h.ticket(), "=")
	_, attributes, _ := strings.Cut(h.Header.Get("Set-Cookie"), ";")
	h.name, h.attributes = name, ";"+attributes
	h.Header.Del("Set-Cookie")
	for sealed := ""; len(sealed) < len(value); {
		h.newcomers = append(h.newcomers, 't')
		if sealed, err = h.jar.Encode(name, bytes.Clone(h.newcomers)); err != nil {
			return nil, fmt.Errorf("sealing a ticket: %w", err)
		}
	}
	return h, nil
}

// ServeHTTP answers a request.
func (h *ticketed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	payload := bytes.Clone(h.newcomers) // which is sealed where it lies
	if c, err := r.Cookie(h.name); err == nil {
		if err := h.jar.Decode(h.name, c.Value, &payload); err != nil {
			http.Error(w, "The ticket cannot be opened.", http.StatusBadRequest)
			return
		}
	}
	sealed, err := h.jar.Encode(h.name, payload)
	if err != nil {
		http.Error(w, "The ticket cannot be sealed.", http.StatusInternalServerError)
		return
	}
	w.Header()["Set-Cookie"] = []string{h.name + "=" + sealed + h.attributes}
	h.answer.ServeHTTP(w, r)
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
