package controllers_test

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
)

// Goal: what each system gives to whom when leaders are lost, requests are late, lost or refused, processes die between
// two writes, EC2 throttles, ranges come and go, and nodes leave. Method: golden stories over the modelled cluster,
// with agents that hold what they are told; `go test -rewrite` writes them anew. After each event no two nodes may have
// a common block assigned, and no two agents hold one. A story's commands:
//
//	new SYSTEM …                           a cluster without nodes
//	join|leave|up|down NODE                a machine comes or goes, its agent starts or ends
//	busy|idle NODE                         whether its agent has something to journal or to tell
//	pods NODE N                            so many pods hold an address there
//	range-add|range-remove CIDR            what blocks are carved from
//	lose PAUSE [within]                    the leader is cut off, its requests arrive that much later, or within the takeover
//	fault REQUEST ACTION [skip=N] [n=N]    what befalls requests of that name, from the one behind the skipped ones on
//	run DURATION                           time passes; prints what was noted and assigned
//	state                                  who has what, and what is under way

func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/story", func(t *testing.T, path string) {
		var w *world
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "new" {
				w = newWorld(t, plan(t, d))
				return ""
			}
			w.t = t
			return w.command(d)
		})
	})
}

func plan(t *testing.T, d *datadriven.TestData) scenarios.IPAM {
	p := scenarios.IPAM{System: scenarios.System(d.CmdArgs[0].Key), PodSubnetOneNodePrefixLen: 26}
	p.PodSubnetCIDR = scenarios.CIDR(netip.MustParsePrefix("10.1.0.0/24"))
	own := scenarios.CalicoIPAM{MaxBlocks: 20}
	for _, a := range d.CmdArgs[1:] {
		n, _ := strconv.Atoi(a.Vals[0])
		switch a.Key {
		case "range":
			for _, r := range a.Vals {
				p.Ranges = append(p.Ranges, netip.MustParsePrefix(r))
			}
		case "strict":
			own.StrictAffinity = n != 0
		case "grace":
			own.EmptyBlockGrace = time.Duration(n) * time.Second
		case "block":
			p.PodSubnetOneNodePrefixLen = n
		case "mode":
			p.Cilium.Mode = scenarios.CiliumMode(a.Vals[0])
		case "release-delay":
			p.Cilium.ReleaseDelay = time.Duration(n) * time.Second
		case "prefixes":
			p.Cilium.PrefixDelegation = n != 0
		case "max-above":
			p.Cilium.MaxAboveWatermark = n
		case "pre-allocate":
			p.Cilium.PreAllocate = n
		case "reuse-delay":
			p.ReuseDelay = time.Duration(n) * time.Second
		case "warm-prefix":
			p.Datastore.WarmPrefix = n
		case "requests":
			p.Datastore.Requests = n
		default:
			d.Fatalf(t, "unknown setting %s", a.Key)
		}
	}
	if p.OnEC2() {
		p.PodSubnetOneNodePrefixLen, p.Datastore.InstanceType = 28, "t3.small"
		p.Datastore.AttachDelay, p.Datastore.MetadataLag = 3*time.Second, time.Second
		p.Datastore.PrefixDelegation = true
	}
	scenarios.SetSection(&p, own)
	return p
}

type world struct {
	t        *testing.T
	eng      *engine.Engine
	cluster  *cluster.Cluster
	system   controllers.System
	agents   map[string]*host
	assigned map[string][]netip.Prefix
	lines    []string
	faults   []*storyFault
}

type storyFault struct {
	request string
	action  fault.Action
	skip, n int
}

var epoch = time.Unix(1700000000, 0).UTC()

func newWorld(t *testing.T, p scenarios.IPAM) *world {
	t.Helper()
	return newWorldWith(t, p, func(*controllers.Env) {})
}

func newWorldWith(t *testing.T, p scenarios.IPAM, change func(*controllers.Env)) *world {
	t.Helper()
	w := &world{t: t, eng: engine.New(engine.Seeded(1)), agents: make(map[string]*host), assigned: make(map[string][]netip.Prefix)}
	w.cluster = cluster.New(cluster.Config{Clock: w.eng, Machine: nothing{}})
	var err error
	env := controllers.Env{
		Clock: w.eng, Cluster: w.cluster, Epoch: epoch, Plan: p,
		Tell: w.tell, Assigned: w.assign, SetAside: func(string, int) {}, Judge: w.judge, Crash: w.crash,
		Note: func(who, text string) { w.say("%s: %s", who, text) },
	}
	change(&env)
	w.system, err = controllers.New(env, nil)
	w.must(err)
	w.system.Start()
	return w
}

func (w *world) must(errs ...error) {
	w.t.Helper()
	if err := errors.Join(errs...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) now() time.Time { return epoch.Add(w.eng.Now()) }

func (w *world) say(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf("%-9s ", w.eng.Now().Round(time.Millisecond))+fmt.Sprintf(format, args...))
}

func (w *world) assign(node string, blocks []netip.Prefix) {
	w.assigned[node] = slices.Clone(blocks)
	w.say("%s is assigned %v", node, blocks)
	apart(w.t, "assigned", w.assigned)
	w.seen(node)
}

