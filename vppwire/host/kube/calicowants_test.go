package kube_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/ipam/systemtest"
)

// Goal: pods get the address, or one of the pools, that Calico's annotations name, and of a pool with a namespaceSelector
// only pods of such namespaces. Method: pods with annotations, and a namespace with labels, on an API server; a pod
// without any of it beside them.
func TestCalicoAnnotations(t *testing.T) {
	p := newPlayed(t, systemtest.Setup{System: "calico", Range: netip.MustParsePrefix("10.1.0.0/24"), Block: 29})
	pools := map[string]map[string]any{
		"pool":   {"cidr": "10.1.0.0/25", "blockSize": 29.0},
		"second": {"cidr": "10.1.0.128/26", "blockSize": 29.0, "nodeSelector": "zone == 'elsewhere'"},
		"team":   {"cidr": "10.1.0.192/26", "blockSize": 29.0, "namespaceSelector": "team == 'red'"},
	}
	for name, spec := range pools {
		p.server.put("ippools", calicoObject("IPPool", name, spec))
	}
	within := func(pool string) func(netip.Addr) bool {
		return netip.MustParsePrefix(pools[pool]["cidr"].(string)).Contains
	}
	exactly := func(a string) func(netip.Addr) bool { return func(b netip.Addr) bool { return b.String() == a } }
	tests := []struct {
		annotations map[string]any
		has         func(netip.Addr) bool // nil: none
	}{
		{nil, within("pool")},
		{map[string]any{calico.AddressAnnotation: `["10.1.0.77"]`}, exactly("10.1.0.77")},
		{map[string]any{calico.PoolsAnnotation: `["second"]`}, within("second")},
		{map[string]any{calico.PoolsAnnotation: `["10.1.0.128/26"]`}, within("second")},
		{map[string]any{calico.PoolsAnnotation: `["team"]`}, within("team")},
		{map[string]any{calico.AddressAnnotation: `["10.1.0.77"]`}, nil},
		{map[string]any{calico.AddressAnnotation: `10.1.0.78`}, nil},
		{map[string]any{calico.PoolsAnnotation: `["third"]`}, nil},
	}
	p.Join("a")
	for k, test := range tests {
		p.server.put("pods", map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{
			"namespace": "default", "name": fmt.Sprintf("a-%d", k), "annotations": test.annotations}})
	}
	leases := func() map[int]netip.Addr {
		n, have := p.nodes["a"], map[int]netip.Addr{}
		n.mu.Lock()
		defer n.mu.Unlock()
		for k := range tests {
			if l, ok := n.alloc.Lease(owner(k)); ok {
				have[k] = l.Addr
			}
		}
		return have
	}
	p.Pods("a", 2) // the one with the address has it before another asks for it
	until(t, func() bool { return len(leases()) == 2 }, func() string { return fmt.Sprint(leases()) })
	p.Pods("a", len(tests))
	until(t, func() bool { return len(leases()) == 5 }, func() string { return fmt.Sprint(leases()) })
	for k, a := range leases() {
		if has := tests[k].has; has == nil || !has(a) {
			t.Errorf("pod %d with %v has %s", k, tests[k].annotations, a)
		}
	}
	// Its namespace's annotation, and then its labels alone.
	p.server.put("namespaces", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{
		"name": "default", "annotations": map[string]any{calico.PoolsAnnotation: `["second"]`}}})
	p.Join("b")
	p.Pods("b", 1)
	has := func(name string) netip.Addr {
		n := p.nodes[name]
		n.mu.Lock()
		defer n.mu.Unlock()
		l, _ := n.alloc.Lease(owner(0))
		return l.Addr
	}
	until(t, func() bool { return has("b").IsValid() }, func() string { return "b has none" })
	if a := has("b"); !within("second")(a) {
		t.Errorf("its namespace names the pool second, and it has %s", a)
	}
	p.server.put("namespaces", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{
		"name": "default", "labels": map[string]any{"team": "red"}}})
	p.server.put("ippools", calicoObject("IPPool", "pool", map[string]any{"cidr": "10.1.0.0/25", "blockSize": 29.0, "disabled": true}))
	p.Join("c")
	p.Pods("c", 1)
	until(t, func() bool { return has("c").IsValid() }, func() string { return "c has none" })
	if a := has("c"); !within("team")(a) {
		t.Errorf("its namespace is the team's, and it has %s", a)
	}
}
