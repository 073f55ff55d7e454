package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
)

// The environment of a process that is started with sockets, as sd_listen_fds(3) has it, and the
// one name that a gate adds for its successor.
const (
	envPID   = "LISTEN_PID"
	envCount = "LISTEN_FDS"
	envNames = "LISTEN_FDNAMES"
	envTell  = "LISTEN_TELL_FD" // where the successor says how far it is
)

// firstInherited is the number of the first socket.
const firstInherited = 3

// The keys of the addresses that the gate listens on.
const (
	keyListen   = "listen"
	keyAdmin    = "admin"
	keyRedirect = "tls.redirect"
)

// keyed is a listener with the key of its address.
type keyed struct {
	*net.TCPListener
	key string
}

// inherited is what a gate was started with: listening sockets by the keys of their addresses, from
// a socket unit or from the gate before it, and what tells that gate how far this one is.
type inherited struct {
	listeners map[string]*net.TCPListener
	tell      *os.File // nil without a gate before it
}

// inherit takes over what the process was started with, and forgets what says so: no process that
// this one starts is meant. It is called once.
func inherit() (inherited, error) {
	pid, count, names, tell := os.Getenv(envPID), os.Getenv(envCount), os.Getenv(envNames), os.Getenv(envTell)
	for _, name := range []string{envPID, envCount, envNames, envTell} {
		_ = os.Unsetenv(name) // it fails for no name
	}
	of := inherited{listeners: map[string]*net.TCPListener{}}
	if tell == "" && pid != strconv.Itoa(os.Getpid()) {
		return of, nil
	}
	n, err := strconv.Atoi(count)
	keys := strings.Split(names, ":")
	if err != nil || n != len(keys) {
		return of, fmt.Errorf("the sockets that the gate was started with: %s is %q and %s %q", envCount, count, envNames, names)
	}
	for i, key := range keys {
		if err := of.take(key, firstInherited+i); err != nil {
			return of, fmt.Errorf("the socket %q that the gate was started with: %w", key, err)
		}
	}
	if fd, err := strconv.Atoi(tell); err == nil {
		of.tell = os.NewFile(uintptr(fd), "predecessor")
	}
	return of, nil
}

// take makes a listener of a socket.
func (i inherited) take(key string, fd int) error {
	if !slices.Contains([]string{keyListen, keyAdmin, keyRedirect}, key) || i.listeners[key] != nil {
		return fmt.Errorf("the names are %s, %s and %s, each once (FileDescriptorName of the socket unit)", keyListen, keyAdmin, keyRedirect)
	}
	file := os.NewFile(uintptr(fd), key)
	l, err := net.FileListener(file)
	if err != nil {
		return err
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return errors.Join(fmt.Errorf("it is at %v, and has to be of TCP", l.Addr()), l.Close())
	}
	i.listeners[key] = tcp
	return file.Close()
}

// listen returns the listeners of visitors, of operators, and of plain HTTP if it is redirected:
// those that the gate was started with, and others of its own.
func (i inherited) listen(c *config.Config) (all []keyed, err error) {
	defer func() {
		if err != nil {
			closeListeners(all)
		}
	}()
	for _, at := range []struct{ address, who, key string }{
		{c.Listen, "visitors", keyListen}, {c.Admin, "the admin API", keyAdmin}, {c.TLS.Redirect, "plain HTTP", keyRedirect},
	} {
		if at.address == "" {
			continue
		}
		l, err := i.open(at.key, at.address)
		if err != nil {
			return all, fmt.Errorf("listening for %s (set %s or --%s to choose another address): %w", at.who, at.key, strings.ReplaceAll(at.key, ".", "-"), err)
		}
		all = append(all, keyed{l, at.key})
	}
	for key := range i.listeners {
		return all, fmt.Errorf("the gate was started with a socket for %s, and the configuration has no address for it", key)
	}
	return all, nil
}

// closeListeners closes listeners that may be closed already.
func closeListeners(all []keyed) {
	for _, l := range all {
		_ = l.Close()
	}
}

// open returns the listener for an address. The one that the gate was started with has to be there.
func (i inherited) open(key, address string) (*net.TCPListener, error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	l := i.listeners[key]
	if l == nil {
		return net.ListenTCP("tcp", at)
	}
	delete(i.listeners, key)
	if is := l.Addr().(*net.TCPAddr); at.Port != 0 && at.Port != is.Port || !at.IP.Equal(is.IP) && !(anywhere(at) && anywhere(is)) {
		return nil, errors.Join(fmt.Errorf("the socket that the gate was started with is at %v, and the configuration says %s: a new address needs a restart", is, address), l.Close())
	}
	return l, nil
}

// anywhere reports whether an address is that of all of the machine's interfaces.
func anywhere(a *net.TCPAddr) bool { return len(a.IP) == 0 || a.IP.IsUnspecified() }

// say tells the gate before how far this one is, if there is one.
func (i inherited) say(word byte) error {
	if i.tell == nil {
		return nil
	}
	_, err := i.tell.Write([]byte{word})
	if word == isReady {
		err = errors.Join(err, i.tell.Close())
	}
	return err
}
