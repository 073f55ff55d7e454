package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
)

// state is a gate's state directory, held by one process at a time.
type state struct {
	dir  string
	lock *os.File
}

// openState makes the directory with mode 0700 where it is missing, and locks it for this
// process. A gate that succeeds another one waits for it to let go.
func openState(dir string, succeeds bool) (*state, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the state directory (set state_dir or --state-dir to choose another): %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the state directory (set state_dir or --state-dir to choose another): %w", err)
	}
	how := syscall.LOCK_EX
	if !succeeds {
		how |= syscall.LOCK_NB
	}
	if err := syscall.Flock(int(lock.Fd()), how); err != nil {
		_ = lock.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("locking the state directory: %w", err)
		}
		return nil, fmt.Errorf("another gate is using the state directory %s: give each gate its own with state_dir or --state-dir", dir)
	}
	return &state{dir: dir, lock: lock}, nil
}

// gateConfig is what the configuration makes of the gate.
func (s *state) gateConfig(c *config.Config) (proxy.Config, error) {
	keys, err := s.keys(c.Cookie.Keys)
	if err != nil {
		return proxy.Config{}, err
	}
	return gateConfig(c, keys)
}

// keys parses the configured cookie keys. If there are none, it takes the gate's own key,
// which is made at the first start.
func (s *state) keys(configured []string) ([]cookie.Key, error) {
	if len(configured) == 0 {
		own, err := s.ownKey()
		if err != nil {
			return nil, err
		}
		configured = []string{own}
	}
	keys := make([]cookie.Key, len(configured))
	for i, text := range configured {
		key, err := cookie.ParseKey(text)
		if err != nil {
			return nil, fmt.Errorf("cookie key %d: %w", i+1, err)
		}
		keys[i] = key
	}
	return keys, nil
}

// ownKey reads the gate's own key. Without one it makes a key that only the gate's user can
// read.
func (s *state) ownKey() (string, error) {
	path := filepath.Join(s.dir, "cookie.key")
	text, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(text)), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("reading the gate's own cookie key: %w", err)
	}
	key := cookie.NewKey()
	if err := os.WriteFile(path+".new", []byte(key+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keeping a new cookie key: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return "", fmt.Errorf("keeping a new cookie key: %w", err)
	}
	return key, nil
}

func (s *state) close() error { return s.lock.Close() }
