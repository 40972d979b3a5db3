package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Errors of Open and of writes.
var (
	// ErrLocked: another process has the journal open.
	ErrLocked = errors.New("another process uses it")
	// ErrClosed: the journal was closed before the write.
	ErrClosed = errors.New("the journal is closed")
)

// Journal is an open journal file. Its methods may be called from any goroutine; writes take effect in the order of the
// calls. Nobody else may have the file open: Open sees to that.
type Journal struct {
	path  string
	lock  *os.File
	disk  disk
	found Found

	mu     sync.Mutex
	wanted sync.Cond
	queue  []write
	closed bool
	done   chan struct{} // the writer has ended

	// The writer's own.
	file   file
	size   int64 // bytes that are durable
	broken error // why nothing can be appended before a Replace; nil: it can
	buf    []byte
	syncs  int64
}

// write is one waiting request.
type write struct {
	records []agent.Record
	replace bool
	done    func(error)
}

// Open opens or creates the journal at path, whose folder must exist, and returns the records of earlier lives, oldest
// first. Everything that is returned has been synced: an earlier life may have died before it did, and others are told of
// what is read here. A tail that a crash broke off is cut; a damaged file is kept beside under a name with ".damaged-" and
// a number, and what stands before the damage counts: see Found. ErrLocked where the journal is in use.
func Open(path string) (*Journal, []agent.Record, error) {
	return open(path, realDisk{})
}

// OpenInto is Open for a history that need not be kept: take gets the records, oldest first and some at a time, while later
// ones are still being read. It must not keep the History. Nobody may be told of them, and nothing done, before OpenInto has
// returned; after an error they do not count.
func OpenInto(path string, take func(*agent.History)) (*Journal, error) {
	return openInto(path, realDisk{}, take)
}

func open(path string, d disk) (*Journal, []agent.Record, error) {
	var parts [][]agent.Record
	j, err := openInto(path, d, func(h *agent.History) {
		parts = append(parts, h.AppendTo(make([]agent.Record, 0, h.Len())))
	})
	if err != nil {
		return nil, nil, err
	}
	if len(parts) == 1 {
		return j, parts[0], nil
	}
	return j, slices.Concat(parts...), nil
}

func openInto(path string, d disk, take func(*agent.History)) (*Journal, error) {
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("journal %s: %w", path, err)
	}
	j := &Journal{path: path, lock: lock, disk: d, done: make(chan struct{})}
	j.wanted.L = &j.mu
	if err := j.load(take); err != nil {
		return nil, fmt.Errorf("journal %s: %w", path, errors.Join(err, lock.Close()))
	}
	go j.run()
	return j, nil
}

