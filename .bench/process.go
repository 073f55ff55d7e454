package main

import (
	"bufio"
	"context"
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
	cmd  *exec.Cmd
	addr string // host and port
}

// start starts a program and waits until ready finds the server's address in a
// line that it writes, to standard output or standard error.
func start(ctx context.Context, env []string, ready func(line string) (addr string, ok bool), program string, args ...string) (*process, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	out, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	cmd.Stdout, cmd.Stderr = in, in
	err = cmd.Start()
	_ = in.Close()
	if err != nil {
		_ = out.Close()
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	p := &process{cmd: cmd}
	if p.addr, err = firstAddress(out, ready); err != nil {
		p.stop()
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	return p, nil
}

// firstAddress reads lines until one holds an address. What comes after it is
// read away until the program ends.
func firstAddress(out *os.File, ready func(string) (string, bool)) (string, error) {
	_ = out.SetReadDeadline(time.Now().Add(20 * time.Second)) // pipes have deadlines
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
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("reading a process's times: %w", err)
	}
	// The second field, in parentheses, may hold anything. utime and stime are
	// the fields 14 and 15 (proc(5)), hence 12 and 13 from the third.
	_, rest, ok := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 13 {
		return 0, errors.New("reading a process's times: too few fields")
	}
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading a process's times: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}
