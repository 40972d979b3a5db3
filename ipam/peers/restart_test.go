package peers

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/journal"
)

const (
	// million leases are what a restart reads back.
	million = 1_000_000
	// restartGoal is what it may take.
	restartGoal = 300 * time.Millisecond
)

// slash12 has room for them.
var slash12 = netip.MustParsePrefix("10.0.0.0/12")

// history is the shortest history of an allocator with so many leases: what a journal holds after it was rewritten.
func history(fresh func() (ipam.NodeAllocator, error), n int) ([]agent.Record, error) {
	a, err := fresh()
	if err == nil {
		_, err = a.SetBlocks(epoch, []netip.Prefix{slash12})
	}
	for i := 0; err == nil && i < n; i++ {
		_, _, err = a.Allocate(epoch, owner(i), ipam.Want{})
	}
	if err != nil {
		return nil, err
	}
	return lines(a.Records()), nil
}

// texts are records as a journal keeps them.
func texts(records []agent.Record) []string {
	list := make([]string, len(records))
	for i, r := range records {
		list[i] = r.String()
	}
	return list
}

// replay applies records to a fresh allocator and checks that everything is there.
func replay(fresh func() (ipam.NodeAllocator, error), records []agent.Record) error {
	a, err := fresh()
	if err != nil {
		return err
	}
	for i := range records {
		if err := a.Apply(records[i].IPAM); err != nil {
			return err
		}
	}
	if l, ok := a.Lease(owner(million / 2)); !ok {
		return fmt.Errorf("lease of %s is lost: %v", owner(million/2), l)
	}
	return nil
}

// writeJournal makes a journal of these records in a folder and returns its path.
func writeJournal(dir string, records []agent.Record) (string, error) {
	path := filepath.Join(dir, "journal")
	j, _, err := journal.Open(path)
	if err != nil {
		return "", err
	}
	told := make(chan error, 1)
	j.Persist(agent.Persist{Records: records, Replace: true}, func(err error) { told <- err })
	if err := <-told; err != nil {
		return "", err
	}
	return path, j.Close()
}

// restart is what an agent's process does before it may answer: read the journal, and give the allocators back. Both go
// on at once: applied is the time that the allocators took, waited what they waited for the journal.
func restart(path string, fresh func() (ipam.NodeAllocator, error)) (waited, applied time.Duration, err error) {
	a, err := fresh()
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	j, openErr := journal.OpenInto(path, func(h *agent.History) {
		began := time.Now()
		for allocators := range h.Runs() {
			_, refused := ipam.Replay(a, allocators)
			err = errors.Join(err, refused)
		}
		applied += time.Since(began)
	})
	waited = time.Since(start) - applied
	if err = errors.Join(err, openErr); err == nil {
		err = restored(a, j)
	}
	if openErr == nil {
		err = errors.Join(err, j.Close())
	}
	return waited, applied, err
}

// restored checks that everything is there.
func restored(a ipam.NodeAllocator, j *journal.Journal) error {
	for _, n := range [...]int{0, million / 2, million - 1} {
		if _, ok := a.Lease(owner(n)); !ok {
			return fmt.Errorf("lease of %s is lost", owner(n))
		}
	}
	if f := j.Found(); f.Damage != nil || f.Cut != 0 {
		return fmt.Errorf("found %+v", f)
	}
	return nil
}

// restartMedians is the restart of a million leases with ipam/contiv: to wait for the journal, to apply, and both.
func restartMedians(dir string) (waited, applied, both time.Duration, err error) {
	records, err := history(systems[0].fresh, million)
	if err != nil {
		return 0, 0, 0, err
	}
	path, err := writeJournal(dir, records)
	if err != nil {
		return 0, 0, 0, err
	}
	var all [3][]time.Duration
	for range 5 {
		o, a, err := restart(path, systems[0].fresh)
		if err != nil {
			return 0, 0, 0, err
		}
		for i, d := range [...]time.Duration{o, a, o + a} {
			all[i] = append(all[i], d)
		}
	}
	for i := range all {
		slices.Sort(all[i])
	}
	return all[0][2], all[1][2], all[2][2], nil
}

// BenchmarkRestart takes the parts of a restart with a million leases one by one, for profiles. The budget of a whole
// one is 300 ms.
func BenchmarkRestart(b *testing.B) {
	records, err := history(systems[0].fresh, million)
	if err != nil {
		b.Fatal(err)
	}
	text := texts(records)
	var cpu time.Duration
	started := func(b *testing.B) {
		b.ResetTimer()
		cpu = processTime()
	}
	perMillion := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/million")
		b.ReportMetric(float64((processTime()-cpu).Milliseconds())/float64(b.N), "cpu-ms/million")
	}
	b.Run("parse/ipam.ParseRecord", func(b *testing.B) {
		started(b)
		for b.Loop() {
			for _, line := range text {
				if _, err := ipam.ParseRecord(line[len("ipam "):]); err != nil {
					b.Fatal(err)
				}
			}
		}
		perMillion(b)
	})
	b.Run("parse/ipam.RecordReader", func(b *testing.B) {
		started(b)
		for b.Loop() {
			var p ipam.RecordReader
			var r ipam.Record
			for _, line := range text {
				if err := p.Read(&r, line[len("ipam "):]); err != nil {
					b.Fatal(err)
				}
			}
		}
		perMillion(b)
	})
	b.Run("parse/agent.ParseRecord", func(b *testing.B) {
		started(b)
		for b.Loop() {
			for _, line := range text {
				if _, err := agent.ParseRecord(line); err != nil {
					b.Fatal(err)
				}
			}
		}
		perMillion(b)
	})
	for _, s := range systems {
		b.Run("apply/"+s.name, func(b *testing.B) {
			own, err := history(s.fresh, million) // each reserves other addresses
			if err != nil {
				b.Fatal(err)
			}
			started(b)
			for b.Loop() {
				if err := replay(s.fresh, own); err != nil {
					b.Fatal(err)
				}
			}
			perMillion(b)
		})
	}
	path, err := writeJournal(b.TempDir(), records)
	if err != nil {
		b.Fatal(err)
	}
	records, text = nil, nil
	b.Run("restart", func(b *testing.B) {
		started(b)
		for b.Loop() {
			if _, _, err := restart(path, systems[0].fresh); err != nil {
				b.Fatal(err)
			}
		}
		perMillion(b)
	})
}
