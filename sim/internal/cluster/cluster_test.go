package cluster

import (
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/sim/engine"
)

func netipAddr(n uint32) netip.Addr {
	var raw [4]byte
	binary.BigEndian.PutUint32(raw[:], 10<<24|n)
	return netip.AddrFrom4(raw)
}

// TestClusterHeals: random work and faults on every part, then everything heals. After that the cluster is quiet within
// half an hour, each pod that is bound has exactly one sandbox with the address that the API shows, and nothing else is
// left: no sandbox, no namespace, no address that was given and not taken back. The machine reports whatever no kubelet
// may do, such as an ADD without a namespace.
func TestClusterHeals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eng := engine.New(engine.Seeded(rapid.Uint64().Draw(t, "seed")))
		m := newFakeMachine(eng)
		cfg := Config{Clock: eng, Machine: m}
		cfg.Kubelet.RepeatDel = rapid.Bool().Draw(t, "repeat")
		cfg.Kubelet.AddBeforeDel = rapid.Bool().Draw(t, "overlap")
		var c *Cluster
		cfg.Hooks.Gone = func(node string, _ *Sandbox) {
			if !c.Kubelet(node).Powered() {
				// a machine that dies loses its own
				maps.DeleteFunc(m.netns, func(key string, _ bool) bool { return strings.HasPrefix(key, node) })
			}
		}
		c = New(cfg)
		for i := range 3 {
			_ = c.AddNode(Node{Meta: Meta{Name: fmt.Sprint("node-", i)}})
		}
		load := newCrowd(c)
		load.SetPerNode(1)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			act(t, c, load, m)
			wait := rapid.SampledFrom([]time.Duration{0, 2 * time.Millisecond, 7 * time.Millisecond, time.Second, time.Minute, 6 * time.Minute}).Draw(t, "wait")
			_ = eng.RunUntil(eng.Now() + wait)
		}
		c.Heal()
		for i := range 3 {
			_ = c.AddNode(Node{Meta: Meta{Name: fmt.Sprint("node-", i)}}) // those that were removed
		}
		clear(m.script)
		c.Net.SetDefault(Link{DelayMin: time.Millisecond, DelayMax: time.Millisecond})
		_ = eng.RunUntil(eng.Now() + 30*time.Minute)
		check(t, c, m)
	})
}

// act does one thing to the cluster.
func act(t *rapid.T, c *Cluster, load *crowd, m *fakeMachine) {
	node := fmt.Sprint("node-", rapid.IntRange(0, 2).Draw(t, "node"))
	at, k := c.Net.Endpoint(node), c.Kubelet(node)
	pod := fmt.Sprint("pod-", rapid.IntRange(0, 5).Draw(t, "pod"))
	action := rapid.IntRange(0, 20).Draw(t, "action")
	if k == nil {
		_ = c.AddNode(Node{Meta: Meta{Name: node}})
		return
	}
	switch action {
	case 0:
		k.PowerOff()
		maps.DeleteFunc(m.netns, func(key string, _ bool) bool { return strings.HasPrefix(key, node) })
	case 1:
		k.PowerOn()
	case 2:
		reboot(k, 5*time.Second)
		maps.DeleteFunc(m.netns, func(key string, _ bool) bool { return strings.HasPrefix(key, node) })
	case 3:
		restart(k, 5*time.Second)
	case 4:
		k.Stop()
	case 5:
		_ = c.RemoveNode(node)
		maps.DeleteFunc(m.netns, func(key string, _ bool) bool { return strings.HasPrefix(key, node) })
		maps.DeleteFunc(m.held, func(key string, _ netip.Addr) bool { return strings.HasPrefix(key, node) })
	case 6:
		c.Net.Cut(at, c.API.Endpoint())
	case 7:
		c.Net.Cut(c.API.Endpoint(), at)
	case 8:
		c.Net.MendAll()
	case 9:
		c.API.SetAvailable(!c.API.Available())
	case 10:
		c.Net.SetDefault(Link{DelayMin: time.Millisecond, DelayMax: 20 * time.Millisecond, Loss: 0.1, Duplicate: 0.1})
	case 11:
		load.Deploy(Deployment{Name: "web", Replicas: rapid.IntRange(0, 4).Draw(t, "replicas"), MaxPerNode: 2})
	case 12:
		for s := range k.Sandboxes() {
			_ = k.ReplaceSandbox(s.Pod)
			break
		}
	case 13:
		_ = c.API.Delete(KindPod, Key{"default", pod}, "")
	case 14:
		k.Pods.Stale(rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(t, "stale"))
	case 15:
		c.Scheduler.Stop()
		c.Scheduler.Start()
	case 16:
		verb := rapid.SampledFrom([]string{" add", " del"}).Draw(t, "verb")
		m.script[node+verb] = append(m.script[node+verb], rapid.SampledFrom([]string{"hang", "late", "error", "exhausted"}).Draw(t, "verdict"))
	case 17:
		c.Workload.Delete(Key{"default", pod})
	default:
		c.Workload.Create(PodSpec{Name: pod})
	}
}