// seen tells an agent what its Node object shows, where its system tells it nothing.
func (w *world) seen(node string) {
	if _, told := w.system.Blocks(node); !told && w.agents[node] != nil && len(w.assigned[node]) > 0 {
		w.tell(node, w.assigned[node])
	}
}

// apart fails when two nodes have a common address.
func apart(t *testing.T, what string, all map[string][]netip.Prefix) {
	t.Helper()
	names := slices.Sorted(maps.Keys(all))
	for i, a := range names {
		for _, b := range names[i+1:] {
			for _, p := range all[a] {
				if slices.ContainsFunc(all[b], p.Overlaps) {
					t.Fatalf("%s and %s are both %s %s", a, b, what, p)
				}
			}
		}
	}
}

func (w *world) judge(op fault.Op) fault.Verdict {
	for _, f := range w.faults {
		switch {
		case f.request != op.Name || f.n == 0:
		case f.skip > 0:
			f.skip--
		default:
			f.n--
			w.say("%s: %s %s", op.Node, op.Name, f.action)
			return fault.Verdict{Action: f.action, Delay: 20 * time.Second}
		}
	}
	return fault.Verdict{}
}

func (w *world) command(d *datadriven.TestData) string {
	var node string
	if len(d.CmdArgs) > 0 {
		node = d.CmdArgs[0].Key
	}
	h := w.agents[node]
	switch d.Cmd {
	case "join":
		w.join(node)
	case "leave":
		w.leave(node)
	case "up":
		w.up(node, h)
	case "down":
		w.down(node)
	case "busy", "idle":
		h.busy = d.Cmd == "busy"
		w.system.Changed(node)
	case "pods":
		n, err := strconv.Atoi(d.CmdArgs[1].Key)
		w.must(err)
		h.pods(n)
	case "range-add":
		w.must(w.system.AddRange(netip.MustParsePrefix(node)))
	case "range-remove":
		if err := w.system.RemoveRange(netip.MustParsePrefix(node)); err != nil {
			return "error: " + err.Error()
		}
	case "lose":
		pause, err := time.ParseDuration(node)
		w.must(err)
		if err := w.system.LoseLeader(scenarios.LoseLeader{Pause: pause, Within: len(d.CmdArgs) > 1 && d.CmdArgs[1].Key == "within"}); err != nil {
			return "error: " + err.Error()
		}
	case "fault":
		f := &storyFault{request: node, n: 1}
		for f.action = fault.Refuse; f.action.String() != d.CmdArgs[1].Key; f.action++ {
			if f.action > 100 {
				d.Fatalf(w.t, "unknown action %s", d.CmdArgs[1].Key)
			}
		}
		d.MaybeScanArgs(w.t, "skip", &f.skip)
		d.MaybeScanArgs(w.t, "n", &f.n)
		w.faults = append(w.faults, f)
	case "run":
		pause, err := time.ParseDuration(node)
		w.must(err, w.run(pause))
	case "state":
		return w.state()
	default:
		d.Fatalf(w.t, "unknown command %s", d.Cmd)
	}
	lines := w.lines
	w.lines = nil
	return strings.Join(lines, "\n")
}

// run lets time pass and looks at what agents hold after each event.
func (w *world) run(d time.Duration) error {
	end := w.eng.Now() + d
	for {
		at, ok := w.eng.NextAt()
		if !ok || at > end {
			return w.eng.RunUntil(end)
		}
		w.eng.Step()
		held := make(map[string][]netip.Prefix)
		for name, h := range w.agents {
			for _, b := range h.alloc.Blocks() {
				held[name] = append(held[name], b.Prefix)
			}
		}
		apart(w.t, "holding", held)
	}
}

func (w *world) state() string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(w.agents)) {
		var held []string
		for _, b := range w.agents[name].alloc.Blocks() {
			text := b.Prefix.String()
			if b.Draining {
				text += " draining"
			}
			held = append(held, text)
		}
		lines = append(lines, fmt.Sprintf("%s is assigned %v, holds %v, %d pods of %d", name, w.assigned[name], held, w.agents[name].held(), w.agents[name].wanted))
	}
	pending := w.system.Pending()
	if pending == "" {
		pending = "nothing"
	}
	return strings.Join(append(lines, fmt.Sprintf("free block: %v; under way: %s; %d writes", w.system.FreeBlock(), pending, w.system.Requests())), "\n")
}

// nothing is a machine without sandboxes.
type nothing struct{}

func (nothing) CreateNetns(string, string)                                {}
func (nothing) RemoveNetns(string, string)                                {}
func (nothing) Add(string, cluster.CNIAdd, func(cluster.CNIResult))       {}
func (nothing) Del(_ string, _ cluster.CNIDel, _ func(cluster.CNIResult)) {}

// host is a node's machine with one life of its agent: it holds what its system tells it, or what its Node object
// shows.
type host struct {
	w      *world
	name   string
	alloc  ipam.NodeAllocator
	busy   bool
	wanted int
	// asking are pods whose plugins wait for an address.
	asking map[ipam.Owner]bool
}

