package walk_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/scenarios/internal/clustertest"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

// Goal: where VPP takes a host's NIC, packets find the host by whichever of the two has its address, and its answers find the wire.
// Method: golden paths over two such nodes, with the address at each place, and with what leads to the host left out.
func TestStolenPaths(t *testing.T) {
	datadriven.RunTest(t, "testdata/stolen.txt", func(t *testing.T, d *datadriven.TestData) string {
		c := clustertest.New(clustertest.Config{Nodes: 2, PodsPerNode: 1, Veth: true})
		for _, n := range c.Nodes {
			n.Steal()
		}
		n := c.Nodes[0]
		if d.HasArg("has") {
			var links string
			d.ScanArgs(t, "has", &links)
			n.Has(strings.Split(links, "+")...)
		}
		for _, without := range d.CmdArgs {
			switch without.Key {
			case "no-rule":
				n.VPP.Stolen = nil
			case "no-proxy":
				n.VPP.Proxies = nil
			case "no-vpp":
				n.VPPUp = false
			}
		}
		p := walk.Packet{Proto: 6}
		var from, src, dst string
		d.ScanArgs(t, "from", &from)
		d.ScanArgs(t, "dst", &dst)
		d.MaybeScanArgs(t, "src", &src)
		d.MaybeScanArgs(t, "proto", &p.Proto)
		p.Dst = netip.MustParseAddr(dst)
		at := point(c, from)
		if src != "" {
			at, p.Src = walk.FromWire(from), netip.MustParseAddr(src)
			if d.HasArg("asked-vpp") {
				at = walk.FromWireToVPP(from)
			}
		}
		w := walk.New(c.Snapshot())
		w.Outcome(at, p)
		return w.Path().String()
	})
}
