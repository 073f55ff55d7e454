package stage

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

// Processes are what is running, in the order of their start.
type Processes struct {
	Out io.Writer // what becomes of them is written here
	Dir string    // has their logs

	all    []process
	failed chan error // the end of one that is needed

	stopping atomic.Bool // from now on their ends are expected
}

// WithProcesses has do start processes, and stops them when do is done.
func WithProcesses(out io.Writer, dir string, do func(p *Processes) error) (err error) {
	p := &Processes{Out: out, Dir: dir, failed: make(chan error, 8)}
	defer func() { err = errors.Join(err, p.stop()) }()
	return do(p)
}

// Start starts a program, with a log of its own in the directory. If it is
// needed, its end is a failure; else its end is only written to out.
func (p *Processes) Start(name string, needed bool, env []string, program string, args ...string) (*os.Process, error) {
	log, err := os.Create(filepath.Join(p.Dir, name+".log"))
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
		fmt.Fprintf(p.Out, "%s has ended (%v). To start it again: %s %s\n%s", name, cmd.ProcessState, program, strings.Join(args, " "), text)
	}()
	return cmd.Process, nil
}

// Await waits until what was started last is there.
func (p *Processes) Await(ctx context.Context, what string, there func() bool) error {
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

// Wait waits until ctx ends, or a process that is needed, which is an error.
func (p *Processes) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-p.failed:
		return err
	}
}

// stop ends what is running, the last that was started first.
func (p *Processes) stop() error {
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

// Installed says which of the programs are missing.
func Installed(programs ...string) error {
	var missing []string
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("this example needs %[1]s; on Debian and Ubuntu install with apt-get install %[2]s",
			strings.Join(missing, " and "), strings.Join(missing, " "))
	}
	return nil
}

// Listening says whether somebody takes connections at an address.
func Listening(address string) bool {
	conn, err := net.Dial("tcp", address)
	return err == nil && conn.Close() == nil
}

// Answers says whether a URL is answered well.
func Answers(url string) bool {
	answer, err := http.Get(url)
	return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}
