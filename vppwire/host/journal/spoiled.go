package journal

import "github.com/vppdrill/vppdrill/vppwire/agent"

// Spoil is a hand at a journal's file. Write is asked before each write of so many bytes: how many reach the file, and the
// error with which it ends; without an error all of them do. Truncate is asked before what a failed write left is taken away.
type Spoil interface {
	Write(size int) (kept int, err error)
	Truncate() error
}

// OpenSpoiled is Open on a disk that may fail, for rehearsals.
func OpenSpoiled(path string, by Spoil) (*Journal, []agent.Record, error) {
	return open(path, spoiledDisk{realDisk{}, by})
}

type spoiledDisk struct {
	disk
	by Spoil
}

func (d spoiledDisk) open(path string) (file, error) { return d.spoiled(d.disk.open(path)) }

func (d spoiledDisk) create(path string) (file, error) { return d.spoiled(d.disk.create(path)) }

func (d spoiledDisk) spoiled(f file, err error) (file, error) {
	if err != nil {
		return nil, err
	}
	return spoiledFile{f, d.by}, nil
}

type spoiledFile struct {
	file
	by Spoil
}

// WriteAt implements file.
func (f spoiledFile) WriteAt(p []byte, off int64) (int, error) {
	kept, err := f.by.Write(len(p))
	if err == nil {
		return f.file.WriteAt(p, off)
	}
	n, other := f.file.WriteAt(p[:kept], off)
	if other != nil {
		err = other
	}
	return n, err
}

// Truncate implements file.
func (f spoiledFile) Truncate(size int64) error {
	if err := f.by.Truncate(); err != nil {
		return err
	}
	return f.file.Truncate(size)
}
