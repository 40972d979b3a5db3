package journal

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

var errDisk = errors.New("input/output error")

// troubled is a disk that fails, or holds a sync back, on demand.
type troubled struct {
	disk
	hold             atomic.Bool
	entered, release chan struct{}
	// fail is asked before each operation that changes something.
	fail func(op string) bool
}

func (d *troubled) open(path string) (file, error) {
	f, err := d.disk.open(path)
	return &troubledFile{f, d}, err
}

func (d *troubled) create(path string) (file, error) {
	if d.fails("create") {
		return nil, errDisk
	}
	f, err := d.disk.create(path)
	return &troubledFile{f, d}, err
}

func (d *troubled) rename(from, to string) error {
	if d.fails("rename") {
		return errDisk
	}
	return d.disk.rename(from, to)
}

func (d *troubled) fails(op string) bool { return d.fail != nil && d.fail(op) }

type troubledFile struct {
	file
	d *troubled
}

func (f *troubledFile) WriteAt(p []byte, off int64) (int, error) {
	if f.d.fails("write") {
		n, err := f.file.WriteAt(p[:len(p)/2], off)
		return n, errors.Join(errDisk, err)
	}
	return f.file.WriteAt(p, off)
}

func (f *troubledFile) Truncate(size int64) error {
	if f.d.fails("truncate") {
		return errDisk
	}
	return f.file.Truncate(size)
}

func (f *troubledFile) Sync() error {
	if f.d.hold.Load() {
		f.d.entered <- struct{}{}
		<-f.d.release
	}
	if f.d.fails("sync") {
		return errDisk
	}
	return f.file.Sync()
}

// Goal: with a disk that fails now and then, what was told durable is there in the next life, a failure fails
// everything behind it until a Replace, and what was told failed is either there in its place or not at all. Method:
// random writes against a twin that keeps lists.
func TestFailingDisk(t *testing.T) {
	folder := t.TempDir()
	life := 0
	rapid.Check(t, func(t *rapid.T) {
		life++
		path := filepath.Join(folder, "j", "..", "journal-"+string(rune('a'+life%20)))
		rate := rapid.IntRange(0, 3).Draw(t, "failures in ten")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		d := &troubled{disk: realDisk{}}
		j, _, err := open(filepath.Clean(path), d)
		if err != nil {
			t.Fatal(err)
		}
		reset := make(chan error, 1)
		j.Replace(nil, func(err error) { reset <- err })
		if err := <-reset; err != nil {
			t.Fatal(err)
		}
		d.fail = func(string) bool { return random.IntN(10) < rate }
		var sure []agent.Record  // durable
		var maybe []agent.Record // written after a failure of the disk: perhaps there, behind sure
		var other []agent.Record // what a failed Replace may have left
		broken, replaced := false, false
		for n := range rapid.IntRange(1, 20).Draw(t, "writes") {
			r := lease(n)
			if rapid.IntRange(0, 4).Draw(t, "kind") == 0 {
				err := wait(j.Replace, r)
				if err == nil {
					sure, maybe, broken, replaced = []agent.Record{r}, nil, false, false
				} else {
					other, broken, replaced = []agent.Record{r}, true, true
				}
				continue
			}
			err := wait(j.Append, r)
			switch {
			case err == nil && broken:
				t.Fatal("an Append succeeded behind one that failed")
			case err == nil:
				sure = append(sure, r)
			case !broken:
				broken, maybe = true, []agent.Record{r}
			}
		}
		d.fail = nil
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		j, got, err := Open(filepath.Clean(path))
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		equal := func(want []agent.Record) bool {
			return slices.EqualFunc(got, want, func(a, b agent.Record) bool { return a.String() == b.String() })
		}
		if !equal(sure) && !equal(append(slices.Clone(sure), maybe...)) && !(replaced && equal(other)) {
			t.Fatalf("read %v\nsure %v\nmaybe %v", got, sure, maybe)
		}
		if j.Found().Damage != nil {
			t.Fatalf("found %+v", j.Found())
		}
	})
}
