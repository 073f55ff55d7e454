package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// process is a program that was started.
type process struct {
	name  string
	cmd   *exec.Cmd
	ended chan struct{}
}

// processes are what is running, in the order of their start.
type processes struct {
	out    io.Writer
	dir    string // for their logs
	all    []process
	failed chan error // the end of one that is needed

	stopping atomic.Bool // from now on their ends are expected
}

// start starts a program, with a log of its own in the directory. If it is
// needed, its end is a failure; else its end is only written to out.
func (p *processes) start(name string, needed bool, env []string, program string, args ...string) (*os.Process, error) {
	log, err := os.Create(filepath.Join(p.dir, name+".log"))
	if err != nil {
		return nil, fmt.Errorf("making the log of %s: %w", name, err)
	}
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for us: the order of stopping matters
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", name, err), log.Close())
	}
	started := process{name: name, cmd: cmd, ended: make(chan struct{})}
	p.all = append(p.all, started)
	go func() {
		defer close(started.ended)
		_ = cmd.Wait() // ProcessState says how it ended
		text, _ := os.ReadFile(log.Name())
		_ = log.Close()
		switch {
		case p.stopping.Load():
			return
		case needed:
			p.failed <- fmt.Errorf("%s has ended (%v)\n%s", name, cmd.ProcessState, text)
			return
		}
		fmt.Fprintf(p.out, "%s has ended (%v). To start it again: %s %s\n%s", name, cmd.ProcessState, program, strings.Join(args, " "), text)
	}()
	return cmd.Process, nil
}

// await waits until what was started last is there.
func (p *processes) await(ctx context.Context, what string, there func() bool) error {
	last := p.all[len(p.all)-1]
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for !there() {
		select {
		case <-again.C:
		case err := <-p.failed:
			return err
		case <-last.ended:
			return fmt.Errorf("%s did not start", what)
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// stop ends what is running, the last that was started first.
func (p *processes) stop() error {
	p.stopping.Store(true)
	var errs []error
	for i := len(p.all) - 1; i >= 0; i-- {
		process := p.all[i]
		if err := process.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = append(errs, fmt.Errorf("stopping %s: %w", process.name, err))
		}
		select {
		case <-process.ended:
		case <-time.After(10 * time.Second):
			errs = append(errs, fmt.Errorf("%s does not end: %w", process.name, process.cmd.Process.Kill()))
			<-process.ended
		}
	}
	return errors.Join(errs...)
}

func listening(address string) bool {
	conn, err := net.Dial("tcp", address)
	return err == nil && conn.Close() == nil
}

func answers(url string) bool {
	answer, err := http.Get(url)
	return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}
