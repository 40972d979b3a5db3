package kube_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
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

// agedList: a list was asked for before it was told, and not long ago.
func agedList(a, b host.NodesListed) bool {
	if a.Asked.IsZero() {
		a = b
	}
	age := time.Since(a.Asked)
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

// Goal: an agent hears of every node, then that these were all, then of its own pods; of changes that matter to it and
// no others; of a node that came again as of another one; and after a gap, or when it asks, of everything again.
func TestFacts(t *testing.T) {
	for _, streams := range []bool{true, false} {
		t.Run(fmt.Sprintf("streams=%t", streams), func(t *testing.T) { facts(t, streams) })
	}
}

func facts(t *testing.T, streams bool) {
	s := newServer(t)
	s.Lists = !streams
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
	all := []agent.Event{seen("node-1", "one", block), seen("node-2", "two"), host.NodesListed{}, agent.PodsListed{UIDs: []string{"uid-of-a", "uid-of-b"}}}
	h.expect(t, all...)

	until(t, s.watched, func() string { return "nobody watches" })
	s.addNode("node-2", func(n *v1.Node) { // a heartbeat
		n.Status.Addresses = []v1.NodeAddress{{Type: v1.NodeInternalIP, Address: "192.168.0.7"}}
		n.Status.Phase = "anything"
	})
	node("node-3", "three")
	h.expect(t, seen("node-3", "three"))
	s.addNode("node-3", func(n *v1.Node) { n.Labels = map[string]string{v1.LabelTopologyZone: "b"} })
	moved := seen("node-3", "three") // and has no address any more
	moved.Zone, moved.Addresses = "b", nil
	h.expect(t, moved)
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

// Goal: the ranges come from the one IPAMConfig that was named, each change of it under the object's next generation
// and nothing else as one; what cannot be is left alone and told as an event, and so is an object that was made anew
// without a higher generation. Method: the same as with the ConfigMap, by what is told and by events.
func TestIPAMConfig(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	put := func(name, subnet string, generation int) {
		spec := map[string]any{"podSubnetCIDR": subnet, "nodeInterconnectCIDR": "192.168.16.0/24"}
		if generation > 0 {
			spec["generation"] = generation
		}
		s.put(kube.IPAMConfigResource, map[string]any{"apiVersion": kube.Group + "/" + kube.RecordVersion, "kind": "IPAMConfig", "metadata": map[string]any{"name": name}, "spec": spec})
	}
	put("ranges", "10.3.0.0/16", 0)
	put("others", "10.9.0.0/16", 9)
	refused := make(chan string, 10)
	_, h := watch(t, kube.FactsConfig{Client: client, Node: "node-1", PoolsName: "ranges", Events: func(l agent.Log) { refused <- l.Reason + ": " + l.Message }})
	ranges := func(generation int64, subnet string) {
		t.Helper()
		for {
			select {
			case ev := <-h:
				if p, ok := ev.(agent.PoolsChanged); ok {
					if p.Pools.Generation != generation || p.Pools.PodSubnet != netip.MustParsePrefix(subnet) {
						t.Fatalf("told %+v, want generation %d of %s", p, generation, subnet)
					}
					return
				}
			case <-time.After(90 * time.Second):
				t.Fatalf("generation %d is not told", generation)
			}
		}
	}
	refusal := func(parts ...string) {
		t.Helper()
		select {
		case got := <-refused:
			for _, part := range parts {
				if !strings.Contains(got, part) {
					t.Errorf("refused with %q, want %q in it", got, part)
				}
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("not refused: %q", parts)
		}
	}
	ranges(1, "10.3.0.0/16")
	until(t, s.watched, func() string { return "nobody watches" })
	put("ranges", "10.4.0.0/16", 0)
	ranges(2, "10.4.0.0/16")
	put("ranges", "10.4.0.0/33", 0)
	refusal(kube.ReasonRangesRefused+": IPAMConfig ranges", "10.4.0.0/33")
	put("ranges", "10.5.0.0/16", 0)
	ranges(4, "10.5.0.0/16")
	s.Remove(kube.IPAMConfigResource, "", "ranges")
	put("ranges", "10.6.0.0/16", 0)
	refusal("generation 1 is below 4", "set generation to 5")
	put("ranges", "10.6.0.0/16", 5)
	ranges(5, "10.6.0.0/16")
}
