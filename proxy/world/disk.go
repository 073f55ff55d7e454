package world

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// disk is a machine's disk. It outlives the processes that write to it.
type disk struct {
	mu    sync.Mutex
	files map[string]*content
	full  bool
	fails bool // what is written
}

// content is what a file has: as programs read it, and what a loss of power leaves of it.
type content struct {
	text    []byte
	synced  []byte
	changes []change // since it was synced
}

func newDisk() *disk { return &disk{files: map[string]*content{}} }

// fill has the disk be full, or not any more.
func (d *disk) fill(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

// fail has whatever is written fail, or not any more.
func (d *disk) fail(fails bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fails = fails
}

// mount is the disk as a process has it whose end is told by dead.
func (d *disk) mount(dead *atomic.Bool) *mount { return &mount{disk: d, dead: dead, left: -1} }

// mount is a disk as one process has it. It implements memstore.Files. Once the process has died
// nothing that it does has an effect.
type mount struct {
	disk *disk
	dead *atomic.Bool
	left int    // how many bytes the process still writes before it dies in the middle of a write; -1 for no end
	died func() // is told of that
}

// dieAfter has the process die when it has written so many more bytes. It calls died then, which
// must not wait.
func (m *mount) dieAfter(bytes int, died func()) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	m.left, m.died = bytes, died
}

// MkdirAll implements memstore.Files: directories need not be made.
func (m *mount) MkdirAll(string, fs.FileMode) error { return m.alive() }

// ReadDir implements memstore.Files.
func (m *mount) ReadDir(dir string) ([]fs.DirEntry, error) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	var list []fs.DirEntry
	for path := range m.disk.files {
		if filepath.Dir(path) == filepath.Clean(dir) {
			list = append(list, entry(filepath.Base(path)))
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// entry is a file in a directory.
type entry string

func (e entry) Name() string             { return string(e) }
func (entry) IsDir() bool                { return false }
func (entry) Type() fs.FileMode          { return 0 }
func (entry) Info() (fs.FileInfo, error) { return nil, fs.ErrInvalid }

// ReadFile implements memstore.Files.
func (m *mount) ReadFile(path string) ([]byte, error) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	c, ok := m.disk.files[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return slices.Clone(c.text), nil
}

// OpenFile implements memstore.Files.
func (m *mount) OpenFile(path string, flag int, _ fs.FileMode) (memstore.File, error) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	c, ok := m.disk.files[path]
	switch {
	case m.dead.Load():
		return nil, errDead
	case !ok && flag&os.O_CREATE == 0:
		return nil, fs.ErrNotExist
	case !ok && m.disk.full:
		return nil, syscall.ENOSPC
	case !ok:
		c = &content{}
		m.disk.files[path] = c
	}
	if flag&os.O_TRUNC != 0 {
		c.text = nil
		c.changes = append(c.changes, change{at: time.Now()})
	}
	return &file{mount: m, content: c}, nil
}

// Rename implements memstore.Files. A journal that is renamed is on the disk at once.
func (m *mount) Rename(from, to string) error {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	c, ok := m.disk.files[from]
	if m.dead.Load() {
		return errDead
	}
	if !ok {
		return fs.ErrNotExist
	}
	delete(m.disk.files, from)
	m.disk.files[to] = c
	return nil
}

// Remove implements memstore.Files.
func (m *mount) Remove(path string) error {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	if m.dead.Load() {
		return errDead
	}
	if _, ok := m.disk.files[path]; !ok {
		return fs.ErrNotExist
	}
	delete(m.disk.files, path)
	return nil
}

func (m *mount) alive() error {
	if m.dead.Load() {
		return errDead
	}
	return nil
}

// file is an open file. It implements memstore.File.
type file struct {
	mount   *mount
	content *content
	end     int64 // where Write goes on
}

func (f *file) Write(p []byte) (int, error) {
	n, err := f.WriteAt(p, f.end)
	f.end += int64(n)
	return n, err
}

// WriteAt writes until the process dies, or the disk is full or fails.
func (f *file) WriteAt(p []byte, at int64) (int, error) {
	f.mount.disk.mu.Lock()
	defer f.mount.disk.mu.Unlock()
	switch m := f.mount; {
	case m.dead.Load():
		return 0, errDead
	case m.disk.fails:
		return 0, syscall.EIO
	case m.disk.full && at+int64(len(p)) > int64(len(f.content.text)):
		return 0, syscall.ENOSPC
	case m.left < 0 || m.left > len(p):
		m.left = max(m.left-len(p), min(m.left, 0))
	default:
		f.put(p[:m.left], at)
		m.dead.Store(true)
		m.died()
		return m.left, errDead
	}
	f.put(p, at)
	return len(p), nil
}

func (f *file) put(p []byte, at int64) {
	f.resize(max(at+int64(len(p)), int64(len(f.content.text))))
	copy(f.content.text[at:], p)
	f.content.changes = append(f.content.changes, change{time.Now(), at, slices.Clone(p), int64(len(f.content.text))})
}

func (f *file) resize(size int64) {
	if more := size - int64(len(f.content.text)); more > 0 {
		f.content.text = append(f.content.text, make([]byte, more)...)
	}
	f.content.text = f.content.text[:size]
}

func (f *file) Truncate(size int64) error {
	f.mount.disk.mu.Lock()
	defer f.mount.disk.mu.Unlock()
	switch {
	case f.mount.dead.Load():
		return errDead
	case f.mount.disk.full && size > int64(len(f.content.text)):
		return syscall.ENOSPC
	}
	f.resize(size)
	f.content.changes = append(f.content.changes, change{at: time.Now(), size: size})
	return nil
}

func (f *file) Sync() error {
	f.mount.disk.mu.Lock()
	defer f.mount.disk.mu.Unlock()
	if f.mount.dead.Load() {
		return errDead
	}
	f.content.synced, f.content.changes = slices.Clone(f.content.text), nil
	return nil
}

func (f *file) Close() error { return f.mount.alive() }
