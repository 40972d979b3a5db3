package journal

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// lease and sandbox are what an ADD of pod number n writes.
func lease(n int) agent.Record {
	return agent.Record{Kind: agent.RecordIPAM, IPAM: ipam.Record{Op: ipam.OpLease, Owner: owner(n),
		Addr: netip.AddrFrom4([4]byte{10, 1, byte(n >> 8), byte(n)}), Prefix: netip.MustParsePrefix("10.1.0.0/16"),
		At: time.Unix(1700000000, int64(n)).UTC()}}
}

func sandbox(n int) agent.Record {
	return agent.Record{Kind: agent.RecordSandbox, Number: uint32(n%8192 + 1), Sandbox: agent.Sandbox{Owner: owner(n),
		Netns: fmt.Sprintf("/run/netns/%d", n), PodNamespace: "default", PodName: fmt.Sprintf("a \"quoted\" pod\n%d", n)}}
}

func owner(n int) ipam.Owner {
	return ipam.Owner{Network: "k8s", ContainerID: fmt.Sprintf("c%d", n), IfName: "eth0"}
}

func opened(t testing.TB, path string) (*Journal, []agent.Record) {
	t.Helper()
	j, records, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j, records
}

// Append and Replace are writes of somebody who knows of every failure.
func (j *Journal) Append(records []agent.Record, done func(error)) {
	j.Persist(agent.Persist{Records: records}, done)
}

func (j *Journal) Replace(records []agent.Record, done func(error)) {
	j.Persist(agent.Persist{Records: records, Replace: true}, done)
}

// wait performs one write and waits for what comes of it.
func wait(ask func([]agent.Record, func(error)), records ...agent.Record) error {
	told := make(chan error, 1)
	ask(records, func(err error) { told <- err })
	return <-told
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func same(t testing.TB, got, want []agent.Record) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); d != "" {
		t.Fatalf("records (-want +got):\n%s", d)
	}
}

// Goal: what was told is there in the next life, in order, whatever mixture of appending and rewriting wrote it.
// Method: three lives of one file.
func TestLives(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, records, err := Open(path)
	must(t, err)
	same(t, records, nil)
	must(t, wait(j.Append, lease(1), sandbox(1)))
	must(t, wait(j.Append, lease(2)))
	must(t, j.Close())
	if err := wait(j.Append, lease(3)); !errors.Is(err, ErrClosed) {
		t.Fatalf("a write after Close: %v", err)
	}

	j, records, err = Open(path)
	must(t, err)
	same(t, records, []agent.Record{lease(1), sandbox(1), lease(2)})
	var many []agent.Record
	for n := range 3*frameRecords + 7 {
		many = append(many, lease(n))
	}
	must(t, wait(j.Replace, many...))
	must(t, wait(j.Append, sandbox(9)))
	must(t, j.Close())

	j, records = opened(t, path)
	same(t, records, append(many, sandbox(9)))
	if f := j.Found(); f.Damage != nil || f.Cut != 0 || f.Frames != 5 {
		t.Fatalf("found %+v", f)
	}
}

// Goal: two agents never write one file.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	opened(t, path)
	if _, _, err := Open(path); !errors.Is(err, ErrLocked) {
		t.Fatalf("opened twice: %v", err)
	}
}

// Goal: writes that wait together share a sync. Method: the disk holds the first sync back until all have been asked
// for.
func TestGroupCommit(t *testing.T) {
	d := &troubled{disk: realDisk{}, entered: make(chan struct{}), release: make(chan struct{})}
	j, _, err := open(filepath.Join(t.TempDir(), "journal"), d)
	must(t, err)
	d.hold.Store(true)
	var order []int
	finished := make(chan struct{})
	first := make(chan struct{})
	j.Append([]agent.Record{lease(0)}, func(error) { order = append(order, 0); close(first) })
	select {
	case <-d.entered: // the writer is within the first sync
	case <-first:
		t.Fatal("written without a sync")
	}
	d.hold.Store(false)
	for n := 1; n <= 100; n++ {
		j.Append([]agent.Record{lease(n)}, func(err error) {
			if err != nil {
				t.Error(err)
			}
			if order = append(order, n); n == 100 {
				close(finished)
			}
		})
	}
	close(d.release)
	<-finished
	must(t, j.Close())
	if j.Syncs() != 2 || !slices.IsSorted(order) || len(order) != 101 {
		t.Fatalf("%d syncs, order %v", j.Syncs(), order)
	}
}