// Blocks implements controllers.Side.
func (h *host) Blocks() []ipam.Block { return h.alloc.Blocks() }

// Idle implements controllers.Side.
func (h *host) Idle() bool { return !h.busy }

// Now implements controllers.Side.
func (h *host) Now() time.Time { return h.w.now() }

func (w *world) up(node string, before *host) {
	h := &host{w: w, name: node, asking: map[ipam.Owner]bool{}}
	var err error
	h.alloc, err = w.system.Allocator(node)
	w.must(err)
	if before != nil {
		h.wanted = before.wanted
		_, err = ipam.Replay(h.alloc, before.alloc.Records())
		w.must(err)
	}
	w.agents[node] = h
	w.system.AgentUp(node, h)
	w.seen(node)
	if _, ok := w.system.(controllers.Preparer); ok {
		h.pods(h.wanted)
	}
}

func (w *world) join(node string) {
	w.must(w.system.Join(node), w.cluster.AddNode(cluster.Node{Meta: cluster.Meta{Name: node}}))
	w.up(node, nil)
}

func (w *world) leave(node string) {
	w.down(node)
	w.must(w.cluster.RemoveNode(node))
	w.system.Leave(node)
	delete(w.agents, node)
}

func (w *world) down(node string) { w.system.AgentDown(node) }

// crash ends an agent, which is started again a second later.
func (w *world) crash(node string) {
	w.say("%s: its agent crashed", node)
	w.down(node)
	h := w.agents[node]
	w.eng.After(time.Second, event{node + " starts again", func() {
		if w.agents[node] == h {
			w.up(node, h)
		}
	}})
}

// tell is an agent that journals what it is told in a tenth of a second.
func (w *world) tell(node string, blocks []netip.Prefix) {
	h := w.agents[node]
	w.eng.After(100*time.Millisecond, event{node + " journals blocks", func() {
		if w.agents[node] != h {
			return
		}
		if _, err := h.alloc.SetBlocks(w.now(), blocks); err != nil {
			w.t.Fatalf("%s: %v", node, err)
		}
		w.say("%s holds %v", node, blocks)
		if _, ok := w.system.(controllers.Preparer); !ok { // there, plugins ask
			h.pods(h.wanted)
		}
		w.system.Changed(node)
	}})
}

// pods makes so many pods hold an address, as far as there are addresses.
func (h *host) pods(n int) {
	h.wanted = n
	owner := func(i int) ipam.Owner {
		return ipam.Owner{Network: "k8s", ContainerID: fmt.Sprintf("pod-%d", i), IfName: "eth0"}
	}
	for l := range h.alloc.Leases() {
		if i, err := strconv.Atoi(strings.TrimPrefix(l.Owner.ContainerID, "pod-")); err != nil || i >= n {
			h.alloc.Release(h.w.now(), l.Owner)
		}
	}
	if prep, ok := h.w.system.(controllers.Preparer); ok {
		for i := range n {
			if _, holds := h.alloc.Lease(owner(i)); !holds && !h.asking[owner(i)] {
				h.asking[owner(i)] = true
				prep.Prepare(h.name, attempt(owner(i)), func() { h.w.eng.After(0, event{h.name + " asks", func() { h.take(owner(i), i) }}) })
			}
		}
		h.w.system.Changed(h.name)
		return
	}
	for i := range n {
		if _, _, err := h.alloc.Allocate(h.w.now(), owner(i), ipam.Want{}); err != nil {
			h.tried(owner(i), err)
			break
		}
		h.tried(owner(i), nil)
	}
	h.w.system.Changed(h.name)
}

// take is a pod's plugin asking its agent; a kubelet tries a pod that was refused again.
func (h *host) take(o ipam.Owner, i int) {
	delete(h.asking, o)
	if h.w.agents[h.name] != h || i >= h.wanted {
		return
	}
	_, _, err := h.alloc.Allocate(h.w.now(), o, ipam.Want{})
	if h.tried(o, err); err != nil {
		h.w.eng.After(30*time.Second, event{h.name + " tries again", func() {
			if h.w.agents[h.name] == h && i < h.wanted && !h.asking[o] {
				h.asking[o] = true
				h.w.system.(controllers.Preparer).Prepare(h.name, attempt(o), func() { h.take(o, i) })
			}
		}})
	}
	h.w.system.Changed(h.name)
}

// tried tells the system how a pod's search for an address ended.
func (h *host) tried(o ipam.Owner, err error) {
	a := attempt(o)
	a.Placed = err == nil
	h.w.system.Tried(h.name, a)
}

func attempt(o ipam.Owner) controllers.Attempt { return controllers.Attempt{Pod: o.String(), Owner: o} }

func (h *host) held() int { return len(slices.Collect(h.alloc.Leases())) }

// event is something that happens on a machine.
type event struct {
	what string
	do   func()
}

// AppendText implements engine.Event.
func (e event) AppendText(b []byte) []byte { return append(b, e.what...) }

// Fire implements engine.Event.
func (e event) Fire() { e.do() }
