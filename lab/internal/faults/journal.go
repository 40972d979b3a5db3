package faults

import (
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
}

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
	j := &Journal{port: p, jobs: make(chan func(), jobsMost)}
	var records []agent.Record
	var err error
	if j.of, records, err = journal.OpenSpoiled(path, j); err != nil {
		return nil, nil, err
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
	return j.of.Close()
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
	tell := func(err error) { j.told.put(0, func() { done(err) }) }
	switch v.Action {
	case fault.Refuse:
		j.jobs <- func() {
			j.under.Wait() // what is before it does not suffer
			j.failing.Store(int32(leftNothing + draw%leftWays))
			j.write(e, tell)
			j.under.Wait()
			j.failing.Store(0)
		}
	case fault.Delay:
		asked := time.Now()
		j.jobs <- func() {
			j.write(e, func(err error) { j.told.put(v.Delay-time.Since(asked), func() { done(err) }) })
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
		j.jobs <- func() { j.write(e, tell) }
	}
}

func (j *Journal) write(e agent.Persist, done func(error)) {
	j.under.Add(1)
	j.of.Persist(e, func(err error) {
		done(err)
		j.under.Done()
	})
}
