// Package bind binds tickets to the network or the browser of the visitor who got them: somebody
// else who brings one is a newcomer.
package bind

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/netip"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/setting"
)

// Mode is to what the tickets of a room are bound.
type Mode string

// The modes.
const (
	NotBound    Mode = "off"
	ByNetwork   Mode = "network"    // an IPv4 /24 or an IPv6 /64
	ByUserAgent Mode = "user_agent" // the User-Agent header, to the byte
	ByBoth      Mode = "both"
)

// Choices returns the names of all of them.
func (Mode) Choices() []string {
	return []string{string(NotBound), string(ByNetwork), string(ByUserAgent), string(ByBoth)}
}

// Misfits returns what is wrong with settings of a room whose tickets are bound so: nothing binds
// an admission token.
func (m Mode) Misfits(s queue.Settings) []queue.SettingFault {
	if s.EdgeAdmission == 0 || m == "" || m == NotBound {
		return nil
	}
	return []queue.SettingFault{{
		Name: "edge_admission", Value: setting.FormatDuration(s.EdgeAdmission),
		Problem: "does not go with bind_ticket " + string(m) + ": an edge lets in whoever brings the admission token",
	}}
}

// To is to what a ticket is bound.
type To byte

// To what a ticket may be bound, as its flags have it.
const (
	Off     To = 0
	Network To = 1
	Agent   To = 2
	Both       = Network | Agent
)

// Binding is whom a ticket is bound to: a keyed hash of their network, of their user agent, or of
// both. The zero Binding is nobody's.
type Binding struct {
	To   To
	Hash [8]byte
}

// Binder binds the tickets of a room. It knows a hash for each cookie key, because nothing but
// these keys is the same on all gates.
type Binder struct {
	to   To
	keys [][]byte
}

// New returns what binds the tickets of a room, which the keys seal.
func New(to Mode, room string, keys []cookie.Key) (Binder, error) {
	b := Binder{to: map[Mode]To{ByNetwork: Network, ByUserAgent: Agent, ByBoth: Both}[to]}
	if b.to == Off {
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

// Bind returns the Binding of a request's sender.
func (b *Binder) Bind(r *http.Request, trust origin.Trust) Binding {
	if b.to == Off {
		return Binding{}
	}
	return b.hash(b.to, 0, r, trust)
}

// Owns says whether a ticket that was sealed with one of the keys belongs to a request's sender.
// One that was issued while none were bound does, and so do all while none are.
func (b *Binder) Owns(bound Binding, key int, r *http.Request, trust origin.Trust) bool {
	if b.to == Off || bound.To == Off {
		return true
	}
	theirs := b.hash(bound.To, key, r, trust)
	return subtle.ConstantTimeCompare(theirs.Hash[:], bound.Hash[:]) == 1
}

// OwnsBytes is Owns for a Binding as Bytes returns it.
func (b *Binder) OwnsBytes(bound []byte, key int, r *http.Request, trust origin.Trust) bool {
	var of Binding
	switch len(bound) {
	case 0:
	case 1 + len(of.Hash):
		of.To = To(bound[0]) & Both
		copy(of.Hash[:], bound[1:])
	default:
		return false
	}
	return b.Owns(of, key, r, trust)
}

// Lacks says whether a ticket with a binding lacks what the room's tickets are bound to now.
func (b *Binder) Lacks(bound Binding) bool { return b.to&^bound.To != 0 }

// Bytes is what a cookie that carries no ticket has of the Binding; nil for the zero Binding.
func (b Binding) Bytes() []byte {
	if b.To == Off {
		return nil
	}
	return append([]byte{byte(b.To)}, b.Hash[:]...)
}

func (b *Binder) hash(to To, key int, r *http.Request, trust origin.Trust) Binding {
	mac := hmac.New(sha256.New, b.keys[key])
	mac.Write([]byte{byte(to)})
	if to&Network != 0 {
		_, _ = fmt.Fprintf(mac, "%s\n", bindingNetwork(trust.ClientAddr(r)))
	}
	if to&Agent != 0 {
		_, _ = fmt.Fprintf(mac, "%q\n", r.Header["User-Agent"])
	}
	of := Binding{To: to}
	copy(of.Hash[:], mac.Sum(nil))
	return of
}

// bindingNetwork is the network by which tickets are bound: an IPv4 /24, or an IPv6 /64, which is
// one household's at most.
func bindingNetwork(addr netip.Addr) netip.Prefix {
	bits := 24
	if addr.Is6() {
		bits = 64
	}
	prefix, _ := addr.Prefix(bits)
	return prefix
}
