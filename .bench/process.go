package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"github.com/fairdoor-gate/fairdoor/queue/certtest"
)

// server is what is started. In its command, environment and configuration ADDRESS is where it
// listens, PORT that without the host, DIRECTORY is for its files, and ORIGIN is the address of the origin.
type server struct {
	command       []string
	env           []string
	configuration string // the file DIRECTORY/configuration
	origin        *process
	secure        bool // it serves TLS
}

// process is a server under measurement.
type process struct {
	addr   string // host and port
	secure bool
	proc   procfs.Proc
	stop   func() // asks it to end, kills it when it does not, and waits for its end
}

// fleet are processes that are measured together.
type fleet struct {
	dir       string // for their files
	parts     []*process
	cert, key string // the files of a certificate for the loopback address
}

// upWithin is how long a server may take to come up.
const upWithin = 20 * time.Second

// newFleet returns a fleet without processes. The caller stops it.
func newFleet() (*fleet, error) {
	dir, err := os.MkdirTemp("", "fairdoor-bench-")
	if err != nil {
		return nil, fmt.Errorf("making a directory: %w", err)
	}
	f := &fleet{dir: dir, cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}
	if err := certtest.Write(f.cert, f.key, "127.0.0.1"); err != nil {
		f.stop()
		return nil, err
	}
	return f, nil
}

func (f *fleet) stop() {
	for _, p := range f.parts {
		p.stop()
	}
	os.RemoveAll(f.dir)
}

// start starts a server and waits until it takes connections.
func (f *fleet) start(ctx context.Context, s server) (*process, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, fmt.Errorf("looking for a free port: %w", err)
	}
	dir := filepath.Join(f.dir, strconv.Itoa(len(f.parts)))
	_, port, _ := net.SplitHostPort(addr)
	names := []string{"ADDRESS", addr, "PORT", port, "DIRECTORY", dir}
	if s.origin != nil {
		names = append(names, "ORIGIN", s.origin.addr)
	}
	fill := strings.NewReplacer(names...).Replace
	fillAll := func(texts []string) (filled []string) {
		for _, text := range texts {
			filled = append(filled, fill(text))
		}
		return filled
	}
	command := fillAll(s.command)
	p := &process{addr: addr, secure: s.secure}
	err = errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "configuration"), []byte(fill(s.configuration)), 0o600))
	if err != nil {
		return nil, fmt.Errorf("writing a configuration: %w", err)
	}
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		return nil, fmt.Errorf("making a file: %w", err)
	}
	ctx, end := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), fillAll(s.env)...), said, said
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(syscall.SIGTERM) }, 5*time.Second
	if err := errors.Join(cmd.Start(), said.Close()); err != nil {
		end()
		return nil, fmt.Errorf("starting %s: %w", command[0], err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	p.stop = func() { end(); <-ended }
	f.parts = append(f.parts, p)
	if err := p.up(ended); err != nil {
		text, _ := os.ReadFile(said.Name())
		return nil, fmt.Errorf("starting %s: %w, and said: %s", command[0], err, text)
	}
	p.proc, err = procfs.NewProc(cmd.Process.Pid)
	return p, err
}

// up waits until the server takes connections.
func (p *process) up(ended <-chan struct{}) error {
	for limit := time.After(upWithin); ; {
		if conn, err := net.Dial("tcp", p.addr); err == nil {
			return conn.Close()
		}
		select {
		case <-ended:
			return errors.New("it has ended")
		case <-limit:
			return errors.New("it did not come up")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// freeAddress returns a loopback address that nobody listens on: nginx and HAProxy do not tell
// which port they got.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// part starts a part of this program.
func (f *fleet) part(ctx context.Context, origin *process, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	return f.start(ctx, server{command: append([]string{self, args[0], "-listen", "ADDRESS"}, args[1:]...), env: []string{gogc}, origin: origin})
}

// gate is a gate with settings, which are flags.
func (f *fleet) gate(program string, origin *process, secure bool, settings ...string) server {
	command := []string{program, "serve", "--listen=ADDRESS", "--admin=127.0.0.1:0", "--state-dir=DIRECTORY/state", "--origin=http://ORIGIN", "--session-duration=24h"}
	if secure {
		command = append(command, "--tls-cert="+f.cert, "--tls-key="+f.key)
	}
	return server{command: append(command, settings...), origin: origin, secure: secure}
}

// spent is processor time in milliseconds.
type spent struct{ user, system float64 }

func (s spent) String() string { return fmt.Sprintf("%.0f ms user + %.0f ms system", s.user, s.system) }
func (s spent) total() float64 { return s.user + s.system }

// less returns what was spent besides o.
func (s spent) less(o spent) spent { return spent{s.user - o.user, s.system - o.system} }

// scaled is the part f of what was spent.
func (s spent) scaled(f float64) spent { return spent{s.user * f, s.system * f} }

// spends returns the processor time that the process spends while something is done.
func (p *process) spends(what func() error) (spent, error) {
	before, err := p.spent()
	if err != nil {
		return spent{}, err
	}
	if err := what(); err != nil {
		return spent{}, err
	}
	after, err := p.spent()
	return after.less(before), err
}

func (p *process) spent() (spent, error) {
	const tick = 10 // milliseconds: USER_HZ, which Linux has fixed at 100
	stat, err := p.proc.Stat()
	return spent{float64(stat.UTime) * tick, float64(stat.STime) * tick}, err
}

// memory returns how much memory the process has, and the most that it has had, in MiB.
func (p *process) memory() (now, most float64, err error) {
	status, err := p.proc.NewStatus()
	return float64(status.VmRSS) / (1 << 20), float64(status.VmHWM) / (1 << 20), err
}
