package journal

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// BenchmarkAppend writes leases, each in a write of its own, with so many writers that wait for their answers.
func BenchmarkAppend(b *testing.B) {
	for _, bench := range []struct {
		name    string
		writers int
	}{{"1 writer", 1}, {"16 writers", 16}, {"256 writers", 256}} {
		b.Run(bench.name, func(b *testing.B) {
			j, _ := opened(b, filepath.Join(b.TempDir(), "journal"))
			var wg sync.WaitGroup
			next := make(chan int)
			for range bench.writers {
				wg.Go(func() {
					told := make(chan error, 1)
					for n := range next {
						j.Append([]agent.Record{lease(n), sandbox(n)}, func(err error) { told <- err })
						if err := <-told; err != nil {
							b.Error(err)
						}
					}
				})
			}
			for n := range b.N {
				next <- n
			}
			close(next)
			wg.Wait()
		})
	}
}

// BenchmarkOpen reads a journal of a million leases.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "journal")
	j, _, err := Open(path)
	must(b, err)
	records := make([]agent.Record, 1_000_000)
	for n := range records {
		records[n] = lease(n)
	}
	must(b, wait(j.Replace, records...))
	must(b, j.Close())
	for b.Loop() {
		j, got, err := Open(path)
		must(b, err)
		if len(got) != len(records) {
			b.Fatal(len(got))
		}
		must(b, j.Close())
	}
}