// check demands what a quiet cluster must be.
func check(t *rapid.T, c *Cluster, m *fakeMachine) {
	if len(m.broken) > 0 {
		t.Fatalf("machine: %s", strings.Join(m.broken, "; "))
	}
	if l := c.Load(); !l.Quiet() || l.Pods != 0 {
		t.Fatalf("not quiet: %+v\n%s", l, strings.Join(c.Pending(20), "\n"))
	}
	sandboxes, bound := map[string]*Sandbox{}, 0
	for _, node := range c.Nodes() {
		for s := range c.Kubelet(node).Sandboxes() {
			if sandboxes[s.UID] != nil {
				t.Fatalf("pod %s has two sandboxes", s.Pod)
			}
			sandboxes[s.UID] = s
			if m.held[node+s.Owner.String()] != s.Addr.Addr() || !m.netns[node+s.Netns] {
				t.Fatalf("sandbox %s of %s: holds %s, says %s", s.Owner, s.Pod, m.held[node+s.Owner.String()], s.Addr)
			}
		}
		n := 0
		for key := range m.held {
			if strings.HasPrefix(key, node) {
				n++
			}
		}
		if want := len(slices.Collect(c.Kubelet(node).Sandboxes())); n != want {
			t.Fatalf("%s: %d addresses are held, %d sandboxes exist", node, n, want)
		}
	}
	list, _ := c.API.List(KindPod, "")
	for _, o := range list {
		p := o.(*Pod)
		s := sandboxes[p.UID]
		if p.Node == "" || p.Deleting || s == nil || p.IP != s.Addr.Addr() || p.Phase != Running {
			t.Fatalf("pod %s: %+v with sandbox %+v", p.Key(), p, s)
		}
		bound++
	}
	if bound != len(sandboxes) || bound != len(m.netns) {
		t.Fatalf("%d pods, %d sandboxes, %d namespaces", bound, len(sandboxes), len(m.netns))
	}
}

// TestClusterRepeats: one seed, one trail. A run with random delays, losses and churn is done twice.
func TestClusterRepeats(t *testing.T) {
	run := func(seed uint64) engine.Digest {
		eng := engine.New(engine.Seeded(seed))
		c := New(Config{Clock: eng, Machine: newFakeMachine(eng), Network: NetworkConfig{
			Default: Link{DelayMin: time.Millisecond, DelayMax: 5 * time.Millisecond, Loss: 0.02, Duplicate: 0.02},
		}})
		for i := range 20 {
			_ = c.AddNode(Node{Meta: Meta{Name: fmt.Sprint("node-", i)}})
		}
		load := newCrowd(c)
		load.SetPerNode(3)
		load.Deploy(Deployment{Name: "web", Replicas: 30, MaxPerNode: 2})
		_ = load.Churn(Churn{Every: time.Second, LifeMax: time.Minute, MaxPerNode: 1})
		_ = eng.RunUntil(time.Minute)
		c.Kubelet("node-3").PowerOff()
		c.Scheduler.Stop()
		c.Scheduler.Start()
		_ = c.RemoveNode("node-4")
		_ = eng.RunUntil(10 * time.Minute)
		return eng.Digest()
	}
	a, b, other := run(1), run(1), run(2)
	if a != b || a == other {
		t.Fatalf("seed 1: %s and %s, seed 2: %s", a, b, other)
	}
}

// TestSchedulerOldestFirst: when room appears, pods get it in the order of their arrival, whatever groups they belong
// to and whichever of them left the queues at the same moment.
func TestSchedulerOldestFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eng := engine.New(nil)
		m := newFakeMachine(eng)
		c := New(Config{Clock: eng, Machine: m, Scheduler: SchedulerConfig{MaxPods: 1000}})
		_ = eng.RunUntil(time.Second) // the first list is in name order, what follows in order of creation
		n := rapid.IntRange(1, 60).Draw(t, "pods")
		for i := range n {
			app := rapid.IntRange(0, 12).Draw(t, "app")
			c.Workload.Create(PodSpec{Name: fmt.Sprint("pod-", i), App: fmt.Sprint("app-", app), MaxPerNode: 1000})
		}
		_ = eng.RunUntil(2 * time.Second)
		last := -1
		c.API.Observe(func(old, now Object) {
			if now != nil && now.Kind() == KindPod && nodeOf(old) == "" && nodeOf(now) != "" {
				var i int
				if _, err := fmt.Sscanf(now.Common().Name, "pod-%d", &i); err != nil || i < last {
					t.Fatalf("pod %d after pod %d", i, last)
				}
				last = i
			}
		})
		_ = c.AddNode(Node{Meta: Meta{Name: "node-1"}})
		for i := range n {
			if rapid.Bool().Draw(t, "leaves") {
				c.Workload.Delete(Key{"default", fmt.Sprint("pod-", i)})
			}
		}
		_ = eng.RunUntil(time.Minute)
		if c.Scheduler.Waiting() != 0 || !c.Load().Quiet() {
			t.Fatalf("%d pods wait: %+v", c.Scheduler.Waiting(), c.Load())
		}
	})
}

// TestSlotsAgainstTwin: the emptiest node is the one that a look at every node finds.
func TestSlotsAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSlots(rapid.IntRange(1, 4).Draw(t, "limit"))
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			n := s.slot(fmt.Sprint("node-", rapid.IntRange(0, 150).Draw(t, "node")))
			switch rapid.IntRange(0, 3).Draw(t, "action") {
			case 0:
				n.known = !n.known
				s.setUsable(n, n.known)
				s.forget(n)
			case 1:
				if n.pods > 0 {
					s.add(n, -1)
				}
			default:
				s.add(n, 1)
			}
			s.fresh()
			var avoid bitset
			if rapid.Bool().Draw(t, "avoid") {
				avoid = make(bitset, s.words())
				for i := range s.nodes {
					if rapid.Bool().Draw(t, "full") {
						avoid.set(i)
					}
				}
			}
			var want *slot
			for i, n := range s.nodes {
				if n.usable && n.pods < s.limit && (avoid == nil || avoid[i/64]>>(i%64)&1 == 0) &&
					(want == nil || n.pods < want.pods || n.pods == want.pods && n.name < want.name) {
					want = n
				}
			}
			if got := s.pick(avoid); got != want {
				t.Fatalf("pick %+v, want %+v", got, want)
			}
		}
	})
}
