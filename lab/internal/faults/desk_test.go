package faults

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// witness is a Hand that notes what is asked of it.
type witness struct {
	mu   sync.Mutex
	list []string
}

func (w *witness) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, fmt.Sprintf(format, args...))
}

func (w *witness) said() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := strings.Join(w.list, ", ")
	w.list = nil
	return out
}

func (w *witness) CrashAgent(node string, pid int) { w.say("%s agent dies: %t", node, pid > 0) }
func (w *witness) CrashVPP(node string)            { w.say("%s VPP dies", node) }
func (w *witness) LosePower(node string)           { w.say("%s loses power", node) }
func (w *witness) CompactStore()                   { w.say("compacted") }
func (w *witness) Struck(node, what string, lost bool) {
	if w.say("%s %s", node, what); lost {
		w.say("lost")
	}
}

// table is a Desk with a Port of each of some nodes.
func table(t *testing.T, f scenarios.Faults, seed uint64, nodes ...string) (*Desk, *witness, []*Port) {
	t.Helper()
	w := &witness{}
	d, err := NewDesk(Config{Faults: &f, Seed: seed, Now: func() time.Duration { return 0 }, Wall: func(d time.Duration) time.Duration { return d / 10 }, Hand: w})
	if err != nil {
		t.Fatal(err)
	}
	var ports []*Port
	for i, node := range nodes {
		path := filepath.Join(t.TempDir(), fmt.Sprint(i))
		l, err := d.Serve(path, node)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		p, err := Dial(PortConfig{Socket: path})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		ports = append(ports, p)
	}
	return d, w, ports
}

// Goal: what befalls an operation is what the scenario's faults say of the node that asks, in real time, and who dies of it has
// died before the answer. Method: a story of questions, each with the answer and what was asked of the lab.
func TestDesk(t *testing.T) {
	d, w, ports := table(t, scenarios.Faults{Inject: []string{"(Nth 2 (Request ip_route_add_del_v2 CrashBefore))", "(Kind effect CrashAfter)",
		"(Kind persist PowerLoss)", "(Request list Compact)", "(Node node-2 (Delay 2s))"}}, 1, "node-1", "node-2")
	call := fault.Op{Kind: fault.KindDataplane, Name: "ip_route_add_del_v2"}
	ask := func(p *Port, op fault.Op, verdict, said string) fault.Verdict {
		t.Helper()
		v := p.judge(op)
		if have := w.said(); v.String() != verdict || have != said {
			t.Errorf("%+v: %s and %q, want %s and %q", op, v, have, verdict, said)
		}
		return v
	}
	ask(ports[0], call, "Pass", "")
	ask(ports[1], call, "CrashBefore", "node-2 CrashBefore strikes dataplane ip_route_add_del_v2, node-2 VPP dies")
	ask(ports[1], call, "(Delay 200ms)", "node-2 (Delay 2s) strikes dataplane ip_route_add_del_v2")
	op := fault.Effect("", agent.WakeAt{})
	v := ask(ports[0], op, "CrashAfter", "node-1 CrashAfter strikes effect WakeAt")
	ports[0].done(op, v)
	if have := w.said(); have != "node-1 agent dies: true" {
		t.Errorf("after the effect: %q", have)
	}
	op = fault.Persist("", agent.Persist{Replace: true})
	v = ask(ports[0], op, "PowerLoss", "node-1 PowerLoss strikes persist Replace")
	ports[0].done(op, v)
	if have := w.said(); have != "node-1 loses power" {
		t.Errorf("after the write: %q", have)
	}
	ask(ports[0], fault.Store("", agent.StoreRequest{Op: agent.StoreList}), "Compact", "node-1 Compact strikes store list, compacted")

	lift, err := d.Inject("(Request lift Mute)", "node-1")
	if err != nil {
		t.Fatal(err)
	}
	lift()
	ask(ports[0], fault.Op{Kind: fault.KindDataplane, Name: "lift"}, "Pass", "")
	if _, err := d.Inject("(Any (Request Del Vanish) (Request lost Mute))", ""); err != nil {
		t.Fatal(err)
	}
	ask(ports[0], fault.Op{Kind: fault.KindDataplane, Name: "lost"}, "Mute", "node-1 Mute strikes dataplane lost, lost")
	if d.Withdrawn("node-1", "Add", "c1") || !d.Withdrawn("node-1", "Del", "c1") || w.said() != "node-1 Vanish strikes cni Del" {
		t.Error("not the removal was withdrawn")
	}
	d.Clear()
	if d.Any() {
		t.Error("something can go wrong after all was cleared")
	}
	ask(ports[1], call, "Pass", "")
	if err := ports[1].Close(); err != nil {
		t.Error(err)
	}
	ask(ports[1], call, "Pass", "") // nobody answers
	var none *Desk
	if none.Any() || none.Withdrawn("node-1", "Del", "c1") {
		t.Error("a lab without faults has some")
	}
}

// Goal: watches that actions make late or repeat are so on their node, and no longer than they are to be. Method: questions about
// deliveries.
func TestDeskWatches(t *testing.T) {
	d, _, ports := table(t, scenarios.Faults{}, 1, "node-1", "node-2")
	row := func() string {
		var out []string
		for _, p := range ports {
			out = append(out, p.judge(fault.StoreChange("")).String(), p.judge(fault.APIChange("")).String())
		}
		return strings.Join(out, " ")
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(want string) {
		t.Helper()
		if have := row(); have != want {
			t.Errorf("%s, want %s", have, want)
		}
	}
	must(d.Lag("node-1", time.Second))
	must(d.Lag("node-1", time.Minute))
	want("(Delay 6s) (Delay 6s) Pass Pass")
	must(d.Lag("node-1", 0))
	must(d.Repeat("node-2", 2))
	want("Pass Pass Duplicate Duplicate")
	want("Pass Pass Duplicate Duplicate")
	want("Pass Pass Pass Pass")
	if d.Any() {
		t.Error("what is done to watches counts as injected")
	}
}

// Goal: a node's draws follow from the seed and its own operations, whatever others do meanwhile. Method: two desks of one seed,
// whose nodes ask in different orders, and one of another seed.
func TestDeskDraws(t *testing.T) {
	half := scenarios.Faults{DropReply: 0.5}
	judged := func(seed uint64, order ...int) (by [2][]string) {
		_, _, ports := table(t, half, seed, "node-1", "node-2")
		for _, i := range order {
			by[i] = append(by[i], ports[i].judge(fault.Op{Kind: fault.KindDataplane, Name: "a"}).String())
		}
		return by
	}
	var turns, blocks []int
	for range 32 {
		turns = append(turns, 0, 1)
	}
	for i := range 64 {
		blocks = append(blocks, i/32)
	}
	a, b, c := judged(1, turns...), judged(1, blocks...), judged(2, turns...)
	if !slices.Equal(a[0], b[0]) || !slices.Equal(a[1], b[1]) {
		t.Errorf("draws of one node depend on another's: %v, %v", a, b)
	}
	if slices.Equal(a[0], a[1]) || slices.Equal(a[0], c[0]) {
		t.Error("another node, or another seed, draws the same")
	}
}
