package sim

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: a request that a real VPP 25.10 dies of ends a run by the law vpp-survives. Method: a neighbor on local0, which
// no agent asks for, in the middle of a small cluster's life.
func TestCrashTriggerBreaksTheLaw(t *testing.T) {
	s, err := scenarios.Parse("crash.yaml", []byte("# Two nodes.\nname: crash\ntopology: {nodes: 2, podsPerNode: 1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(s, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	law, _ := check.ByName("vpp-survives")
	watcher := law.Watch()
	w.Watch(func(f fact.Fact) error { return watcher.Observe(&f) })
	if err := w.Settle(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	m := &ip_neighbor.IPNeighborAddDel{IsAdd: true, Neighbor: ip_neighbor.IPNeighbor{SwIfIndex: 0,
		IPAddress: ip_types.NewAddress(net.IPv4(10, 0, 0, 1))}}
	// what it answers is no matter
	_ = w.machines["node-1"].vpp.Invoke(context.Background(), m, &ip_neighbor.IPNeighborAddDelReply{})
	var broken *fact.Violation
	if err := w.Advance(t.Context(), w.Now()+time.Second); !errors.As(err, &broken) || broken.Law != "vpp-survives" || broken.Node != "node-1" {
		t.Errorf("%v", err)
	}
}
