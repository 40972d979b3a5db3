package journal

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// disk is what a journal needs from a file system; tests have one that fails on demand and forgets what was not synced.
type disk interface {
	// open opens a file for reading and writing and creates it where it is missing; create empties it.
	open(path string) (file, error)
	create(path string) (file, error)
	rename(from, to string) error
	// exists reports whether a name is taken.
	exists(path string) (bool, error)
	// syncFolder makes names in the file's folder durable.
	syncFolder(path string) error
}

// file is an open file. Writes go by offset, so that what a failed one left behind is written over.
type file interface {
	io.ReaderAt
	Size() (int64, error)
	WriteAt(p []byte, off int64) (int, error)
	Truncate(size int64) error
	Sync() error
	// Forget makes what is read next come from the disk. A kernel that could not write a page says so once, and goes on
	// showing it as if it had.
	Forget() error
	Close() error
}

// newSuffix is of the file that a rewriting goes to. One that a crash has left is written over.
const newSuffix = ".new"

// replace makes the file at path hold exactly data, durably and at once: after a crash it is the old one or the new
// one. It returns the new one. After an error either may be there.
func replace(d disk, path string, data io.Reader) (file, error) {
	f, err := d.create(path + newSuffix)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(io.NewOffsetWriter(f, 0), data)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = d.rename(path+newSuffix, path)
	}
	if err == nil {
		err = d.syncFolder(path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

type realDisk struct{}

func (realDisk) open(path string) (file, error) { return openFile(path, os.O_CREATE|os.O_RDWR) }
func (realDisk) create(path string) (file, error) {
	return openFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR)
}
func (realDisk) rename(from, to string) error { return os.Rename(from, to) }

func (realDisk) exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func openFile(path string, flags int) (file, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
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

// Forget drops the pages that are clean; Sync comes before it.
func (f realFile) Forget() error {
	return os.NewSyscallError("fadvise", unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
}
