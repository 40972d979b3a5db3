package journal

import (
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/journaltest"
)

// Goal: the journal owes what every journal owes. Method: the contract's own suite, on a file system in memory that
// fails at any operation, forgets what was not synced, and shows what it could not write; the journal's own code does
// all the rest.
func TestContract(t *testing.T) {
	journaltest.Try(t, func(c journaltest.Chooser) journaltest.Machine { return &memoryMachine{disk: newMemoryDisk(c)} })
}

// memoryMachine runs a Journal without its goroutine, so that what is written together is always the same.
type memoryMachine struct {
	disk  *memoryDisk
	j     *Journal
	queue []write
}

// Start implements journaltest.Machine.
func (m *memoryMachine) Start() (records []agent.Record, err error) {
	alive := true
	defer func() {
		if !alive {
			records, err = nil, errDisk
		}
	}()
	defer m.died(&alive)
	j := newJournal("folder/journal", m.disk)
	err = j.load(func(h *agent.History) { records = h.AppendTo(records) })
	if err != nil {
		return nil, err
	}
	m.j = j
	if j.found.Damage != nil {
		panic(j.found.Damage)
	}
	return records, nil
}

// Persist implements journaltest.Machine.
func (m *memoryMachine) Persist(e agent.Persist, done func(error)) {
	m.queue = append(m.queue, write{Persist: e, done: done})
}

// Work implements journaltest.Machine: all at once, or one after the other.
func (m *memoryMachine) Work() (alive bool) {
	defer m.died(&alive)
	for len(m.queue) > 0 {
		n := len(m.queue) - m.disk.chooser.Pick("apart", len(m.queue))
		m.j.perform(m.queue[:n])
		m.queue = m.queue[n:]
	}
	return true
}

// death is what an operation ends with at which the process dies.
type death struct{}

func (m *memoryMachine) died(alive *bool) {
	switch r := recover(); r {
	case nil:
	case death{}:
		*alive = false
		m.Kill()
	default:
		panic(r)
	}
}

// Kill implements journaltest.Machine.
func (m *memoryMachine) Kill() { m.j, m.queue = nil, nil }

// PowerCut implements journaltest.Machine.
func (m *memoryMachine) PowerCut() {
	m.Kill()
	m.disk.cut()
}

// memoryDisk is a folder with a cache before it.
type memoryDisk struct {
	chooser journaltest.Chooser
	// names are those that programs see, safe those that are on disk; renamed are the files of the names that are not
	// there yet, oldest first.
	names, safe map[string]*inode
	pending     []map[string]*inode
}

func newMemoryDisk(c journaltest.Chooser) *memoryDisk {
	return &memoryDisk{chooser: c, names: map[string]*inode{}, safe: map[string]*inode{}}
}

// inode is one file: what programs see of it, and what is on disk. From and to bound what has been changed since and is
// known to be: after a failed sync that is nothing, although the two still differ.
type inode struct {
	cache, disk []byte
	from, to    int
}

// fails decides about an operation: it is done, fails, or is not even begun, because the process dies.
func (d *memoryDisk) fails(what string) bool {
	way := d.chooser.Pick(what, 3)
	if way == 2 {
		panic(death{})
	}
	return way == 1
}

func (d *memoryDisk) open(path string) (file, error) {
	if d.fails("open") {
		return nil, errDisk
	}
	if d.names[path] == nil {
		d.rechristen(path, &inode{})
	}
	return memoryFile{d.names[path], d}, nil
}

func (d *memoryDisk) create(path string) (file, error) {
	if d.fails("create") {
		return nil, errDisk
	}
	n := d.names[path]
	if n == nil {
		n = &inode{}
		d.rechristen(path, n)
	}
	n.resize(0)
	return memoryFile{n, d}, nil
}

func (d *memoryDisk) rename(from, to string) error {
	if d.fails("rename") {
		return errDisk
	}
	n := d.names[from]
	delete(d.names, from)
	d.rechristen(to, n)
	return nil
}

func (d *memoryDisk) exists(path string) (bool, error) {
	if d.fails("exists") {
		return false, errDisk
	}
	return d.names[path] != nil, nil
}

