package listen

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/pires/go-proxyproto"

	"github.com/fairdoor-gate/fairdoor/proxy/netset"
)

// proxied is a connection from a balancer, which begins with a header of the PROXY protocol,
// version 1 or 2. Its RemoteAddr is the visitor's, as the header says; the balancer's where the
// header is of the balancer's own health check. Without a header nothing can be read. The header is
// read at the first use, by the goroutine of the connection.
type proxied struct{ *proxyproto.Conn }

// CloseWrite closes one direction.
func (p proxied) CloseWrite() error { return closeWrite(p.Raw()) }

// closeWrite closes one direction of a connection.
func closeWrite(c net.Conn) error {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return fmt.Errorf("closing one direction: %w", errors.ErrUnsupported)
	}
	return half.CloseWrite()
}

// takeLongHeaders has headers of version 2 be as long as the protocol allows, with all that
// balancers tell in them: 64 KiB. The library takes 4 KiB, for fear of strangers, whose headers are
// not read here. It keeps this for the whole process.
var takeLongHeaders = sync.OnceFunc(func() { proxyproto.MaxV2HeaderSize = math.MaxUint16 })

// unproxied returns the connection with the address of the visitor, if a balancer has made it; else
// c itself. What others send for a header of the PROXY protocol is read as the first bytes of a
// request, which it cannot be.
func unproxied(c net.Conn, balancers netset.Set, timeout time.Duration) net.Conn {
	if balancers.IsEmpty() {
		return c
	}
	from, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil || !balancers.Contains(from.Addr().Unmap().WithZone("")) {
		return c
	}
	return proxied{proxyproto.NewConn(c, proxyproto.WithPolicy(proxyproto.REQUIRE), proxyproto.SetReadHeaderTimeout(timeout))}
}
