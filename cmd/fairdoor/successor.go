package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"
)

// What a successor tells the gate before it, in this order: that its configuration is good and it
// waits for the state, and that it serves.
const (
	isWaiting = 'w'
	isReady   = 'r'
)

const (
	// successorTime is how long a successor may take for each of the two: less than service managers
	// wait for a stop, which has to wait for it.
	successorTime = 30 * time.Second
	// briefly is how long a gate waits for requests to finish before it lets go of the state:
	// meanwhile nobody is served who comes on a new connection. Those that take longer go on.
	briefly = 500 * time.Millisecond
)

// successor is the process that takes over the gate's listeners and then its state.
type successor struct {
	cmd  *exec.Cmd
	says *os.File
}

// closeFiles closes what is handed over, of which the successor has its own.
func (n *successor) closeFiles() {
	for _, file := range n.cmd.ExtraFiles {
		_ = file.Close()
	}
}

// succeed starts the program that there is now, with the gate's listeners, and waits until it has read
// its configuration, listens, and has reached a store that is shared: then it waits for the state. On an
// error, or once ctx has ended, the gate is to go on.
func (s *server) succeed(ctx context.Context) (*successor, error) {
	if os.Getpid() == 1 {
		return nil, errors.New("with the first process of a container all others end: start another container")
	}
	path, err := exec.LookPath(os.Args[0])
	if err != nil {
		return nil, fmt.Errorf("finding the program: %w", err)
	}
	says, tell, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe to the successor: %w", err)
	}
	next := &successor{cmd: exec.Command(path, os.Args[1:]...), says: says}
	var names []string
	for _, l := range s.listeners {
		file, err := l.File()
		if err != nil {
			next.closeFiles()
			return nil, errors.Join(fmt.Errorf("handing over %s: %w", l.key, err), says.Close(), tell.Close())
		}
		next.cmd.ExtraFiles = append(next.cmd.ExtraFiles, file)
		names = append(names, l.key)
	}
	next.cmd.ExtraFiles = append(next.cmd.ExtraFiles, tell)
	next.cmd.Env = append(os.Environ(), envCount+"="+strconv.Itoa(len(names)), envNames+"="+strings.Join(names, ":"),
		envTell+"="+strconv.Itoa(firstInherited+len(names)))
	next.cmd.Stdout, next.cmd.Stderr = os.Stdout, os.Stderr
	err = next.cmd.Start()
	next.closeFiles() // with tell open here, the end of the successor would not be heard
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting the successor: %w", err), says.Close())
	}
	if err := next.await(ctx, isWaiting); err != nil {
		return nil, err
	}
	return next, nil
}

// await waits until the successor is as far as the word says. One that does not get there, or not
// before ctx ends, is ended.
func (n *successor) await(ctx context.Context, word byte) error {
	heard := make([]byte, 1)
	err := n.says.SetReadDeadline(time.Now().Add(successorTime))
	defer context.AfterFunc(ctx, func() { _ = n.says.SetReadDeadline(time.Now()) })()
	if err == nil {
		_, err = io.ReadFull(n.says, heard)
	}
	if err == nil && heard[0] == word {
		return nil
	}
	_ = n.cmd.Process.Kill() // it may have ended
	return errors.Join(fmt.Errorf("the successor has not come up; its log says why: %w", err), n.cmd.Wait(), n.says.Close())
}

// handOver lets go of the listeners, has release let go of the store and the state, and waits for
// the successor to serve. Then it lets the requests finish that are still under way.
func (s *server) handOver(next *successor, release func()) error {
	s.log.Info("handing over", zap.Int("to", next.cmd.Process.Pid), zap.Duration("grace", s.config.ShutdownGrace))
	s.gate.Drain()
	ctx, cancel := context.WithTimeout(context.Background(), s.config.ShutdownGrace)
	defer cancel()
	var finished error
	requests := make(chan struct{})
	go func() {
		defer close(requests)
		finished = s.finishAll(ctx)
	}()
	select {
	case <-requests:
	case <-time.After(briefly):
	}
	if s.acme != nil {
		s.acme.Close()
	}
	s.gate.Close()
	err := s.admin.Close()
	release()
	if notUp := next.await(context.Background(), isReady); notUp != nil {
		err = errors.Join(err, notUp)
	} else {
		s.notify("MAINPID=" + strconv.Itoa(next.cmd.Process.Pid))
		err = errors.Join(err, next.says.Close(), next.cmd.Process.Release())
	}
	<-requests
	return errors.Join(err, finished, s.end())
}

// succession is the signal at which a gate hands over.
const succession = syscall.SIGUSR2
