package etcd

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/policy"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// watch starts a node's view of the cluster.
func watch(t *testing.T, c *Client, node string) (*Cluster, told) {
	t.Helper()
	l := listen()
	f := c.Cluster(node)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { f.Watch(ctx, l.tell); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	return f, l
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
func expect(t *testing.T, l told, want ...agent.Event) {
	t.Helper()
	for _, w := range want {
		if d := cmp.Diff(w, l.next(t), cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}), cmp.Comparer(agedList)); d != "" {
			t.Fatalf("(-want +told):\n%s", d)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Goal: an agent hears of everything that exists, then of every change; a list that is asked for comes; a node that
// comes again under another UID was gone in between.
func TestCluster(t *testing.T) {
	c := client(t, member(t), "")
	ctx := t.Context()
	one := Node{UID: "1", Addresses: []netip.Addr{netip.MustParseAddr("10.20.0.1")}, PodCIDRs: []netip.Prefix{netip.MustParsePrefix("10.9.0.0/24")}}
	must(t, c.PutNode(ctx, "node-1", one))
	must(t, c.RegisterNode(ctx, "node-1", Node{UID: "other"})) // there is one
	must(t, c.RegisterNode(ctx, "node-2", Node{UID: "2"}))
	must(t, c.PutPod(ctx, "node-1", "pod-uid"))
	must(t, c.PutPod(ctx, "node-11", "not-ours"))
	f, l := watch(t, c, "node-1")
	seen1 := agent.NodeSeen{Name: "node-1", UID: "1", Addresses: one.Addresses, PodCIDRs: one.PodCIDRs}
	seen2 := agent.NodeSeen{Name: "node-2", UID: "2"}
	expect(t, l, seen1, seen2, host.NodesListed{}, agent.PodsListed{UIDs: []string{"pod-uid"}}, agent.ServicesListed{}, agent.EndpointsListed{}, agent.SelectablesListed{}, noPods, noNamespaces)

	ipam := contiv.IPAMConfig{PodSubnetCIDR: "10.3.0.0/16", NodeInterconnectCIDR: "192.168.16.0/24"}
	must(t, c.PutPools(ctx, agent.PublishedPools{Generation: 3, IPAMConfig: ipam}))
	cfg := agent.Config{IPAMConfig: ipam}
	pools, _, err := cfg.Pools()
	must(t, err)
	pools.Generation = 3
	expect(t, l, agent.PoolsChanged{Pools: pools})
	must(t, c.DeleteNode(ctx, "node-2"))
	expect(t, l, agent.NodeGone{Name: "node-2", UID: "2"})
	must(t, c.PutNode(ctx, "node-1", Node{UID: "1b"}))
	expect(t, l, agent.NodeGone{Name: "node-1", UID: "1"}, agent.NodeSeen{Name: "node-1", UID: "1b"})

	must(t, c.DeletePod(ctx, "node-1", "pod-uid"))
	f.Relist()
	expect(t, l, agent.NodeSeen{Name: "node-1", UID: "1b"}, host.NodesListed{}, agent.PodsListed{}, agent.PoolsChanged{Pools: pools}, agent.ServicesListed{}, agent.EndpointsListed{}, agent.SelectablesListed{}, noPods, noNamespaces)
}

// noPods and noNamespaces say that network policies could select none.
var noPods, noNamespaces = agent.SelectablesListed{Kind: policy.Pods}, agent.SelectablesListed{Kind: policy.Namespaces}

// Goal: an agent hears of policies, pods and namespaces that exist, of changes, and of what is gone; a policy that cannot be read closes.
func TestSelectables(t *testing.T) {
	c := client(t, member(t), "")
	ctx := t.Context()
	n, ns := policy.Name{Namespace: "default", Name: "web"}, policy.Name{Name: "default"}
	p := policy.Policy{Name: n, Ingress: true, IngressRules: []policy.Rule{{Peers: []policy.Peer{{Pods: &policy.Selector{}, Block: netip.Prefix{}}}, Ports: []policy.Port{}}}}
	pod, space := policy.Pod{Name: n, Labels: map[string]string{"app": "web"}, Addrs: []netip.Addr{netip.MustParseAddr("10.1.1.2")}}, policy.Namespace{Name: "default"}
	must(t, c.PutPolicy(ctx, p))
	must(t, c.PutPeer(ctx, pod))
	must(t, c.PutNamespace(ctx, space))
	_, l := watch(t, c, "node-1")
	expect(t, l, host.NodesListed{}, agent.PodsListed{}, agent.ServicesListed{}, agent.EndpointsListed{},
		agent.PolicySeen{Policy: p}, agent.SelectablesListed{Names: []policy.Name{n}}, agent.PeerSeen{Pod: pod}, agent.SelectablesListed{Kind: policy.Pods, Names: []policy.Name{n}},
		agent.NamespaceSeen{Namespace: space}, agent.SelectablesListed{Kind: policy.Namespaces, Names: []policy.Name{ns}})
	_, err := c.etcd.Put(ctx, c.prefix+policiesKey+n.String(), "{")
	must(t, err)
	expect(t, l, agent.PolicySeen{Policy: policy.Policy{Name: n, Ingress: true, Egress: true}})
	for _, k := range []policy.Kind{policy.Policies, policy.Pods} {
		must(t, c.DeleteSelectable(ctx, k, n))
		expect(t, l, agent.SelectableGone{Kind: k, Name: n})
	}
	must(t, c.DeleteSelectable(ctx, policy.Namespaces, ns))
	expect(t, l, agent.SelectableGone{Kind: policy.Namespaces, Name: ns})
}

// Goal: a node that cannot be read exists all the same, so that nobody takes its ID or routes away.
func TestUnreadableNode(t *testing.T) {
	c := client(t, member(t), "")
	ctx := t.Context()
	broken := func(name string) {
		_, err := c.etcd.Put(ctx, c.prefix+nodesKey+name, "{")
		must(t, err)
	}
	must(t, c.PutNode(ctx, "node-1", Node{UID: "1"}))
	f, l := watch(t, c, "node-1")
	seen := agent.NodeSeen{Name: "node-1", UID: "1"}
	expect(t, l, seen, host.NodesListed{}, agent.PodsListed{}, agent.ServicesListed{}, agent.EndpointsListed{}, agent.SelectablesListed{}, noPods, noNamespaces)
	broken("node-1")
	expect(t, l, seen)
	f.Relist()
	expect(t, l, seen, host.NodesListed{}, agent.PodsListed{}, agent.ServicesListed{}, agent.EndpointsListed{}, agent.SelectablesListed{}, noPods, noNamespaces)
	broken("node-2") // of which nothing was known: the list has no end
	f.Relist()
	expect(t, l, seen, agent.PodsListed{}, agent.ServicesListed{}, agent.EndpointsListed{}, agent.SelectablesListed{}, noPods, noNamespaces)
	must(t, c.DeleteNode(ctx, "node-2"))
	expect(t, l, agent.NodeGone{Name: "node-2"})
}

// Goal: an agent hears of services and slices that exist, of changes, and of what is gone or cannot be read any more.
func TestServices(t *testing.T) {
	c := client(t, member(t), "")
	ctx := t.Context()
	n := service.Name{Namespace: "default", Name: "web"}
	s := service.Service{Name: n, ClusterIPs: []netip.Addr{netip.MustParseAddr("10.96.0.10")}, Ports: []service.Port{{Proto: vppwire.TCP, Port: 80}}}
	slice := service.Slice{Name: n, Service: "web", Ports: []service.SlicePort{{Proto: vppwire.TCP, Port: 8080}},
		Endpoints: []service.Endpoint{{Addr: netip.MustParseAddr("10.1.1.2"), Node: "node-1", Ready: true}}}
	must(t, c.PutService(ctx, s))
	must(t, c.PutSlice(ctx, slice))
	_, l := watch(t, c, "node-1")
	expect(t, l, host.NodesListed{}, agent.PodsListed{}, agent.ServiceSeen{Service: s}, agent.ServicesListed{Names: []service.Name{n}}, agent.EndpointsSeen{Slice: slice}, agent.EndpointsListed{Names: []service.Name{n}}, agent.SelectablesListed{}, noPods, noNamespaces)
	slice.Endpoints = nil
	must(t, c.PutSlice(ctx, slice))
	expect(t, l, agent.EndpointsSeen{Slice: slice})
	must(t, c.DeleteSlice(ctx, n))
	expect(t, l, agent.EndpointsGone{Name: n})
	_, err := c.etcd.Put(ctx, c.prefix+servicesKey+n.String(), "{")
	must(t, err)
	expect(t, l, agent.ServiceGone{Name: n})
	must(t, c.PutService(ctx, s))
	expect(t, l, agent.ServiceSeen{Service: s})
	must(t, c.DeleteService(ctx, n))
	expect(t, l, agent.ServiceGone{Name: n})
}

// Goal: what a writer may get wrong is refused, with the name of what is wrong.
func TestBadFacts(t *testing.T) {
	for _, value := range []string{"", "{}", `{"uid":""}`, `{"uid":1}`, `{"uid":"u","addresses":["x"]}`, `{"uid":"u","addresses":[""]}`,
		`{"uid":"u","addresses":["fe80::1%eth0"]}`, `{"uid":"u","podCIDRs":[""]}`} {
		if n, err := parseNode("n", []byte(value)); err == nil {
			t.Errorf("node %s: %+v", value, n)
		}
	}
	for _, value := range []string{"", "{}", `{"generation":1}`, `{"generation":0,"ipamConfig":{"podSubnetCIDR":"10.1.0.0/16"}}`,
		`{"generation":1,"ipamConfig":{"podSubnetCIDR":"10.1.0.0/33"}}`} {
		if p, err := agent.ParsePools([]byte(value)); err == nil {
			t.Errorf("pools %s: %+v", value, p)
		}
	}
}

// Goal: hundreds of nodes are told once each, in one list.
func TestMany(t *testing.T) {
	c := client(t, member(t), "")
	var names []string
	for n := range 120 {
		name := fmt.Sprintf("node-%03d", n)
		names = append(names, name)
		must(t, c.PutNode(t.Context(), name, Node{UID: name}))
	}
	_, l := watch(t, c, "node-1")
	var told []string
	for {
		ev, ok := l.next(t).(agent.NodeSeen)
		if !ok {
			break
		}
		told = append(told, ev.Name)
	}
	if !slices.Equal(told, names) {
		t.Fatalf("%d of %d", len(told), len(names))
	}
}

// FuzzFacts: whatever stands in etcd is read or refused.
func FuzzFacts(f *testing.F) {
	f.Add([]byte(`{"uid":"u","addresses":["10.0.0.1"],"podCIDRs":["10.1.0.0/24"]}`))
	f.Add([]byte(`{"generation":1,"ipamConfig":{"podSubnetCIDR":"10.1.0.0/16","nodeInterconnectCIDR":"192.168.16.0/24"}}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		if n, err := parseNode("n", value); err == nil {
			_ = n.AppendText(nil)
		}
		if p, err := agent.ParsePools(value); err == nil {
			_ = agent.PoolsChanged{Pools: p}.AppendText(nil)
		}
	})
}
