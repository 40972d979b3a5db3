package peers

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/journal"
)

const (
	// durableLeases are held while the disk race runs.
	durableLeases = 5000
	// callers ask at once in its second half: a node that starts its pods after a reboot.
	callers = 64
)

// diskAllocator is a store whose answers survive its process.
type diskAllocator interface {
	hold(n int) error
	// pair is one address and back, each of them on the disk before it is told.
	pair(id int) error
}

// journaled is our allocator with the agent's journal: what it decides is appended and synced before the caller hears
// of it. Callers that wait for the same sync share it.
type journaled struct {
	mu        sync.Mutex
	allocator *contiv.Allocator
	journal   *journal.Journal
}

func newJournaled(dir string) (*journaled, error) {
	j, _, err := journal.Open(filepath.Join(dir, "journal"))
	if err != nil {
		return nil, err
	}
	allocator, err := contiv.New(contiv.Config{})
	if err == nil {
		_, err = allocator.SetBlocks(epoch, []netip.Prefix{slash16})
	}
	return &journaled{allocator: allocator, journal: j}, err
}

func (d *journaled) hold(n int) error {
	told := make(chan error, n)
	for i := range n {
		_, records, err := d.allocator.Allocate(epoch, owner(i), ipam.Want{})
		if err != nil {
			return err
		}
		d.journal.Persist(agent.Persist{Records: lines(records)}, func(err error) { told <- err })
	}
	for range n {
		if err := <-told; err != nil {
			return err
		}
	}
	return nil
}

func (d *journaled) pair(id int) error {
	o := owner(id)
	err := d.decide(func() ([]ipam.Record, error) {
		_, records, err := d.allocator.Allocate(epoch, o, ipam.Want{})
		return records, err
	})
	if err != nil {
		return err
	}
	return d.decide(func() ([]ipam.Record, error) { return d.allocator.Release(epoch, o), nil })
}

// decide appends in the order of the decisions and waits outside the lock.
func (d *journaled) decide(f func() ([]ipam.Record, error)) error {
	told := make(chan error, 1)
	d.mu.Lock()
	records, err := f()
	if err == nil && len(records) == 0 {
		err = fmt.Errorf("nothing was decided")
	}
	if err != nil {
		d.mu.Unlock()
		return err
	}
	d.journal.Persist(agent.Persist{Records: lines(records)}, func(err error) { told <- err })
	d.mu.Unlock()
	return <-told
}

func lines(records []ipam.Record) []agent.Record {
	list := make([]agent.Record, len(records))
	for i, r := range records {
		list[i] = agent.Record{Kind: agent.RecordIPAM, IPAM: r}
	}
	return list
}

// diskRace is what was measured of the durable stores, on the wall clock: waiting is what a disk costs.
type diskRace struct {
	ours, peer [2]time.Duration // per pair: one caller, callers at once
	sync       time.Duration    // one append of a line and fdatasync
}

// raceDisks runs both stores on one file system, in turns.
func raceDisks(dir string) (r diskRace, err error) {
	for _, sub := range [...]string{"ours", "peer"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			return r, err
		}
	}
	ours, err := newJournaled(filepath.Join(dir, "ours"))
	if err != nil {
		return r, err
	}
	peers := make([]diskAllocator, callers)
	mine := make([]diskAllocator, callers)
	for i := range peers {
		p, err := newHostLocal(filepath.Join(dir, "peer"), ipNet(slash16))
		if err != nil {
			return r, err
		}
		defer p.store.Close() //nolint:errcheck // a lock file that nobody else uses
		peers[i], mine[i] = p, ours
	}
	for _, b := range [...]diskAllocator{ours, peers[0]} {
		if err := b.hold(durableLeases); err != nil {
			return r, err
		}
	}
	if r.sync, err = syncTime(dir); err != nil {
		return r, err
	}
	var all [4][]time.Duration
	for range rounds {
		for i, leg := range [...]struct {
			allocators []diskAllocator
			pairs      int // each
		}{{mine[:1], 100}, {peers[:1], 3}, {mine, 20}, {peers, 1}} {
			took, err := pairsOf(leg.allocators, leg.pairs)
			if err != nil {
				return r, err
			}
			all[i] = append(all[i], took)
		}
	}
	for i := range all {
		slices.Sort(all[i])
	}
	r.ours = [2]time.Duration{all[0][rounds/2], all[2][rounds/2]}
	r.peer = [2]time.Duration{all[1][rounds/2], all[3][rounds/2]}
	if err := ours.journal.Close(); err != nil {
		return r, err
	}
	return r, nil
}

// pairsOf lets every allocator do so many pairs, all at once, and returns the time per pair.
func pairsOf(allocators []diskAllocator, pairs int) (time.Duration, error) {
	failed := make(chan error, len(allocators))
	start := time.Now()
	for i, b := range allocators {
		go func() {
			var err error
			for n := 0; err == nil && n < pairs; n++ {
				err = b.pair(1<<20 + i)
			}
			failed <- err
		}()
	}
	for range allocators {
		if err := <-failed; err != nil {
			return 0, err
		}
	}
	return time.Since(start) / time.Duration(len(allocators)*pairs), nil
}

// syncTime is the median time of one small append with its sync: what no durable store can beat with one caller.
func syncTime(dir string) (time.Duration, error) {
	f, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		return 0, err
	}
	defer f.Close() //nolint:errcheck // nothing in it matters
	line := []byte(ipam.Record{Op: ipam.OpLease, Owner: owner(1), Addr: nth(1), Prefix: slash16, At: epoch}.String() + "\n")
	var all []time.Duration
	for range 101 {
		start := time.Now()
		if _, err := f.Write(line); err != nil {
			return 0, err
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return 0, err
		}
		all = append(all, time.Since(start))
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}
