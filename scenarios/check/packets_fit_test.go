package check

import (
	"errors"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/internal/clustertest"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Goal: a mismatch of MTUs names both devices, their MTUs, and where a packet is lost because of it.
// Method: one wrong MTU at a time in a cluster of two nodes with a pod each, and the whole sentence of the law.
func TestPacketsFitNamesBothEnds(t *testing.T) {
	pod := func(n *clustertest.Node) *vppwire.LinuxLink { return &n.Linux.Spaces[n.Pods[0].Netns].Links[0] }
	host := func(n *clustertest.Node, name string) *vppwire.LinuxLink {
		for i := range n.Linux.Spaces[""].Links {
			if l := &n.Linux.Spaces[""].Links[i]; l.Name == name {
				return l
			}
		}
		return nil
	}
	last := func(n *clustertest.Node) *uint32 { return &n.VPP.Ifaces[len(n.VPP.Ifaces)-1].MTU }
	for _, tc := range []struct {
		name  string
		plant func(a, b *clustertest.Node)
		want  string
	}{
		{"pod's end of a veth", func(_, b *clustertest.Node) { pod(b).MTU = 1400 },
			"the link of default/web-2-0 on node-2 has two MTUs: eth0 1400, vd000 1450; a packet of 1450 bytes with DF to it is " +
				"dropped on node-2: eth0 has an MTU of 1400 bytes, the packet has 1450: the other end of the veth does not take it"},
		{"VPP's end", func(_, b *clustertest.Node) { *last(b) = 1400 },
			"the link of default/web-2-0 on node-2 has two MTUs: eth0 1450, host-vd000 of VPP 1400; a packet of 1450 bytes with DF to it is " +
				"dropped on node-2: host-vd000 has an MTU of 1400 bytes, the packet has 1450 and must not be fragmented: VPP answers ICMP fragmentation needed"},
		{"VPP's end is longer", func(_, b *clustertest.Node) { *last(b) = 9000 },
			"the link of default/web-2-0 on node-2 has two MTUs: eth0 1450, host-vd000 of VPP 9000; a packet of 9000 bytes with DF to it is " +
				"dropped on node-2: vd000 has an MTU of 1450 bytes, the packet has 9000: Linux drops what VPP sends into it"},
		{"the device between", func(a, _ *clustertest.Node) { host(a, "vd000").MTU = 1500 },
			"the link of default/web-1-0 on node-1 has two MTUs: eth0 1450, vd000 1500; a packet of 1500 bytes with DF to it is " +
				"dropped on node-1: host-vd000 has an MTU of 1450 bytes, the packet has 1500 and must not be fragmented: VPP answers ICMP fragmentation needed"},
		{"the host's", func(a, _ *clustertest.Node) { host(a, "vpp1").MTU = 1500 },
			"the link of the host on node-1 has two MTUs: vpp1 1500, vpp2 1450; a packet of 1500 bytes with DF to it is " +
				"dropped on node-1: host-vpp2 has an MTU of 1450 bytes, the packet has 1500 and must not be fragmented: VPP answers ICMP fragmentation needed"},
		{"one pod's whole link", func(_, b *clustertest.Node) { pod(b).MTU, host(b, "vd000").MTU, *last(b) = 1500, 1500, 1500 },
			"eth0 of default/web-2-0 on node-2 has MTU 1500, vpp1 of the host on node-1 has 1450; a packet of 1500 bytes with DF from default/web-2-0 on node-2 " +
				"to the host on node-1 is dropped on node-2: GigabitEthernet0/8/0 has an MTU of 1500 bytes, the packet has 1550: the NIC does not send it"},
		{"what the NIC carries", func(a, _ *clustertest.Node) { a.VPP.Ifaces[clustertest.IfaceNIC].LinkMTU = 1450 },
			"GigabitEthernet0/8/0 of node-1 has MTU 1450, but nodes send each other packets of 1500 bytes (1450 of vpp1 of the host on node-1 and 50 of VXLAN); " +
				"one with DF to node-2 is dropped on node-1: GigabitEthernet0/8/0 has an MTU of 1450 bytes, the packet has 1500: the NIC does not send it"},
		{"VPP's MTU of the NIC", func(_, b *clustertest.Node) { b.VPP.Ifaces[clustertest.IfaceNIC].MTU = 1450 },
			"GigabitEthernet0/8/0 of node-2 has MTU 1450, but nodes send each other packets of 1500 bytes (1450 of vpp1 of the host on node-1 and 50 of VXLAN); " +
				"one with DF to node-1 is delivered on node-1 to netns /run/netns/1-0, in fragments"},
	} {
		c := newCluster(clustertest.Config{Veth: true}, 2, 1)
		if _, err := checkFit(c.Snapshot()); err != nil {
			t.Fatalf("before %s: %v", tc.name, err)
		}
		tc.plant(c.Nodes[0], c.Nodes[1])
		freeze(c)
		_, err := checkFit(c.Snapshot())
		var v *fact.Violation
		if !errors.As(err, &v) || v.What != tc.want || v.After == "" {
			t.Errorf("%s:\n got %v\nwant %s", tc.name, err, tc.want)
		}
	}
}
