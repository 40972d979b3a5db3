package lab_test

import (
	"errors"
	"testing"
	"time"

	"go.fd.io/govpp/binapi/nat44_ed"

	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: services-reached can be broken on a real VPP, for the tables and for real sessions. Method: a lab at rest whose
// endpoints all answer; then VPP loses one of them behind its agent's back.
func TestPlantedOnServices(t *testing.T) {
	const law = "services-reached"
	w, ctx := standing(t, `# Two pods serve.
name: planted-services
topology: {nodes: 1, podsPerNode: 2}
config: {wiring: {pod: veth, host: veth, services: vpp}}
services:
  - {name: web, app: per-node, clusterIP: 10.96.0.10, nodePort: 30080}
`)
	if n, err := judgeNow(ctx, t, w, law); err != nil || n == 0 {
		t.Fatalf("before: %d occasions, %v", n, err)
	}
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c, err := vppproc.Dial(w.VPPDirOf("node-1"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	gone := s.Services[0].Endpoints[0].Addr
	m := &nat44_ed.Nat44LbStaticMappingAddDelLocal{ExternalAddr: [4]byte{10, 96, 0, 10}, ExternalPort: 80, Protocol: 6,
		Local: nat44_ed.Nat44LbAddrPort{Addr: gone.As4(), Port: 8080, VrfID: s.Nodes[0].PodTable}}
	if err := c.Invoke(ctx, m, &nat44_ed.Nat44LbStaticMappingAddDelLocalReply{}); err != nil {
		t.Fatal(err)
	}
	for what, judge := range map[string]func() error{
		"tables":   func() error { _, err := judgeNow(ctx, t, w, law); return err },
		"sessions": func() error { return w.Settle(ctx, time.Hour) },
	} {
		var v *fact.Violation
		if err := judge(); !errors.As(err, &v) || v.Law != law {
			t.Errorf("%s: nobody sees that an endpoint is lost: %v", what, err)
		} else {
			t.Log(v.What)
		}
	}
}
