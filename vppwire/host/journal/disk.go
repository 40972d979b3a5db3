package journal

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// disk is what a journal needs from a file system; tests have one that fails on demand.
type disk interface {
	// open opens a file for reading and writing and creates it where it is missing.
	open(path string) (file, error)
	// replace makes the file at path hold exactly data, durably and at once: after a crash it is the old one or the new
	// one. It returns the new one.
	replace(path string, data []byte) (file, error)
	// syncFolder makes the file's name durable.
	syncFolder(path string) error
}

// file is an open file. Writes go by offset, so that what a failed one left behind is written over.
type file interface {
	io.ReaderAt
	Size() (int64, error)
	WriteAt(p []byte, off int64) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

type realDisk struct{}

func (realDisk) open(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return realFile{f}, nil
}

// newSuffix is of the file that a rewriting goes to. One that a crash has left is written over.
const newSuffix = ".new"

func (d realDisk) replace(path string, data []byte) (file, error) {
	f, err := os.OpenFile(path+newSuffix, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(path+newSuffix, path)
	}
	if err == nil {
		err = d.syncFolder(path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return realFile{f}, nil
}

func (realDisk) syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

type realFile struct{ *os.File }

func (f realFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Sync makes content and length durable; times of access and change do not matter to anybody.
func (f realFile) Sync() error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
