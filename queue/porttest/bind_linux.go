package porttest

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// bound is a socket that has an address and does not listen. The system gives its port to nobody
// who does not ask for it. Whoever asks for it may have it too, as long as nobody listens there:
// SO_REUSEADDR, which servers set, says so of both (socket(7)).
type bound struct {
	*os.File
	addr net.TCPAddr
}

func (b bound) Addr() net.Addr { return &b.addr }

func bind() (port, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	b := bound{File: os.NewFile(uintptr(fd), "socket")}
	if b.addr, err = bindTo(fd); err != nil {
		_ = b.Close()
		return nil, err
	}
	return b, nil
}

func bindTo(fd int) (addr net.TCPAddr, err error) {
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return addr, os.NewSyscallError("setsockopt", err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return addr, os.NewSyscallError("bind", err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return addr, os.NewSyscallError("getsockname", err)
	}
	inet, ok := name.(*syscall.SockaddrInet4)
	if !ok {
		return addr, fmt.Errorf("the socket has the address %v", name)
	}
	return net.TCPAddr{IP: inet.Addr[:], Port: inet.Port}, nil
}
