package kube_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// upstreamBlock is an IPAMBlock as Calico 3.30 writes it: two pods of a node, the tunnel's address, and one of another node that borrowed.
const upstreamBlock = `{"apiVersion": "crd.projectcalico.org/v1", "kind": "IPAMBlock", "metadata": {"name": "10-1-0-0-29", "uid": "u", "resourceVersion": "7"},
"spec": {"affinity": "host:a", "allocations": [0, 1, null, 2, null, 3, null, null], "attributes": [
{"handle_id": "vxlan-tunnel-addr-a", "secondary": {"node": "a", "type": "vxlanTunnelAddress"}}, {"handle_id": "k8s-pod-network.1", "secondary": {"namespace": "default", "node": "a", "pod": "x"}},
{"handle_id": "k8s-pod-network.2", "secondary": {"namespace": "default", "node": "a", "pod": "y"}}, {"handle_id": "k8s-pod-network.3", "secondary": {"namespace": "default", "node": "b", "pod": "z"}}],
"cidr": "10.1.0.0/29", "deleted": false, "sequenceNumber": 1714, "sequenceNumberForAllocation": {"0": 1710}, "strictAffinity": false, "unallocated": [4, 2, 7, 6]}}`

// Goal: a block that Calico itself has written is read as what it says; what cannot be is refused with the object's name. Method: one as
// Calico 3.30 writes it, and spoiled ones.
func TestBlockOfCalico(t *testing.T) {
	s, err := kube.ReadBlock(decode([]byte(upstreamBlock)))
	must(t, err)
	if got, want := fmt.Sprint(s.Block, s.Free, s.UID, s.Version), "affinity=a/ 0=a/(vxlan-tunnel-addr-a) 1=a/(k8s-pod-network.1) 3=a/(k8s-pod-network.2) 5=b/(k8s-pod-network.3) [4 2 7 6]u7"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for spoiled, value := range map[string]any{"cidr": "10.1.0.0", "allocations": []any{0.0}, "attributes": []any{}} {
		o := decode([]byte(upstreamBlock))
		o["spec"].(map[string]any)[spoiled] = value
		if _, err := kube.ReadBlock(o); err == nil {
			t.Errorf("%s: %v is read", spoiled, value)
		}
	}
}

// Goal: the controller takes back what a node had that is gone, of Calico's own too, and nothing of one that is there. Method: the block
// above with both its nodes, then with one of them, and an empty one of a node that has gone.
func TestCalicoTakesBack(t *testing.T) {
	s := newServer(t)
	s.addNode("a")
	s.addNode("b")
	s.put("ippools", map[string]any{"apiVersion": "crd.projectcalico.org/v1", "kind": "IPPool", "metadata": map[string]any{"name": "pool"},
		"spec": map[string]any{"cidr": "10.1.0.0/24", "blockSize": 29.0}})
	s.put("ipamblocks", decode([]byte(upstreamBlock)))
	o := decode([]byte(upstreamBlock))
	o["metadata"] = map[string]any{"name": "10-1-0-8-29"}
	for key, v := range map[string]any{"cidr": "10.1.0.8/29", "affinity": "host:gone", "allocations": make([]any, 8), "attributes": []any{}, "unallocated": []any{0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0}} {
		o["spec"].(map[string]any)[key] = v
	}
	s.put("ipamblocks", o)
	client, _ := s.dial(t)
	c, err := kube.NewCalicoController(kube.CalicoControllerConfig{Client: client, Grace: time.Hour})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { must(t, c.Run(ctx)) })
	defer run.Wait()
	defer cancel()
	blocks := func() (text string) {
		for _, o := range s.All("ipamblocks") {
			b, err := kube.ReadBlock(o)
			must(t, err)
			text += b.CIDR.String() + " " + b.Block.String() + "; "
		}
		return text
	}
	until(t, func() bool {
		return blocks() == "10.1.0.0/29 affinity=a/ 0=a/(vxlan-tunnel-addr-a) 1=a/(k8s-pod-network.1) 3=a/(k8s-pod-network.2) 5=b/(k8s-pod-network.3); "
	}, blocks)
	s.deleteNode("b")
	until(t, func() bool {
		return blocks() == "10.1.0.0/29 affinity=a/ 0=a/(vxlan-tunnel-addr-a) 1=a/(k8s-pod-network.1) 3=a/(k8s-pod-network.2); "
	}, blocks)
	// of the addresses that stay, Calico's own handles and pods do
	spec := s.Get("ipamblocks", "", "10-1-0-0-29")["spec"].(map[string]any)
	if got, want := string(encode([]any{spec["allocations"], spec["attributes"], spec["sequenceNumber"], spec["sequenceNumberForAllocation"]})), `[[0,1,null,2,null,null,null,null],`+
		`[{"handle_id":"vxlan-tunnel-addr-a","secondary":{"node":"a","type":"vxlanTunnelAddress"}},{"handle_id":"k8s-pod-network.1","secondary":{"namespace":"default","node":"a","pod":"x"}},`+
		`{"handle_id":"k8s-pod-network.2","secondary":{"namespace":"default","node":"a","pod":"y"}}],1715,{"0":1710}]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
