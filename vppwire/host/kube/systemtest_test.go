package kube_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/ipam/systemtest"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// Goal: the stories that each driver of a system has to play alike. Method: ipam/systemtest's, on an API server, with
// operators and requesters as `vppdrill controller` and `vppdrill agent` run them; the simulator's test is in
// sim/internal/controllers.
func TestSystemStories(t *testing.T) {
	for _, system := range []string{"cilium", "calico"} {
		stories, err := systemtest.Stories(system)
		must(t, err)
		for name, story := range stories {
			t.Run(system+"/"+name, func(t *testing.T) {
				if err := systemtest.Play(story, func(s systemtest.Setup) systemtest.Cluster { return newPlayed(t, s) }); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// played is a cluster as the suite drives one.
type played struct {
	t      *testing.T
	setup  systemtest.Setup
	server *server
	client kubernetes.Interface
	stop   func()
	// leader is what shows the system's figures.
	leader ipam.Figured
	nodes  map[string]*playedNode
}

func newPlayed(t *testing.T, s systemtest.Setup) *played {
	p := &played{t: t, setup: s, server: newServer(t), nodes: map[string]*playedNode{}}
	p.client, _ = p.server.dial(t)
	if p.blocked() {
		p.server.put("ippools", map[string]any{"apiVersion": "crd.projectcalico.org/v1", "kind": "IPPool", "metadata": map[string]any{"name": "pool"},
			"spec": map[string]any{"cidr": s.Range.String(), "blockSize": s.Block}})
	}
	p.lead()
	return p
}

// requested: agents ask for blocks. addressed: they have single addresses.
func (p *played) requested() bool {
	return !p.blocked() && p.setup.Mode != "cluster-pool" && !p.addressed()
}
func (p *played) blocked() bool   { return p.setup.System == "calico" }
func (p *played) addressed() bool { return p.setup.Mode == "crd" }

// storyPace is how much faster than in clusters the minutes of single addresses pass.
const storyPace = 60

func (p *played) lead() {
	if p.blocked() {
		c, err := kube.NewCalicoController(kube.CalicoControllerConfig{Client: p.client, Grace: calico.DefaultGrace, Pace: storyPace})
		must(p.t, err)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		p.leader, p.stop = c, sync.OnceFunc(func() { cancel(); must(p.t, <-ended) })
		p.t.Cleanup(p.stop)
		return
	}
	if p.addressed() {
		p.leader, p.stop = operator(p.t, kube.OperatorConfig{Client: p.client, Pace: storyPace, Release: cilium.OperatorConfig{ReleaseExcessIPs: true},
			Addresses: kube.NewAddressBook(kube.AddressBookConfig{Client: p.client, Namespace: "kube-system", Ranges: []netip.Prefix{p.setup.Range}})})
		return
	}
	spec := cilium.PoolSpec{IPv4: []netip.Prefix{p.setup.Range}, MaskSize4: p.setup.Block}
	p.leader, p.stop = operator(p.t, kube.OperatorConfig{Client: p.client, Requested: p.requested(), New: func() (cilium.Pools, error) {
		if !p.requested() {
			return cilium.NewClusterPools(cilium.ClusterPoolConfig{IPv4: spec.IPv4, MaskSize4: spec.MaskSize4})
		}
		o, err := cilium.NewPoolOperator(cilium.PoolOperatorConfig{})
		if err != nil {
			return nil, err
		}
		return o, o.UpsertPool(cilium.DefaultPool, spec)
	}})
}

// Replace implements systemtest.Cluster.
func (p *played) Replace() {
	p.stop()
	p.lead()
}

// Extend implements systemtest.Cluster: an operator is started anew with other ranges.
func (p *played) Extend(netip.Prefix) { p.t.Fatal("an operator's ranges are fixed") }

// Join implements systemtest.Cluster.
func (p *played) Join(name string) {
	p.server.addNode(name)
	n := &playedNode{played: p, name: name}
	p.nodes[name] = n
	n.start(nil)
}

// Leave implements systemtest.Cluster.
func (p *played) Leave(name string) {
	p.nodes[name].end()
	delete(p.nodes, name)
	p.server.deleteNode(name)
	p.server.drop("poolnodes", "", name) // as the garbage collector does
	p.server.drop("ciliumnodes", "", name)
}

// Restart implements systemtest.Cluster.
func (p *played) Restart(name string) {
	n := p.nodes[name]
	n.end()
	n.start(n.alloc.Records())
}

// Pods implements systemtest.Cluster.
func (p *played) Pods(name string, n int) { p.nodes[name].do(func(n2 *playedNode) { n2.wanted = n }) }

// State implements systemtest.Cluster.
func (p *played) State() map[string]systemtest.Node {
	nodes := map[string]systemtest.Node{}
	for name, n := range p.nodes {
		n.mu.Lock()
		s := systemtest.Node{Pods: n.alloc.Len(), Shown: p.shown(name)}
		for _, b := range n.alloc.Blocks() {
			s.Held = append(s.Held, b.Prefix)
		}
		n.mu.Unlock()
		nodes[name] = s
	}
	return nodes
}

// shown are the blocks that the server says a node has.
func (p *played) shown(name string) (list []netip.Prefix) {
	if p.addressed() {
		var book cilium.AddressBook
		if o := p.server.Get("configmaps", "kube-system", kube.AddressBookName); o != nil {
			must(p.t, json.Unmarshal([]byte(o["data"].(map[string]any)[kube.AddressBookKey].(string)), &book))
		}
		for _, a := range book.Of(name) {
			list = append(list, netip.PrefixFrom(a, a.BitLen()))
		}
		return list
	}
	if p.blocked() {
		for _, o := range p.server.All("ipamblocks") {
			block, err := kube.ReadBlock(o)
			must(p.t, err)
			for i, h := range block.Hosts {
				if calico.NodeOf(h) == name {
					list = append(list, netip.PrefixFrom(block.Addr(i), block.Addr(i).BitLen()))
				}
			}
		}
		return list
	}
	texts := p.server.nodes()[name].Spec.PodCIDRs
	if p.requested() {
		texts = nil
		var n cilium.CiliumNode
		if o := p.server.Get("poolnodes", "", name); o != nil {
			must(p.t, json.Unmarshal(encode(o), &n))
		}
		for _, a := range n.Spec.IPAM.Pools.Allocated {
			list = append(list, a.CIDRs...)
		}
	}
	for _, text := range texts {
		b, err := space.ParsePrefix(text)
		must(p.t, err)
		list = append(list, b)
	}
	return list
}

// Await implements systemtest.Cluster.
func (p *played) Await(done func() bool) {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && !done(); {
		time.Sleep(20 * time.Millisecond)
	}
}

// playedNode is a node with an agent as far as blocks are concerned: it takes those that it is told, and gives pods
// addresses.
type playedNode struct {
	*played
	name   string
	mu     sync.Mutex
	alloc  playedAllocator
	r      *kube.Requester
	single *kube.AddressRequester
	calico *kube.CalicoHost
	// cni is asked for each pod, once at a time: asked.
	cni    kube.CNI
	asked  map[int]bool
	ctx    context.Context
	wanted int
	end    func()
}

// playedAllocator is what a node's pods have their addresses of.
type playedAllocator interface {
	ipam.NodeAllocator
	Records() []ipam.Record
	Len() int
}

// start begins a life of the node's agent, whose journal says records.
func (n *playedNode) start(records []ipam.Record) {
	blocks, err := cilium.NewNode(cilium.NodeConfig{Pick: firstPick{}, FirstRouter: true, Keep: agent.KeptForNAT})
	must(n.t, err)
	single, err := cilium.NewExpiringNode(firstPick{}, netip.MustParseAddr("169.254.1.1"))
	must(n.t, err)
	var alloc playedAllocator = blocks
	if n.addressed() {
		alloc = single
	}
	byBlocks := calico.NewNode(ipam.PoolOf(n.setup.Range.Addr()))
	if n.blocked() {
		alloc = byBlocks
	}
	_, err = ipam.Replay(alloc, records)
	must(n.t, err)
	n.mu.Lock()
	n.alloc, n.r, n.single, n.calico, n.asked = alloc, nil, nil, nil, map[int]bool{}
	if n.blocked() {
		n.calico = kube.NewCalicoHost(kube.CalicoConfig{Client: n.client, Node: n.name, Alloc: byBlocks, Pace: storyPace})
		n.cni = n.calico.Agent(asking{n})
	}
	if n.requested() {
		n.r = kube.NewRequester(kube.RequesterConfig{Client: n.client, Node: n.name, Alloc: blocks, PreAllocate: n.setup.PreAllocate})
	}
	if n.addressed() {
		n.single, err = kube.NewAddressRequester(kube.AddressRequesterConfig{Client: n.client, Pace: storyPace, Agent: cilium.AddressAgentConfig{Node: n.name, Alloc: single,
			Mode: n.setup.Mode, PodCIDR: n.setup.Range, Watermarks: cilium.Watermarks{PreAllocate: n.setup.PreAllocate}, Pick: firstPick{}}})
		must(n.t, err)
	}
	n.mu.Unlock()
	var f host.Cluster = kube.NewFacts(kube.FactsConfig{Client: n.client, Node: n.name})
	if n.r != nil {
		f = n.r.Cluster(f)
	}
	if n.single != nil {
		f = n.single.Cluster(f)
	}
	if n.calico != nil {
		f = n.calico.Cluster(f)
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.ctx = ctx
	var watch sync.WaitGroup
	watch.Go(func() {
		f.Watch(ctx, func(ev agent.Event) {
			if seen, ok := ev.(agent.NodeSeen); ok && seen.Name == n.name {
				n.do(func(n *playedNode) {
					if _, err := n.alloc.SetBlocks(time.Now(), seen.PodCIDRs); err != nil {
						n.t.Error(err)
					}
				})
			}
		})
	})
	if n.single != nil {
		watch.Go(func() {
			n.single.Run(ctx, func(_ context.Context, look func(kube.Holder)) error {
				n.mu.Lock()
				defer n.mu.Unlock()
				look(n)
				return nil
			})
		})
	}
	if n.calico != nil {
		watch.Go(func() {
			n.calico.Run(ctx, func(_ context.Context, look func(kube.Holder)) error {
				n.mu.Lock()
				defer n.mu.Unlock()
				look(n)
				return nil
			})
		})
	}
	n.end = sync.OnceFunc(func() { cancel(); watch.Wait() })
	n.t.Cleanup(n.end)
	n.do(func(*playedNode) {})
}

// do has something happen to the node's agent, lets its pods come and go, and has the requester see the step.
func (n *playedNode) do(change func(*playedNode)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(n)
	var effects []agent.Effect
	for k := range n.wanted {
		if n.calico != nil {
			n.ask(k)
			continue
		}
		if _, _, err := n.alloc.Allocate(time.Now(), owner(k), ipam.Want{}); err != nil {
			effects = append(effects, agent.Answer{Exhausted: true})
			break
		}
	}
	for k := n.wanted; n.alloc.Len() > n.wanted; k++ {
		n.alloc.Release(time.Now(), owner(k))
	}
	if n.r != nil {
		n.r.Stepped(time.Now(), n, effects)
	}
	if n.single != nil {
		n.single.Stepped(effects)
	}
	if n.calico != nil {
		n.calico.Stepped()
	}
}

// ask makes an ADD for a pod without an address, and again until it has one.
func (n *playedNode) ask(k int) {
	if _, has := n.alloc.Lease(owner(k)); has || n.asked[k] {
		return
	}
	n.asked[k] = true
	ctx, cni := n.ctx, n.cni
	go func() {
		_, _ = cni.Request(ctx, func(number uint64) agent.Event {
			return agent.PodAdd{Request: number, Sandbox: agent.Sandbox{Owner: owner(k), PodNamespace: "default", PodName: fmt.Sprintf("%s-%d", n.name, k)}}
		})
		if ctx.Err() == nil {
			n.do(func(n *playedNode) { n.asked[k] = false })
		}
	}()
}

// asking is a node's agent as CNI requests reach it.
type asking struct{ n *playedNode }

// Request implements kube.CNI.
func (a asking) Request(_ context.Context, event func(uint64) agent.Event) (agent.Answer, error) {
	a.n.mu.Lock()
	defer a.n.mu.Unlock()
	_, _, err := a.n.alloc.Allocate(time.Now(), event(1).(agent.PodAdd).Sandbox.Owner, ipam.Want{})
	return agent.Answer{Exhausted: err != nil}, nil
}

// Time, Idle and Ranges implement kube.Stepper.
func (*playedNode) Time(now time.Time) time.Time { return now }

// Blocks implements kube.Holder.
func (n *playedNode) Blocks() []ipam.Block { return n.alloc.Blocks() }

// Idle implements kube.Stepper and kube.Holder.
func (*playedNode) Idle() bool { return true }

// Ranges implements kube.Stepper.
func (n *playedNode) Ranges() (contiv.Plan, bool) { return contiv.Plan{PodSubnet: n.setup.Range}, true }
