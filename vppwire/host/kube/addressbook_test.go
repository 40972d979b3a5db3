package kube_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"testing"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// book makes a book of one range on a connection of its own.
func book(t *testing.T, s *server, r string) (*kube.AddressBook, *apiserver.Wire) {
	client, wire := s.dial(t)
	return kube.NewAddressBook(kube.AddressBookConfig{Client: client, Namespace: "kube-system", Ranges: []netip.Prefix{netip.MustParsePrefix(r)}}), wire
}

// Goal: two operators that both believe to lead give no address twice, whatever answers are lost. Method: both give single addresses to nodes
// of their own until there is none, every third answer to a write lost; what the book says then is what its nodes have.
func TestTwoBooks(t *testing.T) {
	s := newServer(t)
	var both sync.WaitGroup
	for _, node := range []string{"a", "b"} {
		s.addNode(node)
		b, wire := book(t, s, "10.0.0.0/27")
		n := 0
		wire.Set(func(r *http.Request) apiserver.Fate {
			if r.Method != http.MethodGet {
				n++
			}
			if r.Method != http.MethodGet && n%3 == 0 {
				return apiserver.Mute
			}
			return apiserver.Pass
		})
		both.Go(func() {
			given := cilium.AllocationMap{}
			for {
				got, err := b.Assign(context.Background(), node, 1)
				if errors.Is(err, cilium.ErrNoAddress) {
					break
				}
				for a := range got { // one
					if _, twice := given[a]; twice {
						t.Errorf("%s got %s twice", node, a)
					}
					given[a] = got[a]
				}
			}
			wire.Heal()
			has, err := b.List(context.Background(), node)
			if err != nil {
				t.Error(err)
			}
			for a := range given { // in any order
				if _, ok := has[a]; !ok {
					t.Errorf("%s was given %s, which the book does not say", node, a)
				}
			}
		})
	}
	both.Wait()
	var whole cilium.AddressBook // it refuses an address that is there twice
	must(t, json.Unmarshal([]byte(s.Get("configmaps", "kube-system", kube.AddressBookName)["data"].(map[string]any)[kube.AddressBookKey].(string)), &whole))
	if n := len(whole.Of("a")) + len(whole.Of("b")) + whole.Free(); n != 30 {
		t.Errorf("%d addresses, want 30", n)
	}
}

// Goal: what a node had is free when it is gone, which it is not while it has its Node or its CiliumNode; a book that cannot be read is
// refused. Method: a book that is full, with the objects taken away one after the other.
func TestBookOfTheGone(t *testing.T) {
	s := newServer(t)
	ctx := context.Background()
	b, _ := book(t, s, "10.0.0.0/30")
	s.addNode("a")
	s.put("ciliumnodes", map[string]any{"apiVersion": "cilium.io/v2", "kind": "CiliumNode", "metadata": map[string]any{"name": "a"}})
	if got, err := b.Assign(ctx, "a", 2); err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	for _, gone := range []func(){func() {}, func() { s.deleteNode("a") }, func() { s.addNode("a"); s.drop("ciliumnodes", "", "a") }} {
		gone()
		if got, err := b.Assign(ctx, "b", 1); !errors.Is(err, cilium.ErrNoAddress) || !errors.Is(err, kube.ErrRefused) {
			t.Fatal(got, err)
		}
	}
	s.deleteNode("a")
	if got, err := b.Assign(ctx, "b", 1); err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	o := s.Get("configmaps", "kube-system", kube.AddressBookName)
	s.put("configmaps", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": o["metadata"], "data": map[string]any{kube.AddressBookKey: "{"}})
	if got, err := b.Assign(ctx, "b", 1); err == nil {
		t.Fatal(got)
	}
}

// Goal: agent and operator write a CiliumNode as Cilium has it: what others wrote there stays, the status is written as a subresource, and
// who meets another version writes nothing. Method: an object as cilium-agent 1.18 makes it, with an operator beside it.
func TestCiliumNodeOfCilium(t *testing.T) {
	s := newServer(t)
	s.addNode("a")
	s.put("ciliumnodes", map[string]any{"apiVersion": "cilium.io/v2", "kind": "CiliumNode", "metadata": map[string]any{"name": "a", "labels": map[string]any{"kubernetes.io/os": "linux"}},
		"spec": map[string]any{"addresses": []any{map[string]any{"ip": "192.168.0.1", "type": "InternalIP"}}, "encryption": map[string]any{}, "bootid": "7d",
			"ipam": map[string]any{"pre-allocate": 3.0, "podCIDRs": []any{"10.9.0.0/24"}}}})
	client, _ := s.dial(t)
	operate(t, kube.OperatorConfig{Client: client, Addresses: kube.NewAddressBook(kube.AddressBookConfig{Client: client, Namespace: "kube-system", Ranges: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/28")}})})
	ipamOf := func() map[string]any {
		return s.Get("ciliumnodes", "", "a")["spec"].(map[string]any)["ipam"].(map[string]any)
	}
	until(t, func() bool { pool, _ := ipamOf()["pool"].(map[string]any); return len(pool) == 3 }, func() string { return string(encode(s.Get("ciliumnodes", "", "a"))) })
	o := s.Get("ciliumnodes", "", "a")
	if got, want := string(encode(o["spec"])), `{"addresses":[{"ip":"192.168.0.1","type":"InternalIP"}],"bootid":"7d","encryption":{},"ipam":{"podCIDRs":["10.9.0.0/24"],`+
		`"pool":{"10.0.0.1":{"resource":"book"},"10.0.0.2":{"resource":"book"},"10.0.0.3":{"resource":"book"}},"pre-allocate":3}}`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