// lockFile takes the lock that lives as long as the process or the file that is returned.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// load reads the file, keeps a copy of a damaged one, cuts what does not count, and syncs what does.
func (j *Journal) load(take func(*agent.History)) error {
	f, err := j.disk.open(j.path)
	if err != nil {
		return err
	}
	j.file = f
	if err := j.settle(take); err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

func (j *Journal) settle(take func(*agent.History)) error {
	size, err := j.file.Size()
	if err != nil {
		return err
	}
	c, err := read(j.file, size, pieceSize, take)
	if err != nil {
		return err
	}
	j.size = c.whole
	j.found = Found{Frames: c.frames, Bytes: c.whole, Cut: size - c.whole, Damage: c.damage}
	if c.damage != nil {
		if j.found.Quarantine, err = quarantine(j.path, io.NewSectionReader(j.file, 0, size)); err != nil {
			return fmt.Errorf("damaged, and no copy can be made: %w", err)
		}
	}
	if j.found.Cut > 0 {
		if err := j.file.Truncate(j.size); err != nil {
			return err
		}
	}
	if err := j.file.Sync(); err != nil {
		return err
	}
	return j.disk.syncFolder(j.path)
}

// quarantinesMost bounds how many damaged files may lie about before somebody has to look at them.
const quarantinesMost = 1000

// quarantine keeps the bytes of a damaged file under the first free name and returns that.
func quarantine(path string, data io.Reader) (string, error) {
	for n := 1; n <= quarantinesMost; n++ {
		name := path + ".damaged-" + strconv.Itoa(n)
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = io.Copy(f, data)
		return name, errors.Join(err, f.Sync(), f.Close())
	}
	return "", fmt.Errorf("%d damaged files are there already", quarantinesMost)
}

// Found says what Open found.
func (j *Journal) Found() Found { return j.found }

// Append writes records behind everything else, all or none, and calls done once, from a goroutine of the journal's and in
// the order of the calls, when they are durable or are known not to be. After a failure every later Append fails too, until a
// Replace has succeeded. The records must not change before done.
func (j *Journal) Append(records []agent.Record, done func(error)) {
	j.enqueue(write{records: records, done: done})
}

// Replace makes the content exactly these records: after a crash the file holds them or what it held before, never a
// mixture. It may succeed where Append cannot. Otherwise as Append.
func (j *Journal) Replace(records []agent.Record, done func(error)) {
	j.enqueue(write{records: records, replace: true, done: done})
}

func (j *Journal) enqueue(w write) {
	j.mu.Lock()
	closed := j.closed
	if !closed {
		j.queue = append(j.queue, w)
		j.wanted.Signal()
	}
	j.mu.Unlock()
	if closed {
		w.done(ErrClosed)
	}
}

// Close finishes what has been asked for and lets the file go. Writes after it fail with ErrClosed.
func (j *Journal) Close() error {
	j.mu.Lock()
	already := j.closed
	j.closed = true
	j.wanted.Signal()
	j.mu.Unlock()
	<-j.done
	if already {
		return nil
	}
	return errors.Join(j.file.Close(), j.lock.Close())
}

// run takes everything that waits, again and again, and makes it durable with one sync.
func (j *Journal) run() {
	defer close(j.done)
	var batch []write
	for {
		j.mu.Lock()
		for len(j.queue) == 0 && !j.closed {
			j.wanted.Wait()
		}
		if len(j.queue) == 0 {
			j.mu.Unlock()
			return
		}
		batch, j.queue = j.queue, batch[:0]
		j.mu.Unlock()
		j.perform(batch)
		clear(batch)
	}
}

// perform makes a batch durable. Everything before a Replace rests on the Replace alone, as its content does not matter
// afterwards; what is behind it goes into the same new file.
func (j *Journal) perform(batch []write) {
	first := 0
	for i, w := range batch {
		if w.replace {
			first = i
		}
	}
	var err error
	if batch[first].replace {
		err = j.rewrite(batch[first:])
	} else if err = j.broken; err == nil {
		err = j.extend(batch)
	}
	for _, w := range batch {
		w.done(err)
	}
}

// extend appends a frame for each write and syncs once.
func (j *Journal) extend(batch []write) error {
	j.buf = j.buf[:0]
	var err error
	for _, w := range batch {
		if j.buf, err = appendFrame(j.buf, w.records); err != nil {
			return j.fail(err)
		}
	}
	if _, err = j.file.WriteAt(j.buf, j.size); err == nil {
		j.syncs++
		err = j.file.Sync()
	}
	if err != nil {
		// What was written may or may not be there. It has not been promised to anybody, so it is better gone.
		return j.fail(errors.Join(err, j.file.Truncate(j.size)))
	}
	j.size += int64(len(j.buf))
	j.trim()
	return nil
}

func (j *Journal) fail(err error) error {
	j.broken = fmt.Errorf("journal %s: %w", j.path, err)
	return j.broken
}

// bufMost is how large a buffer is kept for the next batch; a rewriting of a large node's journal needs more, rarely.
const bufMost = 1 << 20

func (j *Journal) trim() {
	if cap(j.buf) > bufMost {
		j.buf = nil
	}
}

// rewrite makes the file anew of a Replace and what follows it.
func (j *Journal) rewrite(batch []write) error {
	j.buf = j.buf[:0]
	var err error
	for _, w := range batch {
		for rest := w.records; ; {
			n := min(len(rest), frameRecords)
			if !w.replace {
				n = len(rest) // all or none
			}
			if j.buf, err = appendFrame(j.buf, rest[:n]); err != nil {
				return j.fail(err)
			}
			if rest = rest[n:]; len(rest) == 0 {
				break
			}
		}
	}
	f, err := j.disk.replace(j.path, j.buf)
	if err != nil {
		return j.fail(err)
	}
	j.syncs++
	old := j.file
	j.file, j.size, j.broken = f, int64(len(j.buf)), nil
	j.trim()
	_ = old.Close() // its content counts no more, whatever the disk says of it
	return nil
}

// Syncs is how many syncs of the file the writes so far have taken. For tests and measurements after Close.
func (j *Journal) Syncs() int64 { return j.syncs }
