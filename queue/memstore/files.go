package memstore

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// Files is the file system that a store keeps its journals in. Its methods are those of package os.
type Files interface {
	MkdirAll(path string, perm fs.FileMode) error
	ReadDir(path string) ([]fs.DirEntry, error)
	ReadFile(path string) ([]byte, error)
	OpenFile(path string, flag int, perm fs.FileMode) (File, error)
	Rename(from, to string) error
	Remove(path string) error
}

// File is an open file of Files. Its methods are those of os.File.
type File interface {
	io.Writer
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
}

// system are the files of the machine.
type system struct{}

func (system) MkdirAll(path string, perm fs.FileMode) error { return os.MkdirAll(path, perm) }
func (system) ReadDir(path string) ([]fs.DirEntry, error)   { return os.ReadDir(path) }
func (system) ReadFile(path string) ([]byte, error)         { return os.ReadFile(path) }
func (system) Rename(from, to string) error                 { return os.Rename(from, to) }
func (system) Remove(path string) error                     { return os.Remove(path) }

func (system) OpenFile(path string, flag int, perm fs.FileMode) (File, error) {
	return os.OpenFile(path, flag, perm)
}

// writeFile gives a file another content, and makes it where it is missing. With lasting, the
// content is on the disk before writeFile returns.
func writeFile(files Files, path string, content []byte, lasting bool) error {
	file, err := files.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil && lasting {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
