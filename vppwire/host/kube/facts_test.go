package kube_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

var _ host.Cluster = (*kube.Facts)(nil)

// heard is what an agent was told.
type heard chan agent.Event

// watch starts an agent's view of the cluster.
func watch(t *testing.T, cfg kube.FactsConfig) (*kube.Facts, heard) {
	f, h := kube.NewFacts(cfg), make(heard, 100)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { f.Watch(ctx, func(ev agent.Event) { h <- ev }); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	return f, h
}

// agedList: a list is as old as its answer took, which is neither nothing nor for ever.
func agedList(a, b agent.NodesListed) bool {
	age := max(a.Age, b.Age)
	return age > 0 && age < time.Minute
}

// expect compares what is told next, in order.
func (h heard) expect(t *testing.T, want ...agent.Event) {
	t.Helper()
	for _, w := range want {
		select {
		case ev := <-h:
			if d := cmp.Diff(w, ev, cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}), cmp.Comparer(agedList)); d != "" {
				t.Fatalf("(-want +told):\n%s", d)
			}
		case <-time.After(90 * time.Second):
			t.Fatalf("not told: %+v", w)
		}
	}
}

func pod(name, node string) v1.Pod {
	return v1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-of-" + name)}, Spec: v1.PodSpec{NodeName: node}}
}

func pools(text string) v1.ConfigMap {
	return v1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "ranges"}, Data: map[string]string{kube.PoolsKey: text}}
}

// Goal: an agent hears of every node, then that these were all, then of its own pods; of changes that matter to it and no others; of
// a node that came again as of another one; and after a gap, or when it asks, of everything again.
func TestFacts(t *testing.T) {
	for _, streams := range []bool{true, false} {
		t.Run(fmt.Sprintf("streams=%t", streams), func(t *testing.T) { facts(t, streams) })
	}
}

func facts(t *testing.T, streams bool) {
	s := newServer(t)
	s.streams = streams
	client, _ := s.dial(t)
	node := func(name, uid string, cidrs ...string) {
		s.addNode(name, func(n *v1.Node) {
			n.UID, n.Spec.PodCIDRs = types.UID(uid), cidrs
			n.Status.Addresses = []v1.NodeAddress{{Type: v1.NodeHostName, Address: name}, {Type: v1.NodeInternalIP, Address: "192.168.0.7"},
				{Type: v1.NodeExternalIP, Address: "not yet known"}}
		})
	}
	seen := func(name, uid string, cidrs ...netip.Prefix) agent.NodeSeen {
		return agent.NodeSeen{Name: name, UID: uid, PodCIDRs: cidrs, Addresses: []netip.Addr{netip.MustParseAddr("192.168.0.7")}}
	}
	block := netip.MustParsePrefix("10.0.1.0/24")
	node("node-2", "two")
	node("node-1", "one", "10.0.1.0/24")
	labelled := map[string]string{kube.AgentLabel: kube.AgentNone}
	s.addNode("control", func(n *v1.Node) { n.Labels = labelled }) // runs no agent: nobody hears of it
	s.put("pods", pod("b", "node-1"))
	s.put("pods", pod("a", "node-1"))
	s.put("pods", pod("c", "node-2"))
	f, h := watch(t, kube.FactsConfig{Client: client, Node: "node-1"})
	all := []agent.Event{seen("node-1", "one", block), seen("node-2", "two"), agent.NodesListed{}, agent.PodsListed{UIDs: []string{"uid-of-a", "uid-of-b"}}}
	h.expect(t, all...)

	until(t, s.watched, func() string { return "nobody watches" })
	s.addNode("node-2", func(n *v1.Node) { // a heartbeat
		n.Status.Addresses = []v1.NodeAddress{{Type: v1.NodeInternalIP, Address: "192.168.0.7"}}
		n.Status.Phase = "anything"
	})
	node("node-3", "three")
	h.expect(t, seen("node-3", "three"))
	s.deleteNode("node-3")
	h.expect(t, agent.NodeGone{Name: "node-3", UID: "three"})
	node("node-4", "four")
	h.expect(t, seen("node-4", "four"))
	s.addNode("node-4", func(n *v1.Node) { n.UID, n.Labels = "four", labelled })
	h.expect(t, agent.NodeGone{Name: "node-4", UID: "four"})
	f.Relist()
	h.expect(t, all...)
	s.forget(func() { s.deleteNode("node-2"); node("node-2", "two again") })
	h.expect(t, all[0], agent.NodeGone{Name: "node-2", UID: "two"}, seen("node-2", "two again"), all[2], all[3])
}

// Goal: the ranges come from the one ConfigMap that was named; a text that cannot be read changes nothing.
func TestPools(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	const text = `{"generation":%d,"ipamConfig":{"podSubnetCIDR":"10.3.0.0/16","nodeInterconnectCIDR":"192.168.16.0/24"}}`
	s.put("configmaps", pools(fmt.Sprintf(text, 1)))
	other := pools(fmt.Sprintf(text, 9))
	other.Name = "others"
	s.put("configmaps", other)
	_, h := watch(t, kube.FactsConfig{Client: client, Node: "node-1", PoolsNamespace: "kube-system", PoolsName: "ranges"})
	generation := func(want int64) {
		t.Helper()
		for {
			select {
			case ev := <-h:
				if p, ok := ev.(agent.PoolsChanged); ok {
					if p.Pools.Generation != want || p.Pools.PodSubnet != netip.MustParsePrefix("10.3.0.0/16") {
						t.Fatalf("%+v", p)
					}
					return
				}
			case <-time.After(90 * time.Second):
				t.Fatalf("generation %d is not told", want)
			}
		}
	}
	generation(1)
	s.put("configmaps", pools("{"))
	s.put("configmaps", pools(fmt.Sprintf(text, 0)))
	s.put("configmaps", pools(`{"generation":2}`))
	s.put("configmaps", pools(fmt.Sprintf(text, 3)))
	generation(3)
}
