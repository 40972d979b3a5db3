package cluster

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// TestStories plays the files of testdata/stories: each directive acts line by line, lets time pass, and prints the
// events. Goal: the sequences that control planes are known for stay as they were reviewed. "run D" prints the trail of
// the next D; "pass D" lets D pass in silence; "show WHAT..." prints states.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		var s *story
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "new" {
				s = newStory(d)
				return ""
			}
			out := s.play(d)
			for _, b := range s.machine.broken {
				t.Errorf("%s: %s", d.Pos, b)
			}
			return out
		})
	})
}

// story is one file's cluster.
type story struct {
	eng     *engine.Engine
	machine *fakeMachine
	c       *Cluster
	load    *crowd
	feeds   map[string]*AgentFeed
	clients map[string]*StoreClient
	request uint64
	out     strings.Builder
}

func newStory(d *datadriven.TestData) *story {
	s := &story{feeds: map[string]*AgentFeed{}, clients: map[string]*StoreClient{}}
	seed := uint64(1)
	var cfg Config
	for _, arg := range d.CmdArgs {
		v := ""
		if len(arg.Vals) > 0 {
			v = arg.Vals[0]
		}
		switch arg.Key {
		case "seed":
			seed = uint64(number(v))
		case "history":
			cfg.API.History = number(v)
		case "max-pods":
			cfg.Scheduler.MaxPods = number(v)
		case "repeat-del":
			cfg.Kubelet.RepeatDel = true
		case "add-before-del":
			cfg.Kubelet.AddBeforeDel = true
		default:
			d.Fatalf(nil, "unknown argument %s", arg.Key)
		}
	}
	s.eng = engine.New(engine.Seeded(seed))
	s.machine = newFakeMachine(s.eng)
	cfg.Clock, cfg.Machine = s.eng, s.machine
	s.c = New(cfg)
	s.load = newCrowd(s.c)
	return s
}

func (s *story) play(d *datadriven.TestData) string {
	s.out.Reset()
	switch d.Cmd {
	case "run":
		s.eng.Trail(func(_ int64, at time.Duration, line []byte) { fmt.Fprintf(&s.out, "%-10s %s\n", at, line) })
	case "pass":
		s.eng.Trail(nil)
	case "show":
		for _, arg := range d.CmdArgs {
			s.show(arg.Key)
		}
		return s.out.String()
	default:
		d.Fatalf(nil, "unknown directive %s", d.Cmd)
	}
	for line := range strings.Lines(d.Input) {
		if err := s.do(strings.Fields(line)); err != nil {
			fmt.Fprintf(&s.out, "error: %v\n", err)
		}
	}
	length, err := time.ParseDuration(d.CmdArgs[0].Key)
	if err != nil {
		panic(err)
	}
	if err := s.eng.RunUntil(s.eng.Now() + length); err != nil {
		panic(err)
	}
	return s.out.String()
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func length(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		panic(err)
	}
	return d
}

// pod reads "name key=value...".
func podSpec(f []string) PodSpec {
	p := PodSpec{Name: f[0]}
	for _, arg := range f[1:] {
		k, v, _ := strings.Cut(arg, "=")
		switch k {
		case "node":
			p.Node = v
		case "app":
			p.App = v
		case "max-per-node":
			p.MaxPerNode = number(v)
		case "pinned":
			p.Pinned = true
		default:
			panic(arg)
		}
	}
	return p
}

func (s *story) do(f []string) error {
	c := s.c
	switch f[0] {
	case "node":
		for _, name := range f[1:] {
			if err := c.AddNode(Node{Meta: Meta{Name: name}}); err != nil {
				return err
			}
		}
	case "cordon", "uncordon":
		c.Lifecycle.Cordon(f[1], f[0] == "cordon")
	case "remove":
		return c.RemoveNode(f[1])
	case "off":
		c.Kubelet(f[1]).PowerOff()
	case "on":
		c.Kubelet(f[1]).PowerOn()
	case "reboot":
		reboot(c.Kubelet(f[1]), length(f[2]))
	case "restart":
		restart(c.Kubelet(f[1]), length(f[2]))
	case "pause", "continue":
		c.Kubelet(f[1]).Pause(f[0] == "pause")
	case "replace":
		return c.Kubelet(f[1]).ReplaceSandbox(Key{"default", f[2]})
	case "create":
		c.Workload.Create(podSpec(f[1:]))
	case "delete":
		c.Workload.Delete(Key{"default", f[1]})
	case "force-delete":
		return c.API.Delete(KindPod, Key{"default", f[1]}, "")
	case "per-node":
		s.load.SetPerNode(number(f[1]))
	case "deploy":
		s.load.Deploy(Deployment{Name: f[1], Replicas: number(f[2])})
	case "cni":
		key := f[1] + " " + f[2]
		s.machine.script[key] = append(s.machine.script[key], f[3:]...)
	case "cut":
		c.Net.Cut(c.Net.Endpoint(f[1]), c.Net.Endpoint(f[2]))
	case "mend":
		c.Net.Mend(c.Net.Endpoint(f[1]), c.Net.Endpoint(f[2]))
	case "api":
		c.API.SetAvailable(f[1] == "up")
	case "store":
		c.Store.SetAvailable(f[1] == "up")
	case "heal":
		c.Heal()
	default:
		return s.doMore(f)
	}
	return nil
}

