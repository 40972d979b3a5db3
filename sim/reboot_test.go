package sim

import (
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: a reboot in order saves every write, a disk that crashes may lose the last ones. Method: a write that nobody
// synced on a quiet node, then either action, with many seeds.
func TestRebootSavesWrites(t *testing.T) {
	lost := func(seed uint64, a scenarios.Action) bool {
		s, err := scenarios.Parse("reboot.yaml", []byte("# One node.\nname: reboot\ntopology: {nodes: 1, podsPerNode: 1}\n"))
		if err != nil {
			t.Fatal(err)
		}
		w, err := New(s, Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Close() }()
		if err := w.Settle(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		disk := w.machines["node-1"].disk
		disk.Append([]byte("not synced\n"))
		before, _ := disk.Read()
		if err := w.Do(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		after, _ := disk.Read()
		return len(after) < len(before)
	}
	crashes := 0
	for seed := range uint64(20) {
		if lost(seed, scenarios.RebootNode{Node: "node-1"}) {
			t.Errorf("seed %d: a reboot lost a write", seed)
		}
		if lost(seed, scenarios.CrashDisk{Node: "node-1"}) {
			crashes++
		}
	}
	if crashes == 0 {
		t.Error("no disk that crashed lost anything")
	}
}
