package datastore

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// Goal: after a crash anywhere a JSONFile is a whole checkpoint, and nothing that was told is lost. Method: the file
// system is modelled; every operation of every step is failed and crashed at, and every disk that a crash may leave is
// read again.

const home = "/var/run/aws-node/ipam.json"

func document(n int) CheckpointData {
	d := CheckpointData{Version: CheckpointFormatVersion, Allocations: []CheckpointEntry{}}
	for i := range n {
		d.Allocations = append(d.Allocations, CheckpointEntry{IPAMKey: key(i), IPv4: netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})})
	}
	return d
}

// attempt runs f and reports whether the disk crashed in it.
func attempt(f func()) (down bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crashed); !ok {
				panic(r)
			}
			down = true
		}
	}()
	f()
	return false
}

func TestCheckpointSteps(t *testing.T) {
	d := newDisk("/var/run/aws-node")
	if err := NewJSONFile(d, home).Checkpoint(document(1)); err != nil {
		t.Fatal(err)
	}
	want := "create /var/run/aws-node/ipam.json.tmp, write, sync, close, " +
		"rename /var/run/aws-node/ipam.json.tmp /var/run/aws-node/ipam.json, syncdir /var/run/aws-node"
	if have := strings.Join(d.trail, ", "); have != want {
		t.Errorf("have %s", have)
	}
	var back CheckpointData
	if err := NewJSONFile(newDisk("/var/run/aws-node"), home).Restore(&back); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty disk restores %v", err)
	}
}

// A checkpoint whose error is not ErrUncertain has left the old one; without an error the new one survives a crash.
func TestEveryFailureOfOneCheckpoint(t *testing.T) {
	for fail := 1; fail <= 7; fail++ {
		for _, doneAnyway := range [...]bool{false, true} {
			d := newDisk("/var/run/aws-node")
			file := NewJSONFile(d, home)
			if err := file.Checkpoint(document(1)); err != nil {
				t.Fatal(err)
			}
			d.fail, d.doneAnyway, d.steps = fail, doneAnyway, 0
			err := file.Checkpoint(document(2))
			for _, left := range d.afterCrash() {
				var back CheckpointData
				if err := NewJSONFile(left, home).Restore(&back); err != nil {
					t.Fatalf("step %d (%s): %v", fail, d.trail[len(d.trail)-1], err)
				}
				switch n := len(back.Allocations); {
				case err == nil && n != 2, err != nil && !errors.Is(err, ErrUncertain) && n != 1, n != 1 && n != 2:
					t.Fatalf("step %d, %v: %d allocations are left", fail, err, n)
				}
			}
			d.fail = 0
			if err := file.Checkpoint(document(3)); err != nil {
				t.Fatalf("after failing at %d: %v", fail, err)
			}
		}
	}
}

// told is what a client of a store was told before the crash.
type told struct {
	holds map[IPAMKey]netip.Addr
	gone  map[IPAMKey]bool
	// open is the key of the request that was not answered.
	open IPAMKey
}

// play sends requests to a store on a disk until it crashes.
func play(b *bench, out *told) {
	for _, request := range [...]struct {
		pod    int
		assign bool
	}{{1, true}, {2, true}, {1, false}, {3, true}, {2, false}, {1, true}} {
		k := key(request.pod)
		out.open = k
		if request.assign {
			a, _, err := b.ds.AssignPodIPv4Address(k)
			if err == nil {
				out.holds[k] = a
				delete(out.gone, k)
			}
		} else if _, _, err := b.ds.UnassignPodIPv4Address(k); err == nil {
			delete(out.holds, k)
			out.gone[k] = true
		}
		out.open = IPAMKey{}
		b.wait(1)
	}
}