// rechristen gives a file a name that is safe when the folder is synced.
func (d *memoryDisk) rechristen(path string, n *inode) {
	d.names[path] = n
	d.pending = append(d.pending, clone(d.names))
}

func clone(names map[string]*inode) map[string]*inode {
	list := map[string]*inode{}
	for name, n := range names {
		list[name] = n
	}
	return list
}

func (d *memoryDisk) syncFolder(string) error {
	if d.fails("sync of the folder") {
		return errDisk
	}
	d.safe, d.pending = clone(d.names), nil
	return nil
}

// cut loses what is not safe, or not all of it.
func (d *memoryDisk) cut() {
	if n := len(d.pending); n > 0 {
		if kept := n - d.chooser.Pick("power: names lost", n+1); kept > 0 {
			d.safe = d.pending[kept-1]
		}
		d.pending = nil
	}
	d.names = clone(d.safe)
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		d.names[name].cut(d.chooser)
	}
}

// cut leaves what is on disk, and the beginning of what was not written yet.
func (n *inode) cut(c journaltest.Chooser) {
	if changed := n.to - n.from; changed > 0 || len(n.cache) != len(n.disk) {
		if way := c.Pick("power: bytes lost", changed+2); way <= changed {
			n.write(n.to - way)
		}
	}
	n.cache, n.from, n.to = slices.Clone(n.disk), 0, 0
}

// write puts what was changed up to an offset on disk. What a failed sync gave up is not there, although the file is as
// long.
func (n *inode) write(to int) {
	size := len(n.cache)
	if to < n.to {
		size = max(to, min(len(n.disk), size))
	}
	if size < len(n.disk) {
		n.disk = n.disk[:size]
	}
	n.disk = append(n.disk, make([]byte, size-len(n.disk))...)
	if n.from < to {
		copy(n.disk[n.from:to], n.cache[n.from:to])
	}
}

func (n *inode) resize(size int) {
	if size < len(n.cache) {
		n.cache = n.cache[:size]
	}
	n.cache = append(n.cache, make([]byte, size-len(n.cache))...)
	n.to = min(n.to, size)
	n.from = min(n.from, n.to)
}

type memoryFile struct {
	n *inode
	d *memoryDisk
}

func (f memoryFile) ReadAt(b []byte, off int64) (int, error) {
	if off > int64(len(f.n.cache)) {
		return 0, io.EOF
	}
	k := copy(b, f.n.cache[off:])
	if k < len(b) {
		return k, io.EOF
	}
	return k, nil
}

func (f memoryFile) Size() (int64, error) { return int64(len(f.n.cache)), nil }

// WriteAt may write a part and say that the disk is full.
func (f memoryFile) WriteAt(p []byte, off int64) (int, error) {
	var err error
	if lost := f.d.chooser.Pick("bytes not written", len(p)+1); lost > 0 {
		p, err = p[:len(p)-lost], errDisk
	}
	if len(p) == 0 {
		return 0, err
	}
	end := int(off) + len(p)
	if end > len(f.n.cache) {
		f.n.resize(end)
	}
	copy(f.n.cache[off:], p)
	if f.n.from == f.n.to {
		f.n.from, f.n.to = int(off), end
	}
	f.n.from, f.n.to = min(f.n.from, int(off)), max(f.n.to, end)
	return len(p), err
}

func (f memoryFile) Truncate(size int64) error {
	if f.d.fails("truncate") {
		return errDisk
	}
	f.n.resize(int(size))
	return nil
}

// Sync that fails writes all or nothing, and never tries again.
func (f memoryFile) Sync() error {
	way := f.d.chooser.Pick("sync", 4)
	if way == 3 {
		panic(death{})
	}
	if way < 2 {
		f.n.write(f.n.to)
	}
	f.n.from, f.n.to = 0, 0
	if way > 0 {
		return errDisk
	}
	return nil
}

func (f memoryFile) Forget() error {
	if f.n.from == f.n.to {
		f.n.cache = slices.Clone(f.n.disk)
	}
	return nil
}

func (f memoryFile) Close() error { return nil }
