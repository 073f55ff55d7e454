package proxy

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/netip"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// bindTo is to what tickets are bound.
type bindTo byte

// To what a ticket may be bound, as its flags have it.
const (
	bindOff     bindTo = 0
	bindNetwork bindTo = 1
	bindAgent   bindTo = 2
	bindBoth           = bindNetwork | bindAgent
)

// binding is whom a ticket is bound to: a keyed hash of their network, of their user agent, or of
// both. The zero binding is nobody's.
type binding struct {
	to   bindTo
	hash [8]byte
}

// binder binds the tickets of a room. It knows a hash for each cookie key, because nothing but these keys is the same
// on all gates.
type binder struct {
	to   bindTo
	keys [][]byte
}

func newBinder(to config.Bind, room string, keys []cookie.Key) (binder, error) {
	b := binder{to: map[config.Bind]bindTo{config.BindNetwork: bindNetwork, config.BindUserAgent: bindAgent, config.BindBoth: bindBoth}[to]}
	if b.to == bindOff {
		return b, nil
	}
	for _, key := range keys {
		derived, err := key.Derive("binding tickets of " + room)
		if err != nil {
			return b, fmt.Errorf("deriving a key: %w", err)
		}
		b.keys = append(b.keys, derived)
	}
	return b, nil
}

// bind returns the binding of a request's sender.
func (b *binder) bind(q *http.Request, trust origin.Trust) binding {
	if b.to == bindOff {
		return binding{}
	}
	return b.hash(b.to, 0, q, trust)
}

// holds says whether a ticket that was sealed with one of the keys belongs to a request's sender. One that was issued
// while none were bound does, and so do all while none are.
func (b *binder) holds(bound binding, key int, q *http.Request, trust origin.Trust) bool {
	if b.to == bindOff || bound.to == bindOff {
		return true
	}
	theirs := b.hash(bound.to, key, q, trust)
	return subtle.ConstantTimeCompare(theirs.hash[:], bound.hash[:]) == 1
}

// holdsBytes is holds for a binding as bytes returns it.
func (b *binder) holdsBytes(bound []byte, key int, q *http.Request, trust origin.Trust) bool {
	var of binding
	switch len(bound) {
	case 0:
	case 1 + len(of.hash):
		of.to = bindTo(bound[0]) & bindBoth
		copy(of.hash[:], bound[1:])
	default:
		return false
	}
	return b.holds(of, key, q, trust)
}

// bytes is what a cookie that carries no ticket has of the binding; nil for the zero binding.
func (b binding) bytes() []byte {
	if b.to == bindOff {
		return nil
	}
	return append([]byte{byte(b.to)}, b.hash[:]...)
}

func (b *binder) hash(to bindTo, key int, q *http.Request, trust origin.Trust) binding {
	mac := hmac.New(sha256.New, b.keys[key])
	mac.Write([]byte{byte(to)})
	if to&bindNetwork != 0 {
		_, _ = fmt.Fprintf(mac, "%s\n", bindingNetwork(trust.ClientAddr(q)))
	}
	if to&bindAgent != 0 {
		_, _ = fmt.Fprintf(mac, "%q\n", q.Header["User-Agent"])
	}
	of := binding{to: to}
	copy(of.hash[:], mac.Sum(nil))
	return of
}

// bindingNetwork is the network by which tickets are bound: an IPv4 /24, or an IPv6 /64, which is one
// household's at most.
func bindingNetwork(addr netip.Addr) netip.Prefix {
	bits := 24
	if addr.Is6() {
		bits = 64
	}
	prefix, _ := addr.Prefix(bits)
	return prefix
}