// diskBench is a store with four addresses on a disk; an agent that starts reads first.
func diskBench(d *disk, b *bench) error {
	b.ds = NewDataStore(nil, NewJSONFile(d, home), b.ds.clock)
	b.ds.CheckpointMigrationPhase = 2
	err := b.ds.AddENI("eni-0", 0, true, false)
	for i := 1; i <= 4; i++ {
		err = errors.Join(err, b.ds.AddIPv4AddressToStore("eni-0", netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})))
	}
	return errors.Join(err, b.ds.ReadBackingStore())
}

// Every step of every request is crashed at; whatever the disk keeps, what was told is true in the next life: who was
// given an address has it, who gave one back has none, and what was given back still cools.
func TestCrashAtEveryStepKeepsWhatWasTold(t *testing.T) {
	points, disks := 0, 0
	for crash := 1; ; crash++ {
		d, b := newDisk("/var/run/aws-node"), newBench(2)
		if err := diskBench(d, b); err != nil {
			t.Fatal(err)
		}
		d.crash = crash
		out := &told{holds: make(map[IPAMKey]netip.Addr), gone: make(map[IPAMKey]bool)}
		if !attempt(func() { play(b, out) }) {
			break
		}
		points++
		for _, left := range d.afterCrash() {
			disks++
			life := newBench(2)
			life.now = b.now
			if err := diskBench(left, life); err != nil {
				t.Fatalf("crash at %s: %v", d.trail[len(d.trail)-1], err)
			}
			if err := out.judge(life); err != nil {
				t.Fatalf("crash at step %d, %s: %v", crash, d.trail[len(d.trail)-1], err)
			}
		}
	}
	if points != 36 {
		t.Errorf("%d crash points, want 6 steps of 6 requests", points)
	}
	t.Logf("%d crash points, %d disks", points, disks)
}

func (out *told) judge(life *bench) error {
	for k, a := range out.holds {
		if p, ok := life.ds.Lookup(k); k != out.open && (!ok || p.IP != a) {
			return fmt.Errorf("%s was told %s and has %v", k, a, p.IP)
		}
	}
	for k := range out.gone {
		if _, ok := life.ds.Lookup(k); ok && k != out.open {
			return fmt.Errorf("%s gave its address back and has it", k)
		}
	}
	// Nobody gets what a pod of before holds or gave back less than 30 s ago.
	before := life.ds.AllocatedIPs()
	for n := range 4 {
		a, _, err := life.ds.AssignPodIPv4Address(key(20 + n))
		if err != nil {
			continue
		}
		if slices.ContainsFunc(before, func(p PodIPInfo) bool { return p.IP == a }) {
			return fmt.Errorf("%s was given twice", a)
		}
	}
	if s := life.ds.GetIPStats(); len(out.gone) > 0 && out.open.IsZero() && s.CooldownIPs == 0 {
		return errors.New("cooling was forgotten")
	}
	return nil
}

// The same with failing instead of crashing: the store goes on, and its file and its memory agree in the end.
func TestFailureAtEveryStepLeavesMemoryAndFileEqual(t *testing.T) {
	for fail := 1; fail <= 45; fail++ {
		for _, doneAnyway := range [...]bool{false, true} {
			d, b := newDisk("/var/run/aws-node"), newBench(2)
			if err := diskBench(d, b); err != nil {
				t.Fatal(err)
			}
			d.fail, d.doneAnyway = fail, doneAnyway
			out := &told{holds: make(map[IPAMKey]netip.Addr), gone: make(map[IPAMKey]bool)}
			play(b, out)
			if err := b.ds.Flush(); err != nil {
				t.Fatal(err)
			}
			memory := string(snapshot{b.ds}.CheckpointData().AppendJSON(nil))
			text, err := d.ReadFile(home)
			if err != nil || string(text) != memory {
				t.Fatalf("step %d: the file says %s %v, memory %s", fail, text, err, memory)
			}
			for _, left := range d.afterCrash() {
				life := newBench(2)
				life.now = b.now
				if err := errors.Join(diskBench(left, life), out.judge(life)); err != nil {
					t.Fatalf("step %d: %v", fail, err)
				}
			}
		}
	}
}
