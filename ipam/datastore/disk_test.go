package datastore

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
)

// disk is a modelled file system with one directory. What a crash leaves is worked out from what was synced: contents
// that were not may be missing, cut short or garbage; names that were not may be the old or the new ones, in any order.
type disk struct {
	dir     string
	names   map[string]*inode // as processes see them
	durable map[string]*inode
	// renames since the last sync of the directory, in order.
	pending []change
	// fail refuses the operation of that number, from 1; crash stops before it.
	steps, fail, crash int
	// doneAnyway: an operation that fails has happened all the same.
	doneAnyway bool
	trail      []string
}

type inode struct {
	data   []byte
	synced int // leading bytes that survive
}

type change struct {
	name string
	to   *inode // nil: removed
}

type crashed struct{}

type ioError string

func (e ioError) Error() string { return string(e) }

func newDisk(dir string) *disk {
	return &disk{dir: dir, names: make(map[string]*inode), durable: make(map[string]*inode)}
}

// step counts an operation: it crashes, fails or passes. act is what the operation does.
func (d *disk) step(what string, act func()) error {
	d.steps++
	d.trail = append(d.trail, what)
	if d.steps == d.crash {
		panic(crashed{})
	}
	if d.steps == d.fail {
		if d.doneAnyway {
			act()
		}
		return ioError(what + " failed")
	}
	act()
	return nil
}

func (d *disk) set(name string, to *inode) {
	if to == nil {
		delete(d.names, name)
	} else {
		d.names[name] = to
	}
	d.pending = append(d.pending, change{name, to})
}

func (d *disk) Create(name string) (File, error) {
	if path.Dir(name) != d.dir {
		return nil, ioError("another directory")
	}
	f := &openFile{disk: d}
	err := d.step("create "+name, func() {
		f.inode = &inode{}
		d.set(name, f.inode)
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d *disk) ReadFile(name string) ([]byte, error) {
	n, ok := d.names[name]
	if !ok {
		return nil, fmt.Errorf("open %s: %w", name, fs.ErrNotExist)
	}
	return slices.Clone(n.data), nil
}

func (d *disk) Rename(from, to string) error {
	return d.step("rename "+from+" "+to, func() {
		n := d.names[from]
		d.set(from, nil)
		d.set(to, n)
	})
}

func (d *disk) Remove(name string) error {
	return d.step("remove "+name, func() { d.set(name, nil) })
}

func (d *disk) SyncDir(name string) error {
	return d.step("syncdir "+name, func() {
		d.durable = maps.Clone(d.names)
		d.pending = nil
	})
}

type openFile struct {
	disk   *disk
	inode  *inode
	closed bool
}

func (f *openFile) Write(p []byte) (int, error) {
	n := len(p)
	err := f.disk.step("write", func() { f.inode.data = append(f.inode.data, p...) })
	if err != nil {
		n = len(p) / 2
		f.inode.data = append(f.inode.data, p[:n]...)
	}
	return n, err
}

func (f *openFile) Sync() error {
	return f.disk.step("sync", func() { f.inode.synced = len(f.inode.data) })
}

func (f *openFile) Close() error {
	f.closed = true
	return f.disk.step("close", func() {})
}

// afterCrash lists every disk that a crash now may leave: each subset of unsynced name changes in order (a rename's two
// halves together), with unsynced contents missing, halved, whole or garbage.
func (d *disk) afterCrash() []*disk {
	var out []*disk
	for subset := range 1 << len(d.pending) {
		names := maps.Clone(d.durable)
		for i, c := range d.pending {
			if subset>>i&1 == 0 {
				continue
			}
			if c.to == nil {
				delete(names, c.name)
			} else {
				names[c.name] = c.to
			}
		}
		for _, tear := range [...]func(unsynced []byte) []byte{
			func([]byte) []byte { return nil },
			func(u []byte) []byte { return u[:len(u)/2] },
			func(u []byte) []byte { return u },
			func(u []byte) []byte { return make([]byte, len(u)) },
		} {
			left := newDisk(d.dir)
			for name, n := range names {
				whole := append(slices.Clone(n.data[:n.synced]), tear(n.data[n.synced:])...)
				left.names[name] = &inode{data: whole, synced: len(whole)}
			}
			left.durable = maps.Clone(left.names)
			out = append(out, left)
		}
	}
	return out
}
