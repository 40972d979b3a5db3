package kube_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// clusterPool makes pools of four blocks of each family.
func clusterPool() (cilium.Pools, error) {
	return cilium.NewClusterPools(cilium.ClusterPoolConfig{IPv4: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/22")}, MaskSize4: 24,
		IPv6: []netip.Prefix{netip.MustParsePrefix("fd00::/62")}, MaskSize6: 64})
}

// multiPool makes a pool of so many blocks of 14 addresses of each family.
func multiPool(bits int) func() (cilium.Pools, error) {
	return func() (cilium.Pools, error) {
		p, err := cilium.NewPoolOperator(cilium.PoolOperatorConfig{})
		if err != nil {
			return nil, err
		}
		return p, p.UpsertPool(cilium.DefaultPool, cilium.PoolSpec{IPv4: []netip.Prefix{netip.PrefixFrom(netip.MustParseAddr("10.0.0.0"), 28-bits)}, MaskSize4: 28,
			IPv6: []netip.Prefix{netip.PrefixFrom(netip.MustParseAddr("fd00::"), 124-bits)}, MaskSize6: 124})
	}
}

// operate runs an operator until the test ends or stop is called.
func operate(t testing.TB, cfg kube.OperatorConfig) (stop func()) {
	t.Helper()
	_, stop = operator(t, cfg)
	return stop
}

// operator is operate with what it runs.
func operator(t testing.TB, cfg kube.OperatorConfig) (o *kube.Operator, stop func()) {
	t.Helper()
	o, err := kube.NewOperator(cfg)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- o.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return o, stop
}

// Goal: mode cluster-pool gives each Node object a pod CIDR of each family; the CIDRs of a node that went go to who
// waits, also when it went while no operator ran; what a node has it keeps from one operator to the next. Method: the
// life of a small cluster.
func TestClusterPool(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	for k := range 5 {
		s.addNode(fmt.Sprintf("node-%d", k))
	}
	stop := operate(t, kube.OperatorConfig{Client: client, New: clusterPool})
	until(t, func() bool { return len(s.without()) == 1 }, func() string { return fmt.Sprint(s.without()) })
	waiting := s.without()[0]
	before := s.nodes()
	for name, n := range before {
		if name != waiting && len(n.Spec.PodCIDRs) != 2 {
			t.Fatalf("%s: %v", name, n.Spec.PodCIDRs)
		}
	}
	until(t, func() bool {
		list, err := client.CoreV1().Events("").List(t.Context(), metav1.ListOptions{})
		must(t, err)
		return slices.ContainsFunc(list.Items, func(e v1.Event) bool { return e.Reason == "CIDRNotAvailable" && e.InvolvedObject.Name == waiting })
	}, func() string { return "no event" })
	stop()
	gone := "node-0"
	if waiting == gone {
		gone = "node-1"
	}
	s.deleteNode(gone)
	operate(t, kube.OperatorConfig{Client: client, New: clusterPool})
	s.served(t)
	for name, n := range s.nodes() {
		if had := before[name].Spec.PodCIDRs; len(had) > 0 && !slices.Equal(had, n.Spec.PodCIDRs) {
			t.Errorf("%s had %v, has %v", name, had, n.Spec.PodCIDRs)
		}
	}
	if got, want := s.nodes()[waiting].Spec.PodCIDRs, before[gone].Spec.PodCIDRs; !slices.Equal(got, want) {
		t.Errorf("%s has %v, want those of %s, %v", waiting, got, gone, want)
	}
}

// Goal: two operators that both lead never give one block to two nodes, whatever answers are lost: who cannot append to
// the ledger starts anew from it. Method: two without a lease, nodes that come, and every third write answered by
// nobody.
func TestTwoOperators(t *testing.T) {
	s := newServer(t)
	for range 2 {
		client, w := s.dial(t)
		var n atomic.Int32
		w.Set(func(r *http.Request) apiserver.Fate {
			if r.Method != http.MethodGet && n.Add(1)%3 == 0 {
				return apiserver.Mute
			}
			return apiserver.Pass
		})
		operate(t, kube.OperatorConfig{Client: client, New: clusterPool, RequestTimeout: 100 * time.Millisecond})
	}
	for k := range 4 {
		s.addNode(fmt.Sprintf("node-%d", k))
	}
	s.served(t)
}

// poolNode puts what a node asks for, and returns what it has.
func (s *server) poolNode(t testing.TB, name string, needed int, keep ...string) {
	t.Helper()
	n := &cilium.CiliumNode{Metadata: cilium.ObjectMeta{Name: name}}
	n.Spec.IPAM.Pools.Requested = []cilium.PoolRequest{{Pool: cilium.DefaultPool, Needed: cilium.PoolDemand{IPv4Addrs: needed}}}
	if len(keep) > 0 {
		a := cilium.PoolAllocation{Pool: cilium.DefaultPool}
		for _, text := range keep {
			a.CIDRs = append(a.CIDRs, netip.MustParsePrefix(text))
		}
		n.Spec.IPAM.Pools.Allocated = []cilium.PoolAllocation{a}
	}
	o := decode([]byte(n.String()))
	o["kind"], o["apiVersion"] = "PoolNode", kube.Group+"/"+kube.RecordVersion
	s.put("poolnodes", o)
}

// allocated are the CIDRs that a node shows.
func (s *server) allocated(name string) (list []string) {
	o := s.Get("poolnodes", "", name)
	if o == nil {
		return nil
	}
	var n cilium.CiliumNode
	if err := json.Unmarshal(encode(o), &n); err != nil {
		panic(err)
	}
	for _, a := range n.Spec.IPAM.Pools.Allocated {
		for _, p := range a.CIDRs {
			list = append(list, p.String())
		}
	}
	return list
}

// Goal: mode multi-pool gives as many blocks as a node asks for addresses, takes back what it gives back, and gives
// that to others; an object that cannot be read keeps what it has. Method: nodes that ask by hand, three blocks in all
// and more asked for.
func TestMultiPool(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	stop := operate(t, kube.OperatorConfig{Client: client, New: multiPool(2), Requested: true})
	s.poolNode(t, "a", 20)
	has := func(name string, n int) {
		t.Helper()
		until(t, func() bool { return len(s.allocated(name)) == n }, func() string { return fmt.Sprint(name, " has ", s.allocated(name)) })
	}
	has("a", 2)
	s.poolNode(t, "b", 40)
	has("b", 2)
	mine := s.allocated("a")
	s.poolNode(t, "a", 5, mine[0]) // it gives the other one back
	has("b", 3)
	if !slices.Equal(s.allocated("a"), mine[:1]) || !slices.Contains(s.allocated("b"), mine[1]) {
		t.Fatalf("a has %v of %v, b %v", s.allocated("a"), mine, s.allocated("b"))
	}
	stop()
	s.put("poolnodes", map[string]any{"apiVersion": kube.Group + "/" + kube.RecordVersion, "kind": "PoolNode", "metadata": map[string]any{"name": "a"}, "spec": "nonsense"})
	operate(t, kube.OperatorConfig{Client: client, New: multiPool(2), Requested: true})
	s.poolNode(t, "c", 5)
	time.Sleep(200 * time.Millisecond)
	if got := s.allocated("c"); len(got) > 0 {
		t.Fatalf("c has %v: %s", got, strings.Join(s.allocated("b"), " "))
	}
}