// doMore acts on feeds, store clients, configurations and faults of streams.
func (s *story) doMore(f []string) error {
	c := s.c
	switch f[0] {
	case "feed":
		s.feeds[f[1]] = c.NewFeed(f[1], s.sink(f[1]))
		s.feeds[f[1]].Start()
	case "feed-restart":
		s.feeds[f[1]].Stop()
		s.feeds[f[1]].Start()
	case "stale":
		s.feeds[f[1]].Nodes.Stale(length(f[2]))
	case "drop":
		s.feeds[f[1]].Nodes.DropNext(number(f[2]))
	case "duplicate":
		s.feeds[f[1]].Nodes.DuplicateNext(number(f[2]))
	case "kubelet-stale":
		c.Kubelet(f[1]).Pods.Stale(length(f[2]))
	case "status":
		return c.API.SetPodStatus(Key{"default", f[1]}, "", Running, netip.MustParseAddr(f[2]), netip.Addr{})
	case "label":
		return c.API.SetNode(f[1], "", func(n *Node) { n.Labels = map[string]string{"x": f[2]} })
	case "pools":
		return c.API.SetConfigMap("pools", agent.Pools{})
	case "client":
		s.clients[f[1]] = c.NewStoreClient(f[1], s.sink(f[1]))
	case "wipe":
		c.Store.Store.Wipe()
	case "compact":
		c.Store.Store.Compact(int64(number(f[1])))
	case "ask":
		return s.ask(f[1:])
	default:
		return fmt.Errorf("unknown action %q", f[0])
	}
	return nil
}

// ask sends "node op key [value] [revision]" to the store.
func (s *story) ask(f []string) error {
	s.request++
	r := agent.StoreRequest{ID: s.request, Key: f[2]}
	switch f[1] {
	case "list":
		r.Op = agent.StoreList
	case "create":
		r.Op, r.Value = agent.StoreCreate, f[3]
	case "update":
		r.Op, r.Value, r.Revision = agent.StoreUpdate, f[3], int64(number(f[4]))
	case "delete":
		r.Op, r.Revision = agent.StoreDelete, int64(number(f[3]))
	case "watch":
		r.Op, r.Revision = agent.StoreWatch, int64(number(f[3]))
	default:
		return fmt.Errorf("unknown request %q", f[1])
	}
	s.clients[f[0]].Do(r)
	return nil
}

// sink prints what an agent is told.
func (s *story) sink(node string) func(agent.Event) {
	return func(ev agent.Event) {
		var text string
		switch e := ev.(type) {
		case agent.NodeSeen:
			text = "node seen " + e.Name + " " + e.UID[:8]
		case agent.NodeGone:
			text = "node gone " + e.Name + " " + e.UID[:8]
		case agent.NodesListed:
			text = "nodes listed"
		case agent.PodsListed:
			text = fmt.Sprintf("pods listed %d", len(e.UIDs))
		case agent.PoolsChanged:
			text = fmt.Sprintf("pools generation %d", e.Pools.Generation)
		case agent.StoreReply:
			text = fmt.Sprintf("store reply %d %s revision %d%s", e.ID, storeErrorNames[e.Err], e.Revision, items(e.Items))
		case agent.StoreChanged:
			text = fmt.Sprintf("store changed watch %d revision %d%s", e.Watch, e.Revision, items(e.Items))
		case agent.StoreWatchLost:
			text = fmt.Sprintf("store watch %d lost", e.Watch)
		}
		fmt.Fprintf(&s.out, "%10s   %s hears: %s\n", "", node, text)
	}
}

func items(list []agent.StoreItem) string {
	var b strings.Builder
	for _, it := range list {
		fmt.Fprintf(&b, " %s=%s@%d", it.Key, it.Value, it.ModRevision)
		if it.Deleted {
			b.WriteString("(deleted)")
		}
	}
	return b.String()
}

func (s *story) show(what string) {
	switch what {
	case "pods":
		list, _ := s.c.API.List(KindPod, "")
		for _, o := range list {
			p := o.(*Pod)
			fmt.Fprintf(&s.out, "%s node=%s %s ip=%s", p.Key(), p.Node, p.Phase, appendAddr(nil, p.IP))
			if p.Deleting {
				s.out.WriteString(" deleting")
			}
			s.out.WriteString("\n")
		}
	case "nodes":
		list, _ := s.c.API.List(KindNode, "")
		for _, o := range list {
			n := o.(*Node)
			fmt.Fprintf(&s.out, "%s ready=%t uid=%s\n", n.Name, n.Ready, n.UID[:8])
		}
	case "sandboxes":
		for _, name := range s.c.Nodes() {
			for _, b := range slices.SortedFunc(s.c.Kubelet(name).Sandboxes(), func(a, b *Sandbox) int { return a.Pod.compare(b.Pod) }) {
				fmt.Fprintf(&s.out, "%s %s%s %s\n", name, b.Pod, appendSandbox(nil, b), b.Addr)
			}
		}
	case "load":
		fmt.Fprintf(&s.out, "%+v quiet=%t\n", s.c.Load(), s.c.Load().Quiet())
	case "pending":
		for _, line := range s.c.Pending(10) {
			fmt.Fprintln(&s.out, line)
		}
	case "spread":
		list, _ := s.c.API.List(KindNode, "")
		for _, o := range list {
			fmt.Fprintf(&s.out, "%s %d\n", o.Common().Name, len(s.c.API.kinds[KindPod].list(o.Common().Name)))
		}
		fmt.Fprintf(&s.out, "waiting %d\n", s.c.Scheduler.Waiting())
	case "timers":
		fmt.Fprintf(&s.out, "events waiting %d\n", s.eng.Len())
	}
}
