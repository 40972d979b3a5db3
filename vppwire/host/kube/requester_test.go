package kube_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

type firstPick struct{}

func (firstPick) Pick(string, int) int { return 0 }

// tenant is an agent as far as pools are concerned: it takes the blocks that it is told, and gives pods addresses.
type tenant struct {
	mu    sync.Mutex
	alloc *cilium.Node
	r     *kube.Requester
	pods  int
	plan  contiv.Plan
}

func (*tenant) Time(now time.Time) time.Time { return now }
func (*tenant) Idle() bool                   { return true }

// Ranges implements kube.Stepper: none are known while there is no pod subnet.
func (n *tenant) Ranges() (contiv.Plan, bool) { return n.plan, n.plan.PodSubnet.IsValid() }

// do changes the tenant and has the requester see the step.
func (n *tenant) do(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
	n.r.Stepped(time.Now(), n, nil)
}

func owner(k int) ipam.Owner {
	return ipam.Owner{Network: "k8s", ContainerID: fmt.Sprint("pod-", k), IfName: "eth0"}
}

// add gives one more pod an address; false where there is none.
func (n *tenant) add() (ok bool) {
	n.do(func() {
		_, _, err := n.alloc.Allocate(time.Now(), owner(n.pods), ipam.Want{})
		if ok = err == nil; ok {
			n.pods++
		}
	})
	return ok
}

// Goal: a node gets blocks as its pods come, and they go again with the pods but for what is kept ready; what it was
// told last it is told again after a restart of its agent, and never nothing in between; of its pods' family, and none
// before that is known. Method: operator and requester at one server, pods by hand.
func TestRequester(t *testing.T) {
	for name, plan := range map[string]contiv.Plan{
		"IPv4": {PodSubnet: netip.MustParsePrefix("10.0.0.0/16")},
		"IPv6": {PodSubnet: netip.MustParsePrefix("fd00::/64")},
	} {
		t.Run(name, func(t *testing.T) { testRequester(t, plan) })
	}
}

func testRequester(t *testing.T, plan contiv.Plan) {
	s := newServer(t)
	client, _ := s.dial(t)
	operate(t, kube.OperatorConfig{Client: client, New: multiPool(3), Requested: true})
	alloc, err := cilium.NewNode(cilium.NodeConfig{Pick: firstPick{}, FirstRouter: true})
	must(t, err)
	n := &tenant{alloc: alloc}
	var told [][]netip.Prefix
	// start is a life of the agent, which ends with end.
	start := func() (end func()) {
		n.mu.Lock()
		n.r, told = kube.NewRequester(kube.RequesterConfig{Client: client, Node: "n", Alloc: alloc, PreAllocate: 8}), nil
		n.mu.Unlock()
		f := n.r.Cluster(kube.NewFacts(kube.FactsConfig{Client: client, Node: "n"}))
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			f.Watch(ctx, func(ev agent.Event) {
				seen, ok := ev.(agent.NodeSeen)
				if !ok {
					return
				}
				n.do(func() {
					told = append(told, seen.PodCIDRs)
					if _, err := alloc.SetBlocks(time.Now(), seen.PodCIDRs); err != nil {
						t.Error(err)
					}
				})
			})
		}()
		n.do(func() {})
		end = sync.OnceFunc(func() { cancel(); <-ended })
		t.Cleanup(end)
		return end
	}
	end := start()
	n.do(func() { n.plan = plan })
	// somebody else's
	s.addNode("n", func(n *v1.Node) { n.Spec.PodCIDR, n.Spec.PodCIDRs = "10.9.0.0/24", []string{"10.9.0.0/24"} })
	// 16 addresses of 14 each
	until(t, func() bool { return len(s.allocated("n")) == 2 }, func() string { return fmt.Sprint(s.allocated("n")) })
	for range 20 {
		until(t, func() bool { return n.add() }, func() string { return fmt.Sprintf("pod %d found no address of %v", n.pods, s.allocated("n")) })
	}
	until(t, func() bool { return len(s.allocated("n")) >= 3 }, func() string { return fmt.Sprint(s.allocated("n")) })
	had := s.allocated("n")
	for _, text := range had {
		if !plan.PodSubnet.Overlaps(netip.MustParsePrefix(text)) {
			t.Errorf("it has %s", text)
		}
	}
	end()
	start()
	until(t, func() bool { n.mu.Lock(); defer n.mu.Unlock(); return len(told) > 0 }, func() string { return "not told" })
	n.mu.Lock()
	for _, blocks := range told {
		if len(blocks) < len(had)-1 {
			t.Errorf("the agent was told %v, and has %v", blocks, had)
		}
	}
	n.mu.Unlock()
	n.do(func() {
		for k := range n.pods {
			alloc.Release(time.Now(), owner(k))
		}
	})
	until(t, func() bool { return len(s.allocated("n")) == 2 }, func() string { return fmt.Sprint("without pods it keeps ", s.allocated("n")) })
	if slices.Contains(s.allocated("n"), "10.9.0.0/24") {
		t.Error("another's pod CIDR is its own")
	}
}

// Goal: a node that came anew under its old name takes no block of its former life, whose object the garbage collector
// has not found yet; once that has gone, it makes its own. Method: the former life's object, which shows blocks, beside
// another Node of that name.
func TestFormerLife(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	operate(t, kube.OperatorConfig{Client: client, New: multiPool(3), Requested: true})
	alloc, err := cilium.NewNode(cilium.NodeConfig{Pick: firstPick{}, FirstRouter: true})
	must(t, err)
	s.addNode("n", func(*v1.Node) {})
	former := map[string]any{"apiVersion": kube.Group + "/" + kube.RecordVersion, "kind": kube.PoolNodeKind,
		"metadata": map[string]any{"name": "n", "ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "former"}}},
		"spec":     map[string]any{"ipam": map[string]any{"pools": map[string]any{"allocated": []any{map[string]any{"pool": "default", "cidrs": []any{"10.0.9.0/28"}}}}}}}
	s.Put(kube.PoolNodeResource, former)
	n := &tenant{alloc: alloc, plan: contiv.Plan{PodSubnet: netip.MustParsePrefix("10.0.0.0/16")}}
	n.r = kube.NewRequester(kube.RequesterConfig{Client: client, Node: "n", Alloc: alloc, PreAllocate: 8})
	f := n.r.Cluster(kube.NewFacts(kube.FactsConfig{Client: client, Node: "n"}))
	ctx, cancel := context.WithCancel(t.Context())
	var told [][]netip.Prefix
	seen := func() int { n.mu.Lock(); defer n.mu.Unlock(); return len(told) }
	var watch sync.WaitGroup
	watch.Go(func() {
		f.Watch(ctx, func(ev agent.Event) {
			if seen, ok := ev.(agent.NodeSeen); ok {
				n.mu.Lock()
				told = append(told, seen.PodCIDRs)
				n.mu.Unlock()
			}
		})
	})
	t.Cleanup(cancel)
	n.do(func() {})
	until(t, func() bool { return seen() > 0 }, func() string { return "the agent heard nothing of its node" })
	s.Remove(kube.PoolNodeResource, "", "n")
	until(t, func() bool { n.mu.Lock(); defer n.mu.Unlock(); return len(told[len(told)-1]) > 0 }, func() string { return fmt.Sprint("told ", told) })
	cancel()
	watch.Wait()
	for _, blocks := range told {
		if slices.Contains(blocks, netip.MustParsePrefix("10.0.9.0/28")) {
			t.Errorf("the agent was told %v", blocks)
		}
	}
}
