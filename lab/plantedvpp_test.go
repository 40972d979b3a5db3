package lab_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// raised builds a lab, which goes with its test and has that long.
func raised(t *testing.T, o lab.Options, text string, limit time.Duration) (*lab.World, context.Context) {
	t.Helper()
	s, err := scenarios.Parse("lab.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	w, err := lab.New(ctx, s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, ctx
}

// standing builds a lab and waits until it is at rest.
func standing(t *testing.T, text string) (*lab.World, context.Context) {
	t.Helper()
	w, ctx := raised(t, options(t), text, 3*time.Minute)
	if err := w.Settle(ctx, time.Hour); err != nil {
		t.Fatal(err)
	}
	return w, ctx
}

// judgeNow judges a lab that is at rest by one law.
func judgeNow(ctx context.Context, t *testing.T, w *lab.World, name string) (int64, error) {
	t.Helper()
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Settled {
		t.Fatal("the lab is not at rest")
	}
	law, ok := check.ByName(name)
	if !ok {
		t.Fatalf("there is no law %s", name)
	}
	return law.Check(s)
}

// Goal: each law that is about what VPP and Linux hold can be broken on real machines. Method: a lab at rest holds the
// law and has something to judge; then one thing is changed behind the agents' backs, by VPP's own command line or in a
// pod's namespace, and the law must break.
func TestPlantedOnVPP(t *testing.T) {
	planted := map[string]bool{}
	breaks := func(ctx context.Context, t *testing.T, w *lab.World, law string, plant func() error) {
		t.Helper()
		planted[law] = true
		if n, err := judgeNow(ctx, t, w, law); err != nil || n == 0 {
			t.Fatalf("%s before: %d occasions, %v", law, n, err)
		}
		if err := plant(); err != nil {
			t.Fatal(err)
		}
		_, err := judgeNow(ctx, t, w, law)
		var v *fact.Violation
		if !errors.As(err, &v) || v.Law != law {
			t.Errorf("%s does not see what was planted: %v", law, err)
		}
		t.Logf("%v", err)
	}
	w, ctx := standing(t, "# Two nodes.\nname: planted\ntopology: {nodes: 2, podsPerNode: 1}\nconfig: {wiring: {pod: veth}}\n")
	ctl := func(format string, args ...any) func() error {
		return func() error {
			c, err := vppproc.Dial(w.VPPDirOf("node-1"))
			if err != nil {
				return err
			}
			defer c.Close()
			_, err = c.CLI(ctx, fmt.Sprintf(format, args...))
			return err
		}
	}
	tunnel, pod := "", ""
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := s.Node("node-1")
	for i := range n.VPP.Interfaces() {
		switch {
		case i.Type == fact.TypeVXLAN:
			tunnel = i.Name
		case i.Type == fact.TypeAFPacket && i.Table4 == n.PodTable:
			pod = i.Name
		}
	}
	breaks(ctx, t, w, "tunnels-symmetric", ctl("set interface state %s down", tunnel))
	if err := ctl("set interface state %s up", tunnel)(); err != nil {
		t.Fatal(err)
	}
	breaks(ctx, t, w, "books-agree", ctl("set interface state %s down", pod))
	if err := ctl("set interface state %s up", pod)(); err != nil {
		t.Fatal(err)
	}
	// Deleting the pod's route would not do: VPP still has one from the pod's neighbor entry.
	breaks(ctx, t, w, "reachable", func() error { return w.InPod("node-1", n.Pods[0], "ip", "route", "del", "default") })
	if err := w.InPod("node-1", n.Pods[0], "ip", "route", "add", "default", "via", n.Pods[0].Gateway.String()); err != nil {
		t.Fatal(err)
	}
	breaks(ctx, t, w, "host-routes", func() error {
		return w.InHost("node-1", "ip", "route", "add", "198.18.0.0/15", "via", n.HostVPP.String())
	})
	breaks(ctx, t, w, "routes-needed", func() error { // the host's route to all pods leads there already
		return w.InHost("node-1", "ip", "route", "add", n.Blocks[0].Prefix.String(), "via", n.HostVPP.String())
	})
	breaks(ctx, t, w, "as-configured", ctl("set ip neighbor-config ip4 age 17"))
	if err := ctl("set ip neighbor-config ip4 age %d", 0)(); err != nil {
		t.Fatal(err)
	}
	shared, ctx := standing(t, "# Pods on a trunk.\nname: planted-trunk\ntopology: {nodes: 1, podsPerNode: 2}\nconfig: {wiring: {pod: macvlan}}\n")
	breaks(ctx, t, shared, "senders-bound", func() error {
		c, err := vppproc.Dial(shared.VPPDirOf("node-1"))
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = c.CLI(ctx, "set interface input acl intfc host-vpptrunk ip4-table 0 del")
		return err
	})
	for _, dst := range []string{"198.18.0.0/15", n.Blocks[0].Prefix.String()} {
		if err := w.InHost("node-1", "ip", "route", "del", dst); err != nil {
			t.Fatal(err)
		}
	}
	breaks(ctx, t, w, "packets-fit", func() error {
		return w.InPod("node-1", n.Pods[0], "ip", "link", "set", n.Pods[0].Owner.IfName, "mtu", "1400")
	})
	for _, law := range lab.PlantedOnMachines() {
		if !planted[law] {
			t.Errorf("nothing is planted against %s", law)
		}
	}
}

// Goal: unwired-before-reuse can be broken on a real VPP. Method: of two pods that go, somebody else has put a route to
// the second one's address into VPP; the first must be released without a word, the second must break the law.
func TestPlantedOnRelease(t *testing.T) {
	w, ctx := standing(t, "# One node.\nname: planted-release\ntopology: {nodes: 1, podsPerNode: 2}\n")
	law, _ := check.ByName("unwired-before-reuse")
	watcher := law.Watch()
	w.Watch(func(f fact.Fact) error { return watcher.Observe(&f) })
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	pods := s.Nodes[0].Pods
	del := func(p fact.PodState) error {
		if err := w.Do(ctx, scenarios.DeletePods{Pod: p.Pod}); err != nil {
			return err
		}
		return w.Settle(ctx, time.Minute)
	}
	if err := del(pods[0]); err != nil {
		t.Fatalf("without a lie: %v", err)
	}
	c, err := vppproc.Dial(w.VPPDirOf("node-1"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.CLI(ctx, fmt.Sprintf("ip route add %s/32 via local", pods[1].Addr)); err != nil {
		t.Fatal(err)
	}
	var v *fact.Violation
	if err := del(pods[1]); !errors.As(err, &v) || v.Law != law.Name {
		t.Fatalf("the route is not seen: %v", err)
	}
	t.Log(v)
}

// Goal: settles can be broken in a lab, by a program that does not come to rest. Method: an agent stands still for
// longer than the lab is waited for; the run must end by the law and say what is pending.
func TestPlantedOnSettles(t *testing.T) {
	o := options(t)
	s, err := scenarios.Parse("restless.yaml", []byte(`# An agent stands still.
name: restless
topology: {nodes: 2, podsPerNode: 1}
timeline:
  - {when: settled, do: pause-agent, node: node-1, for: 3m}
  - {do: create-pods, node: node-1, count: 1}
  - {do: settle}
limits: {settle: 15s}
`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	o.TimeScale = 1
	r, err := lab.Run(ctx, s, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Failure == nil || r.Failure.Law != result.LawSettles {
		t.Fatalf("verdict %s, %s, %+v", r.Verdict, r.Error, r.Failure)
	}
	t.Log(r.Failure.What)
}

// Goal: stays-quiet can be broken on a real VPP and on a real Linux, and holds where nothing stirs. Method: a lab
// soaks after its end, while somebody makes an interface in VPP, or a route in the host, behind the agent's back.
func TestPlantedOnQuiet(t *testing.T) {
	w, ctx := standing(t, "# One node.\nname: planted-quiet\ntopology: {nodes: 1, podsPerNode: 1}\n")
	law, _ := check.ByName("stays-quiet")
	watcher := law.Watch()
	w.Watch(func(f fact.Fact) error { return watcher.Observe(&f) })
	if stirred, err := w.Soak(ctx); stirred || err != nil || watcher.Checks() == 0 {
		t.Fatalf("without a lie: stirred %t, %v", stirred, err)
	}
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for where, write := range map[string]func() error{
		"VPP": func() error {
			c, err := vppproc.Dial(w.VPPDirOf("node-1"))
			if err != nil {
				return err
			}
			defer c.Close()
			_, err = c.CLI(ctx, "create loopback interface instance 99")
			return err
		},
		"Linux": func() error {
			return w.InHost("node-1", "ip", "route", "add", "198.18.0.0/15", "via", s.Nodes[0].HostVPP.String())
		},
	} {
		watcher = law.Watch()
		late := time.AfterFunc(time.Second, func() {
			if err := write(); err != nil {
				t.Error(err)
			}
		})
		var v *fact.Violation
		if _, err := w.Soak(ctx); !errors.As(err, &v) || v.Law != law.Name {
			t.Errorf("what is written into %s is not seen: %v", where, err)
		} else {
			t.Log(v.What)
		}
		late.Stop()
		w.Forgive()
	}
}
