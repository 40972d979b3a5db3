package faults

import (
	"encoding/binary"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/journal"
)

// Journal is an agent's journal on a disk that suffers what the Desk says.
type Journal struct {
	port *Port
	of   *journal.Journal
	// failing is what a failing disk leaves of what is written to it; 0: it does not fail.
	failing atomic.Int32

	// jobs are writes in their order; under are those that the journal has not answered.
	jobs  chan func()
	ended sync.WaitGroup
	under sync.WaitGroup
	// told are answers in their order, of which each may be late.
	told queue
	// path is the journal's, safe the file beside it that says how much of it has been told to be durable.
	path string
	safe *os.File
}

// safeSuffix is of that file.
const safeSuffix = ".safe"

// What a failed write leaves of itself, as in the simulator; none may be taken away before the journal has heard of the failure.
const (
	leftNothing = 1 + iota
	leftWhole
	leftTorn
	leftWays = leftTorn
)

// jobsMost bounds the writes that wait; an agent has few.
const jobsMost = 1024

// OpenJournal is journal.Open.
func (p *Port) OpenJournal(path string) (*Journal, []agent.Record, error) {
	j := &Journal{port: p, path: path, jobs: make(chan func(), jobsMost)}
	var records []agent.Record
	var err error
	if j.of, records, err = journal.OpenSpoiled(path, j); err != nil {
		return nil, nil, err
	}
	if j.safe, err = os.OpenFile(path+safeSuffix, os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		return nil, nil, errors.Join(err, j.of.Close())
	}
	if err := j.keep(j.size()); err != nil { // what is read at the start is durable
		return nil, nil, errors.Join(err, j.of.Close(), j.safe.Close())
	}
	j.ended.Go(func() {
		for do := range j.jobs {
			do()
		}
	})
	return j, records, nil
}

// Close finishes what has been asked for.
func (j *Journal) Close() error {
	close(j.jobs)
	j.ended.Wait()
	return errors.Join(j.of.Close(), j.safe.Close())
}

// size is the journal's at this moment.
func (j *Journal) size() int64 {
	info, err := os.Stat(j.path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// keep notes that so much of the journal is durable. It is one write: a process that is killed has done it or not.
func (j *Journal) keep(size int64) error {
	_, err := j.safe.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(size)), 0)
	return err
}

// LosePower takes away, of the journal at path, an end of what had not been told to be durable, as a machine's disk may when it
// loses power: draw chooses how much, 0 is nothing. No process has the journal open. One that no Port has written loses nothing.
func LosePower(path string, draw func(label string, n int) int) error {
	text, err := os.ReadFile(path + safeSuffix)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	info, other := os.Stat(path)
	if err = errors.Join(err, other); err != nil {
		return err
	}
	if len(text) < 8 {
		return nil
	}
	unsafe := info.Size() - int64(binary.LittleEndian.Uint64(text))
	if unsafe <= 0 { // it was written anew, and a rename has put it there as a whole
		return nil
	}
	return os.Truncate(path, info.Size()-int64(draw("disk: bytes lost", int(unsafe)+1)))
}

// Write implements journal.Spoil.
func (j *Journal) Write(size int) (int, error) {
	switch j.failing.Load() {
	case 0:
		return size, nil
	case leftWhole:
		return size, unix.EIO
	case leftTorn:
		return size / 2, unix.EIO
	}
	return 0, unix.EIO
}

// Truncate implements journal.Spoil.
func (j *Journal) Truncate() error {
	if left := j.failing.Load(); left == leftWhole || left == leftTorn {
		return unix.EIO
	}
	return nil
}

// Persist implements host.Journal.
func (j *Journal) Persist(e agent.Persist, done func(error)) {
	op := fault.Persist("", e)
	v, draw := j.port.judgeDrawn(op)
	tell := func(late time.Duration, err error) {
		size := j.size() // the journal writes nothing before this returns
		j.told.put(late, func() {
			if err == nil {
				err = j.keep(size)
			}
			done(err)
		})
	}
	switch v.Action {
	case fault.Refuse:
		j.jobs <- func() {
			j.under.Wait() // what is before it does not suffer
			j.failing.Store(int32(leftNothing + draw%leftWays))
			j.write(e, func(err error) { tell(0, err) })
			j.under.Wait()
			j.failing.Store(0)
		}
	case fault.Delay:
		asked := time.Now()
		j.jobs <- func() {
			j.write(e, func(err error) { tell(max(0, v.Delay-time.Since(asked)), err) })
		}
	case fault.CrashAfter:
		j.jobs <- func() { j.write(e, func(error) { j.port.done(op, v) }) }
	case fault.PowerLoss:
		j.jobs <- func() {
			if draw%2 == 1 {
				j.write(e, func(error) {})
				j.under.Wait()
			}
			j.port.done(op, v)
		}
	default:
		j.jobs <- func() { j.write(e, func(err error) { tell(0, err) }) }
	}
}

func (j *Journal) write(e agent.Persist, done func(error)) {
	j.under.Add(1)
	j.of.Persist(e, func(err error) {
		done(err)
		j.under.Done()
	})
}
