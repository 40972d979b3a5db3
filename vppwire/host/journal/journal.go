package journal

import (
	"bytes"
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
	// ErrRefused: an earlier write failed, and this one was asked for by somebody who did not know, or does not replace
	// everything.
	ErrRefused = errors.New("refused behind a write that failed")
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
	size   int64  // bytes that are durable
	broken bool   // nothing can be appended before everything is replaced
	failed uint64 // the last write that failed, or shared the fate of one
	why    error  // it failed
	buf    []byte
	taken  []write
	syncs  int64
}

// write is one waiting request.
type write struct {
	agent.Persist
	done    func(error)
	refused bool
}

// Open opens or creates the journal at path, whose folder must exist, and returns the records of earlier lives, oldest
// first. Everything that is returned has been synced: an earlier life may have died before it did, and others are told
// of what is read here. A tail that a crash broke off is cut; a damaged file is kept beside under a name with
// ".damaged-" and a number, and what stands before the damage counts: see Found. ErrLocked where the journal is in use.
// agent.ErrNewer where it needs a newer reader: then nothing of it is changed.
func Open(path string) (*Journal, []agent.Record, error) {
	return open(path, realDisk{})
}

// OpenInto is Open for a history that need not be kept: take gets the records, oldest first and some at a time, while
// later ones are still being read. It must not keep the History. Nobody may be told of them, and nothing done, before
// OpenInto has returned; after an error they do not count.
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
	j := newJournal(path, d)
	j.lock = lock
	if err := j.load(take); err != nil {
		return nil, fmt.Errorf("journal %s: %w", path, errors.Join(err, lock.Close()))
	}
	go j.run()
	return j, nil
}

func newJournal(path string, d disk) *Journal {
	j := &Journal{path: path, disk: d, done: make(chan struct{})}
	j.wanted.L = &j.mu
	return j
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

// load reads what the disk holds of the file, keeps a copy of a damaged one, cuts what does not count, and syncs what
// does. An earlier life may have died while writes failed: what it left is written first, or forgotten.
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
	if err := errors.Join(j.file.Sync(), j.file.Forget(), j.disk.syncFolder(j.path)); err != nil {
		return err
	}
	size, err := j.file.Size()
	if err != nil {
		return err
	}
	if err := readable(j.file, size); err != nil {
		return err
	}
	c, err := read(j.file, size, pieceSize, take)
	if err != nil {
		return err
	}
	j.size = c.whole
	j.found = Found{Frames: c.frames, Bytes: c.whole, Cut: size - c.whole, Damage: c.damage, Unknown: c.unknown}
	if c.damage != nil {
		if j.found.Quarantine, err = quarantine(j.disk, j.path, io.NewSectionReader(j.file, 0, size)); err != nil {
			return fmt.Errorf("damaged, and no copy can be made: %w", err)
		}
	}
	if j.found.Cut == 0 {
		return nil
	}
	if err := j.file.Truncate(j.size); err != nil {
		return err
	}
	return j.file.Sync()
}

// quarantinesMost bounds how many damaged files may lie about before somebody has to look at them.
const quarantinesMost = 1000

// quarantine keeps the bytes of a damaged file under the first free name, durably, and returns that.
func quarantine(d disk, path string, data io.Reader) (string, error) {
	for n := 1; n <= quarantinesMost; n++ {
		name := path + ".damaged-" + strconv.Itoa(n)
		taken, err := d.exists(name)
		if err != nil {
			return "", err
		}
		if taken {
			continue
		}
		f, err := replace(d, name, data)
		if err != nil {
			return "", err
		}
		return name, f.Close()
	}
	return "", fmt.Errorf("%d damaged files are there already", quarantinesMost)
}

// Found says what Open found.
func (j *Journal) Found() Found { return j.found }

// Persist writes records behind everything else, or instead of everything with Replace, all or none, and calls done
// once, from a goroutine of the journal's and in the order of the calls, when they are durable or are known not to be.
// What it owes and refuses is said in package journaltest. The records must not change before done.
func (j *Journal) Persist(e agent.Persist, done func(error)) {
	j.enqueue(write{Persist: e, done: done})
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

// perform makes durable what of a batch is not refused, and tells in the order of the requests.
func (j *Journal) perform(batch []write) {
	taken, why := j.take(batch)
	err := j.write(taken)
	for _, w := range batch {
		if w.refused {
			w.done(fmt.Errorf("%w: %w", ErrRefused, why))
		} else {
			w.done(err)
		}
	}
}

// take marks what of a batch is refused, because of why, and returns the rest. After a failure only what replaces
// everything counts, and only from somebody who knows of it: whoever does not believes that what failed is there.
func (j *Journal) take(batch []write) (taken []write, why error) {
	broken := j.broken
	j.taken = j.taken[:0]
	for i := range batch {
		w := &batch[i]
		if w.GivenUp < j.failed || broken && !w.Replace {
			w.refused = true
			continue
		}
		broken = false
		j.taken = append(j.taken, *w)
	}
	return j.taken, j.why
}

// write makes a batch durable. Everything before a Replace rests on the Replace alone, as its content does not matter
// afterwards; what is behind it goes into the same new file.
func (j *Journal) write(batch []write) error {
	if len(batch) == 0 {
		return nil
	}
	first := -1
	for i, w := range batch {
		if w.Replace {
			first = i
		}
	}
	var err error
	if first >= 0 {
		err = j.rewrite(batch[first:])
	} else {
		err = j.extend(batch)
	}
	if j.broken = err != nil; j.broken {
		j.failed, j.why = batch[len(batch)-1].Seq, fmt.Errorf("journal %s: %w", j.path, err)
		return j.why
	}
	return nil
}

// extend appends a frame for each write and syncs once.
func (j *Journal) extend(batch []write) error {
	j.buf = j.buf[:0]
	var err error
	for _, w := range batch {
		if j.buf, err = appendFrame(j.buf, w.Records); err != nil {
			return err
		}
	}
	if _, err = j.file.WriteAt(j.buf, j.size); err == nil {
		j.syncs++
		err = j.file.Sync()
	}
	if err != nil {
		// What was written may or may not be there. It has not been promised to anybody, so it is better gone.
		return errors.Join(err, j.file.Truncate(j.size))
	}
	j.size += int64(len(j.buf))
	j.trim()
	return nil
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
		for rest := w.Records; ; {
			n := min(len(rest), frameRecords)
			if !w.Replace {
				n = len(rest) // all or none
			}
			if j.buf, err = appendFrame(j.buf, rest[:n]); err != nil {
				return err
			}
			if rest = rest[n:]; len(rest) == 0 {
				break
			}
		}
	}
	f, err := replace(j.disk, j.path, bytes.NewReader(j.buf))
	if err != nil {
		return err
	}
	j.syncs++
	old := j.file
	j.file, j.size = f, int64(len(j.buf))
	j.trim()
	_ = old.Close() // its content counts no more, whatever the disk says of it
	return nil
}

// Syncs is how many syncs of the file the writes so far have taken. For tests and measurements after Close.
func (j *Journal) Syncs() int64 { return j.syncs }
