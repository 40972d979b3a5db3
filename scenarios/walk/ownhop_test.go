package walk_test

import (
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/internal/clustertest"
	"github.com/vppdrill/vppdrill/scenarios/walk"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Goal: a route by way of one of the host's own addresses leads to the destination itself, as in the kernel, and what is known of a neighbor with that
// address serves nobody. Method: the host's way to a pod, right and then by way of its own address, which has a permanent entry too.
func TestRouteByOwnAddress(t *testing.T) {
	c := clustertest.New(clustertest.Config{Nodes: 1, PodsPerNode: 1})
	n := c.Nodes[0]
	pod := n.Pods[0].Addr
	if out := walk.New(c.Snapshot()).Outcome(walk.FromHost(n.Name), walk.Packet{Dst: pod}); out.Kind != walk.Delivered {
		t.Fatalf("by way of VPP: %s", out)
	}
	host := n.Linux.Spaces[""]
	for i := range host.Routes {
		if host.Routes[i].Via == n.HostVPP {
			host.Routes[i].Via = n.HostLinux
		}
	}
	vpp, _ := n.VPP.Interface(clustertest.IfaceHost)
	host.Neighbors = append(host.Neighbors, vppwire.LinuxNeighbor{Link: vppwire.HostLinuxDevice, Addr: n.HostLinux, MAC: vpp.MAC})
	if out := walk.New(c.Snapshot()).Outcome(walk.FromHost(n.Name), walk.Packet{Dst: pod}); out.Kind != walk.Dropped {
		t.Errorf("by way of its own address: %s", out)
	}
}