// Goal: after any cut at any byte, and any one byte changed in any way, what is read is what an earlier moment of the
// file held, never anything else, and the file can be written on. Method: exhaustive.
func TestEveryCutAndFlip(t *testing.T) {
	var data []byte
	var written [][]agent.Record // after each frame
	var ends []int
	var all []agent.Record
	for n, frame := range [][]agent.Record{{lease(1), sandbox(1)}, {}, {lease(2)}, {sandbox(2), lease(3)}, {sandbox(3)}} {
		var err error
		data, err = appendFrame(data, frame)
		must(t, err)
		all = append(all, frame...)
		written, ends = append(written, slices.Clone(all)), append(ends, len(data))
		_ = n
	}
	// before is what the file held when it ended in front of the frame that byte i belongs to.
	before := func(i int) []agent.Record {
		k, _ := slices.BinarySearch(ends, i+1)
		if k == 0 {
			return nil
		}
		return written[k-1]
	}
	for cut := range data {
		c := readBytes(t, data[:cut], pieceSize)
		if c.damage != nil {
			t.Fatalf("cut at %d: %v", cut, c.damage)
		}
		same(t, c.records, before(cut))
		filled := append(slices.Clone(data[:cut]), make([]byte, len(data)-cut)...)
		c = readBytes(t, filled, 300)
		if c.damage != nil {
			t.Fatalf("zeros from %d: %v", cut, c.damage)
		}
		same(t, c.records, before(cut))
	}
	for i, was := range data {
		for change := 1; change < 256; change++ {
			data[i] = was ^ byte(change)
			c := readBytes(t, data, pieceSize)
			if !slices.EqualFunc(c.records, before(i), func(a, b agent.Record) bool { return a.String() == b.String() }) {
				t.Fatalf("byte %d is %q instead of %q: read %v", i, data[i], was, c.records)
			}
			if i < ends[len(ends)-2] && c.damage == nil {
				t.Fatalf("byte %d is %q instead of %q: nobody is told", i, data[i], was)
			}
		}
		data[i] = was
	}
}

// Goal: a damaged file is kept beside, told of, and what stands before the damage lives on. Method: one wrong byte in
// the second of three frames, then a torn tail, then two more lives.
func TestQuarantine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	var data []byte
	for n := range 3 {
		var err error
		data, err = appendFrame(data, []agent.Record{lease(n)})
		must(t, err)
	}
	at := len(data) / 2
	data[at] ^= 1
	must(t, os.WriteFile(path, data, 0o600))
	j, records, err := Open(path)
	must(t, err)
	same(t, records, []agent.Record{lease(0)})
	f := j.Found()
	if f.Damage == nil || !strings.Contains(f.Damage.Error(), "whole frames follow") || f.Quarantine != path+".damaged-1" {
		t.Fatalf("found %+v", f)
	}
	kept, err := os.ReadFile(f.Quarantine)
	must(t, err)
	if string(kept) != string(data) {
		t.Fatal("the damaged file was not kept as it was")
	}
	must(t, wait(j.Append, lease(7)))
	must(t, j.Close())

	torn, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = torn.WriteString("frame 1 80 0000")
	must(t, errors.Join(err, torn.Close()))
	j, records = opened(t, path)
	same(t, records, []agent.Record{lease(0), lease(7)})
	if f := j.Found(); f.Damage != nil || f.Cut != 15 {
		t.Fatalf("found %+v", f)
	}
}

// Goal: a record of a kind that nobody knows costs that record only, and is told; it is no damage, as a newer version
// may have written it.
func TestUnknownRecord(t *testing.T) {
	text := lease(1).String() + "\nfuture 1 2 3\n" + lease(2).String() + "\n"
	data := rehead(3, text)
	c := readBytes(t, data, pieceSize)
	same(t, c.records, []agent.Record{lease(1), lease(2)})
	if c.damage != nil || !errors.Is(c.unknown, agent.ErrUnknownRecord) || c.whole != int64(len(data)) {
		t.Fatalf("%+v", c)
	}
}

// rehead frames any text, as a later version of the program may.
func rehead(records int, text string) []byte {
	head := fmt.Appendf(nil, "frame %d %d ", records, len(text))
	head = appendSum(head, sum(head, []byte(text)))
	return append(append(head, '\n'), text...)
}
