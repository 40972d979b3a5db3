package lab_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/nodeagent"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/lab/netns"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// agentWord makes the test binary the agent of the labs that the tests build.
const agentWord = "test-node-agent"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == agentWord {
		if err := nodeagent.Main(context.Background(), os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == ownerWord {
		if err := own(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// ownerWord makes the test binary the owner of a lab, to be killed.
const ownerWord = "test-owner"

// own builds a lab, tells its ID and waits for its end.
func own(root string) error {
	s, err := scenarios.Parse("own.yaml", []byte("# Two nodes.\nname: owned\ntopology: {nodes: 2, podsPerNode: 1}\n"))
	if err != nil {
		return err
	}
	w, err := lab.New(context.Background(), s, lab.Options{Backend: netns.Backend{}, Agent: []string{os.Args[0], agentWord}, Root: root})
	if err != nil {
		return err
	}
	if err := w.Settle(context.Background(), time.Hour); err != nil {
		return err
	}
	fmt.Println(w.StateDir().ID)
	return w.Serve(context.Background(), nil)
}

// options are those of a lab that a test builds; the test is skipped by name where no lab can run.
func options(t *testing.T) lab.Options {
	t.Helper()
	if err := (netns.Backend{}).Check(context.Background()); err != nil {
		t.Skip(err.Error())
	}
	if _, err := vppproc.Find(""); err != nil {
		t.Skip(err.Error())
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if os.Getenv("VPPDRILL_EVIDENCE") == "" {
		t.Setenv("VPPDRILL_EVIDENCE", root+"/evidence")
	}
	return lab.Options{Backend: netns.Backend{}, Agent: []string{self, agentWord}, Root: root + "/labs", TimeScale: 10, RunOptions: lab.RunOptions{Laws: check.All()}}
}

// run runs a scenario and shows what happened when it does not pass.
func run(t *testing.T, text string) result.Result {
	t.Helper()
	s, err := scenarios.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	if testing.Verbose() {
		o.Events = func(_ int64, at time.Duration, line []byte) { t.Logf("%s", line) }
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	r, err := lab.Run(ctx, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Goal: two real nodes come up, all laws hold on them, and nothing is left. Method: the smallest scenario.
func TestTwoNodes(t *testing.T) {
	r := run(t, "# Two nodes with two pods each.\nname: two-nodes\ntopology: {nodes: 2, podsPerNode: 2}\n")
	if r.Verdict != result.Pass {
		t.Fatalf("%s: %s", r.Verdict, r.Error)
	}
}

// Goal: processes and machines that die, ranges that change and a control plane that cannot be reached leave real nodes
// as the laws want them, with packets that arrive. Method: one scenario of everything a catalogue scenario does.
func TestTroubles(t *testing.T) {
	r := run(t, `# Everything once.
name: troubles
topology: {nodes: 3, podsPerNode: 2}
timeline:
  - {when: settled, do: restart-agent, node: node-1}
  - {when: settled, do: restart-vpp, node: node-2}
  - {when: settled, do: kill-agent, node: node-3, for: 5s}
  - {do: create-pods, count: 3}
  - {when: settled, do: partition, between: [node-1, store], for: 10s}
  - {do: change-cidr, podSubnetCIDR: 10.2.0.0/16}
  - {when: settled, do: create-pods, count: 3}
  - {when: settled, do: reboot-node, node: node-3}
  - {when: settled, do: replace-sandbox, node: node-1, count: 2}
  - {when: settled, do: gap-watch, node: node-2}
  - {when: settled, do: delete-pods, count: 4}
`)
	if r.Verdict != result.Pass || r.Summary.Adds < 12 {
		t.Fatalf("%s: %s %+v", r.Verdict, r.Error, r.Summary)
	}
}

// Goal: what a lab cannot do is named and never passes, and nothing is started for it. Method: a table of scenarios.
func TestUnsupported(t *testing.T) {
	for text, want := range map[string]string{
		"duration: 1s\nconfig: {ipam: {system: nodeipam}}\nfaults: {inject: [(Kind control-watch Vanish)]}": "faults.inject",
		"timeline: [{at: 1s, do: set-clock, node: node-1, back: 2h}]":                                       "set-clock",
		"timeline: [{at: 1s, do: change-version, node: node-1, version: next}]":                             "change-version",
		"topology: {clockSpread: 1s}":                                      "topology.clockSpread",
		"config: {ipam: {system: datastore, datastore: {trunkENI: true}}}": "ipam.datastore.trunkENI",
	} {
		r := run(t, "# Something that a lab cannot do.\nname: cannot\n"+text+"\n")
		if r.Verdict != result.Error || len(r.Unsupported) != 1 || r.Unsupported[0] != want || !strings.Contains(r.Error, want) {
			t.Errorf("%s: %s %v %s", text, r.Verdict, r.Unsupported, r.Error)
		}
	}
}

// build builds a lab by hand and takes it down at the test's end.
func build(t *testing.T, text string) *lab.World {
	t.Helper()
	s, err := scenarios.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	w, err := lab.New(context.Background(), s, options(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := w.Settle(context.Background(), time.Hour); err != nil {
		t.Fatal(err)
	}
	return w
}

// Goal: an agent that is killed and started again costs traffic nothing; a VPP that is costs its own absence, which is
// told. Method: a datagram a millisecond between two real nodes.
func TestContinuity(t *testing.T) {
	ctx := context.Background()
	w := build(t, "# Two nodes.\nname: two\ntopology: {nodes: 2, podsPerNode: 1}\n")
	for _, c := range []struct {
		action scenarios.Action
		loses  bool
	}{{scenarios.RestartAgent{Node: "all"}, false}, {scenarios.RestartVPP{Node: "node-1"}, true}} {
		told, err := w.Continuity(ctx, w.Places(), time.Hour, func() error { return w.Do(ctx, c.action) })
		if err != nil || len(told) != 2 {
			t.Fatalf("%s: %v, %v", c.action, told, err)
		}
		for _, o := range told {
			t.Logf("%s: %s to %s: %d of %d lost, longest silence %s", c.action, o.From, o.To, o.Lost, o.Sent, o.Longest)
			if (o.Lost > 0) != c.loses {
				t.Errorf("%s: %d lost", c.action, o.Lost)
			}
		}
	}
	if f := w.Probe(ctx, lab.Wanted{Deep: 2}); len(f.Failed) > 0 || f.TCP != 2 || f.UDP != 2 || f.Edge != 2 {
		t.Errorf("%+v", f)
	}
}

// Goal: a standing lab becomes what its file says, with only the difference done, and says nothing when there is none.
// Method: a lab is changed in every way that a file can.
func TestConverge(t *testing.T) {
	ctx := context.Background()
	w := build(t, "# One node.\nname: grows\ntopology: {nodes: 1, podsPerNode: 1}\n")
	for _, c := range []struct {
		text string
		want []string
	}{
		{"topology: {nodes: 2, podsPerNode: 1}", []string{"add node-2", "create pod node-2-pod-0"}},
		{"topology: {nodes: 2, podsPerNode: 1}\nconfig: {ipam: {podSubnetCIDR: 10.9.0.0/16}}", []string{"change the address plan"}},
		{"topology: {nodes: 1, podsPerNode: 2}\nconfig: {ipam: {podSubnetCIDR: 10.9.0.0/16}}", []string{"remove node-2", "create pod node-1-pod-1"}},
		{"topology: {nodes: 1, podsPerNode: 0}\nconfig: {ipam: {podSubnetCIDR: 10.9.0.0/16}, wiring: {mtu: 1400}}",
			[]string{"restart every agent with the new wiring and settings", "delete pod node-1-pod-0", "delete pod node-1-pod-1"}},
	} {
		s, err := scenarios.Parse("test.yaml", []byte("# The same lab.\nname: grows\n"+c.text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		changes, err := w.Plan(s)
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, x := range changes {
			have = append(have, x.Text)
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%s:\n have %q\n want %q", c.text, have, c.want)
		}
		if err := w.Apply(ctx, changes); err != nil {
			t.Fatal(err)
		}
		if err := w.Settle(ctx, time.Hour); err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if again, err := w.Plan(s); err != nil || len(again) > 0 {
			t.Errorf("%s: still %v, %v", c.text, again, err)
		}
		snapshot, err := w.Snapshot(ctx)
		if err != nil || !snapshot.Settled {
			t.Fatalf("settled %t, %v", snapshot.Settled, err)
		}
		for _, law := range check.All() {
			if law.Check != nil {
				if _, err := law.Check(snapshot); err != nil {
					t.Errorf("%s: %v", c.text, err)
				}
			}
		}
	}
}

// Goal: a lab whose owner is killed with signal 9 is found by the next census, and nothing of it is left; a census
// beside a living lab leaves it alone. Method: this test binary again as an owner.
func TestCensus(t *testing.T) {
	o := options(t)
	owner := exec.Command(os.Args[0], ownerWord, o.Root)
	told, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	owner.Stderr = os.Stderr
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(told).ReadString('\n')
	if err != nil {
		t.Fatal(err, owner.Wait())
	}
	id := strings.TrimSpace(line)
	if gone, err := lab.Census(o.Root, o.Backend); err != nil || len(gone) > 0 {
		t.Errorf("a census beside a living lab removed %v, %v", gone, err)
	}
	if len(spawn.Marked(id)) == 0 {
		t.Error("the lab has no processes")
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // killed
	if gone, err := lab.Census(o.Root, o.Backend); err != nil || !slices.Equal(gone, []string{id}) {
		t.Errorf("the census removed %v, %v", gone, err)
	}
	if left := spawn.Marked(id); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
	if left, err := filepath.Glob("/run/netns/vd-" + id + "-*"); err != nil || len(left) > 0 {
		t.Errorf("namespaces left: %v, %v", left, err)
	}
	if dirs, err := lab.StateDirs(o.Root); err != nil || len(dirs) > 0 {
		t.Errorf("folders left: %v, %v", dirs, err)
	}
}
