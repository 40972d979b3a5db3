package fault_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// Goal: a scenario's fault section and what is injected into a run strike what they say, on the nodes that they say, until they
// are lifted. Method: every field of the section at certainty against a row of operations; then injections one after the other.
func TestSet(t *testing.T) {
	ops := []fault.Op{{Node: "node-1", Kind: fault.KindDataplane, Name: "a"}, {Node: "node-2", Kind: fault.KindDataplane, Name: "a"}, {Kind: fault.KindEffect}, {Kind: fault.KindPersist},
		{Kind: fault.KindStore}, {Kind: fault.KindStoreWatch}, {Kind: fault.KindAPIWatch}, {Kind: fault.KindCNI}}
	env := fault.Env{Chooser: engine.Seeded(1), Now: func() time.Duration { return 0 }}
	row := func(s *fault.Set) string {
		var out []string
		for _, op := range ops {
			v := s.Judge(op).String()
			if v == "Pass" {
				v = "."
			}
			out = append(out, v)
		}
		return strings.Join(out, " ")
	}
	late := scenarios.Delay{P: 1, By: 1}
	for _, tt := range []struct {
		faults scenarios.Faults
		want   string
	}{
		{scenarios.Faults{}, ". . . . . . . ."},
		{scenarios.Faults{DropRequest: 1}, "Vanish Vanish . . . . . ."},
		{scenarios.Faults{DropReply: 1, Nodes: []string{"node-2"}}, ". Mute . . . . . ."},
		{scenarios.Faults{Refuse: 1}, "(Refuse 0) (Refuse 0) . . . . . ."},
		{scenarios.Faults{DelayReply: late}, "(Delay 1ns) (Delay 1ns) . . . . . ."},
		{scenarios.Faults{CrashVPP: 2}, "CrashBefore CrashBefore . . . . . ."},
		{scenarios.Faults{CrashBeforeEffect: 1}, ". . CrashBefore . . . . ."},
		{scenarios.Faults{CrashAfterEffect: 1}, ". . CrashAfter . . . . ."},
		{scenarios.Faults{CrashAfterPersist: 1}, ". . . CrashAfter . . . ."},
		{scenarios.Faults{DiskError: 1}, ". . . (Refuse 0) . . . ."},
		{scenarios.Faults{SlowDisk: late}, ". . . (Delay 1ns) . . . ."},
		{scenarios.Faults{StoreUnavailable: 1}, ". . . . (Refuse 0) . . ."},
		{scenarios.Faults{DropStoreReply: 1}, ". . . . Mute . . ."},
		{scenarios.Faults{DelayStoreReply: late}, ". . . . (Delay 1ns) . . ."},
		{scenarios.Faults{CompactStore: 1}, ". . . . Compact . . ."},
		{scenarios.Faults{LoseWatch: 1}, ". . . . . Vanish Vanish ."},
		{scenarios.Faults{DuplicateWatch: 1}, ". . . . . Duplicate Duplicate ."},
		{scenarios.Faults{WithdrawCNI: 1}, ". . . . . . . Vanish"},
		{scenarios.Faults{Inject: []string{"(Kind dataplane PowerLoss)", "(Kind persist PowerLoss)"}}, ". . . PowerLoss . . . ."},
	} {
		s, err := fault.NewSet(&tt.faults, env)
		if err != nil {
			t.Fatal(err)
		}
		if have := row(s); have != tt.want || s.Any() != (tt.faults.Any()) {
			t.Errorf("%+v: %s, want %s", tt.faults, have, tt.want)
		}
	}

	if _, err := fault.NewSet(&scenarios.Faults{Inject: []string{"(Mutter)"}}, env); err == nil || !strings.HasPrefix(err.Error(), "faults.inject (Mutter): column 2") {
		t.Errorf("a section that cannot be read: %v", err)
	}
	s, err := fault.NewSet(&scenarios.Faults{}, env)
	if err != nil {
		t.Fatal(err)
	}
	inject := func(text, node string) func() {
		lift, err := s.Inject(text, node)
		if err != nil {
			t.Fatal(err)
		}
		return lift
	}
	first := inject("(Request a Mute)", "node-1")
	second := inject("(Request a Mute)", "node-1")
	inject(`(Key "x" Vanish)`, "")
	first()
	first() // the other of the same text stays
	if have := row(s); have != "Mute . . . . . . ." || !s.Keyed() {
		t.Errorf("with one lifted: %s", have)
	}
	second()
	if have := row(s); have != ". . . . . . . ." || !s.Any() {
		t.Errorf("with both lifted: %s", have)
	}
	s.Clear()
	if s.Any() || s.Keyed() {
		t.Error("something is left")
	}
	if _, err := s.Inject("(Nth 0 Mute)", ""); err == nil {
		t.Error("a fault that cannot be read was taken")
	}
}
