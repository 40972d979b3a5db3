package cluster

import (
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/sim/engine"
)

// offClocks are a machine's whose wall clock is ahead, and whose count runs at a rate in percent.
type offClocks struct {
	*engine.Engine
	ahead time.Duration
	rate  time.Duration
}

func (c *offClocks) Now() time.Duration { return c.Engine.Now() * c.rate / 100 }

func (c *offClocks) After(d time.Duration, ev engine.Event) { c.Engine.After(d*100/c.rate, ev) }

func (c *offClocks) Wall() time.Duration { return c.ahead + c.Now() }

// newGrave is a node with one pod that runs, whose machine has the clocks.
func newGrave(t *testing.T, clocks *offClocks, newest bool) (c *Cluster, sandboxes *int) {
	t.Helper()
	sandboxes = new(int)
	hooks := Hooks{Created: func(string, *Sandbox) { *sandboxes++ }}
	c = New(Config{Clock: clocks.Engine, Machine: newFakeMachine(clocks.Engine), Hooks: hooks,
		Kubelet: KubeletConfig{NewestByClock: newest}, Clocks: func(string) MachineClocks { return clocks }})
	if err := c.AddNode(Node{Meta: Meta{Name: "node-1"}}); err != nil {
		t.Fatal(err)
	}
	c.Workload.Create(PodSpec{Name: "web-0"})
	run(t, clocks, 10*time.Second)
	return c, sandboxes
}

func run(t *testing.T, clocks *offClocks, d time.Duration) {
	t.Helper()
	if err := clocks.RunUntil(clocks.Engine.Now() + d); err != nil {
		t.Fatal(err)
	}
}

// A kubelet that goes by stamps replaces a living sandbox as long as its runtime lists a dead one with a later stamp, a
// minute, and not at all where the clock was set ahead, or where it does not go by stamps.
func TestNewestByClock(t *testing.T) {
	for _, x := range []struct {
		what   string
		newest bool
		jump   time.Duration
		again  bool
	}{
		{"set back", true, -time.Hour, true},
		{"set ahead", true, time.Hour, false},
		{"set back, not by stamps", false, -time.Hour, false},
	} {
		clocks := &offClocks{Engine: engine.New(engine.Seeded(1)), rate: 100}
		c, sandboxes := newGrave(t, clocks, x.newest)
		clocks.ahead += x.jump
		if err := c.Kubelet("node-1").ReplaceSandbox(Key{Namespace: "default", Name: "web-0"}); err != nil {
			t.Fatal(err)
		}
		run(t, clocks, 30*time.Second)
		if again := *sandboxes > 2; again != x.again {
			t.Errorf("%s: %d sandboxes after half a minute", x.what, *sandboxes)
		}
		if quiet := c.Kubelet("node-1").Unsettled() == 0; quiet && x.again {
			t.Errorf("%s: the pod counts as settled while its kubelet is about to replace its sandbox", x.what)
		}
		run(t, clocks, time.Minute)
		made := *sandboxes
		run(t, clocks, 10*time.Minute)
		if *sandboxes != made || c.Kubelet("node-1").Unsettled() != 0 {
			t.Errorf("%s: %d sandboxes, then %d; %v", x.what, made, *sandboxes, c.Kubelet("node-1").Pending())
		}
	}
}

// A kubelet's patience with a plugin is measured by its machine's count: one that runs at half the rate waits twice as
// long.
func TestDriftingPatience(t *testing.T) {
	for rate, want := range map[time.Duration]time.Duration{100: time.Minute, 50: 2 * time.Minute, 200: 30 * time.Second} {
		clocks := &offClocks{Engine: engine.New(engine.Seeded(1)), rate: rate}
		var gaveUp time.Duration
		m := newFakeMachine(clocks.Engine)
		m.script["node-1 add"] = []string{"hang"}
		var asked time.Duration
		hooks := Hooks{Created: func(string, *Sandbox) {
			if asked == 0 {
				asked = clocks.Engine.Now()
			}
		}, Refused: func(string, *Sandbox, CNIResult) { gaveUp = clocks.Engine.Now() }}
		c := New(Config{Clock: clocks.Engine, Machine: m, Hooks: hooks, Clocks: func(string) MachineClocks { return clocks }})
		if err := c.AddNode(Node{Meta: Meta{Name: "node-1"}}); err != nil {
			t.Fatal(err)
		}
		c.Workload.Create(PodSpec{Name: "web-0"})
		run(t, clocks, 10*time.Minute)
		if gaveUp-asked != want {
			t.Errorf("at %d %% of the rate the plugin was given up after %s, want %s", rate, gaveUp-asked, want)
		}
	}
}
