package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server under measurement.
type process struct {
	cmd   *exec.Cmd
	addr  string         // host and port
	roots *x509.CertPool // whom clients trust who come by TLS; nil for plain HTTP
}

// url returns the address of the server's root.
func (p *process) url() string {
	if p.roots != nil {
		return "https://" + p.addr
	}
	return "http://" + p.addr
}

// upWithin is how long a server may take to come up.
const upWithin = 20 * time.Second

// start starts a program and waits until ready finds the server's address in a
// line that it writes, to standard output or standard error.
func start(ctx context.Context, env []string, ready func(line string) (addr string, ok bool), program string, args ...string) (*process, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	p, err := launch(ctx, env, in, program, args...)
	_ = in.Close()
	if err != nil {
		_ = out.Close()
		return nil, err
	}
	if p.addr, err = firstAddress(out, ready); err != nil {
		p.stop()
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	return p, nil
}

// startAt starts a program that was told its address, and waits until it takes connections there.
func startAt(ctx context.Context, env []string, addr, program string, args ...string) (*process, error) {
	var said bytes.Buffer
	p, err := launch(ctx, env, &said, program, args...)
	if err != nil {
		return nil, err
	}
	p.addr = addr
	tries, end := time.NewTicker(20*time.Millisecond), time.Now().Add(upWithin)
	defer tries.Stop()
	for now := range tries.C {
		if conn, err := net.Dial("tcp", addr); err == nil {
			return p, conn.Close()
		}
		if now.After(end) {
			break
		}
	}
	p.stop()
	return nil, fmt.Errorf("starting %s: it did not come up, and said: %s", program, &said)
}

// launch starts a program that writes all it has to say to one place.
func launch(ctx context.Context, env []string, said io.Writer, program string, args ...string) (*process, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	return &process{cmd: cmd}, nil
}

// freeAddress returns a loopback address that nobody listens on, for programs that do not tell which port they got.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	return addr, nil
}

// firstAddress reads lines until one holds an address. What comes after it is
// read away until the program ends.
func firstAddress(out *os.File, ready func(string) (string, bool)) (string, error) {
	_ = out.SetReadDeadline(time.Now().Add(upWithin)) // pipes have deadlines
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		if addr, ok := ready(lines.Text()); ok {
			_ = out.SetReadDeadline(time.Time{})
			go func() {
				_, _ = io.Copy(io.Discard, out)
				_ = out.Close()
			}()
			return addr, nil
		}
		said = append(said, lines.Text())
	}
	_ = out.Close()
	return "", fmt.Errorf("it did not come up, and said: %s", strings.Join(said, "\n"))
}

// stop asks the process to end, and kills it when it does not.
func (p *process) stop() {
	kill := time.AfterFunc(5*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait()
}

// anAddress takes the whole line for an address.
func anAddress(line string) (string, bool) {
	_, _, err := net.SplitHostPort(line)
	return line, err == nil
}

// logged returns a function that finds the address in the gate's log.
func logged(line string) (string, bool) {
	var entry struct{ Msg, Listen string }
	err := json.Unmarshal([]byte(line), &entry)
	return entry.Listen, err == nil && entry.Msg == "ready"
}

// ticksPerSecond is the unit of the times in /proc: USER_HZ, which Linux has
// fixed at 100.
const ticksPerSecond = 100

// cpu returns the processor time that the process has used, user and system.
func (p *process) cpu() (time.Duration, error) {
	used, err := p.times()
	return used.user + used.system, err
}

// times returns the processor time that the process has used.
func (p *process) times() (spent, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return spent{}, fmt.Errorf("reading a process's times: %w", err)
	}
	// The second field, in parentheses, may hold anything. utime and stime are
	// the fields 14 and 15 (proc(5)), hence 12 and 13 from the third.
	_, rest, ok := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 13 {
		return spent{}, errors.New("reading a process's times: too few fields")
	}
	var times [2]time.Duration
	for i, field := range fields[11:13] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return spent{}, fmt.Errorf("reading a process's times: %w", err)
		}
		times[i] = time.Duration(ticks) * time.Second / ticksPerSecond
	}
	return spent{times[0], times[1]}, nil
}

// memory returns a size of the process in bytes: VmRSS is its memory now, VmHWM the most
// that it has had.
func (p *process) memory(size string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("reading a process's memory: %w", err)
	}
	_, rest, _ := strings.Cut(string(text), size+":")
	kb, _, ok := strings.Cut(rest, " kB")
	if !ok {
		return 0, fmt.Errorf("reading a process's memory: there is no %s", size)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(kb), 10, 64)
	return n << 10, err
}
