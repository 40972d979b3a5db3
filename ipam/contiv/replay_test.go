package contiv

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/ipam"
)

// Goal: Replay is Apply of one record after the other, the first refused one included. Method: random histories of
// several places, with records turned, doubled and left out, so that some contradict the others; whoever goes on behind
// a refused one must end in the same state, error by error.
func TestReplayAgreesWithApply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		actions := m.actions()
		actions[""] = func(*rapid.T) {}
		t.Repeat(actions)
		records := slices.Clone(m.history.Records)
		for range rapid.IntRange(0, 5).Draw(t, "changes") {
			if len(records) == 0 {
				break
			}
			i, j := rapid.IntRange(0, len(records)-1).Draw(t, "i"), rapid.IntRange(0, len(records)-1).Draw(t, "j")
			switch rapid.IntRange(0, 3).Draw(t, "change") {
			case 0:
				records = slices.Delete(records, i, i+1)
			case 1:
				records = slices.Insert(records, i, records[j])
			case 2:
				records[i], records[j] = records[j], records[i]
			case 3:
				records[i].Owner.IfName = rapid.SampledFrom([]string{"net1", "net2"}).Draw(t, "interface")
			}
		}
		replayed, applied := fresh(t, m.fast.cfg), fresh(t, m.fast.cfg)
		for rest := records; ; {
			n, err := ipam.Replay(replayed, rest)
			for i := range n {
				if err := applied.Apply(rest[i]); err != nil {
					t.Fatalf("Replay takes %q: %v", rest[i], err)
				}
			}
			if n == len(rest) {
				if err != nil {
					t.Fatalf("all were applied: %v", err)
				}
				break
			}
			if want := applied.Apply(rest[n]); want == nil || err == nil || err.Error() != want.Error() {
				t.Fatalf("%q: %v, want %v", rest[n], err, want)
			}
			rest = rest[n+1:]
		}
		if have, want := replayed.Records(), applied.Records(); !slices.Equal(have, want) {
			t.Fatalf("state %v, want %v", have, want)
		}
	})
}

// TestReplayLong replays more leases than a Replay looks ahead, at places that come and go, with a table that grows
// meanwhile.
func TestReplayLong(t *testing.T) {
	a := oneBlock(t, Config{}, "10.1.0.0/16")
	history := a.Records()
	for n := range 5000 {
		o := sandbox(n)
		o.IfName = []string{"eth0", "net1", "net2"}[n%7%3]
		if n/500%2 == 1 {
			o.Network = "blue"
		}
		_, records, err := a.Allocate(epoch, o, ipam.Want{})
		if err != nil {
			t.Fatal(err)
		}
		history = append(history, records...)
		if n%3 == 0 || o.Network == "blue" {
			history = append(history, a.Release(epoch, o)...)
		}
	}
	fresh, err := New(a.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := fresh.Replay(history); err != nil || n != len(history) {
		t.Fatalf("%d of %d: %v", n, len(history), err)
	}
	if !slices.Equal(fresh.Records(), a.Records()) {
		t.Fatal("the state is another one")
	}
	for l := range a.Leases() {
		for _, x := range [...]*Allocator{a, fresh} {
			if have, ok := x.Lease(l.Owner); !ok || have != l {
				t.Fatalf("%s holds %v %v, want %v", l.Owner, have, ok, l)
			}
		}
	}
}
