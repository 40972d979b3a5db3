package probe

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"slices"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/vxlan"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// TunnelOf finds the VXLAN tunnel of a VPP that has a name; false where the name is no tunnel's.
func TunnelOf(ctx context.Context, c api.Connection, name string) (fact.Interface, bool, error) {
	d := &Dump{}
	if err := d.ask(ctx, c, []api.Message{&interfaces.SwInterfaceDump{SwIfIndex: allInterfaces}, &vxlan.VxlanTunnelV2Dump{SwIfIndex: allInterfaces}}); err != nil {
		return fact.Interface{}, false, err
	}
	for i := range newTables(d).Interfaces() {
		if i.Name == name && i.Type == fact.TypeVXLAN {
			return i, true, nil
		}
	}
	return fact.Interface{}, false, nil
}

// CaptureTunnel writes the frames that pass a VXLAN tunnel as pcapng, as Capture does: VPP's own captures see nothing of them, since
// neither its encap nor its decap passes the nodes where it captures (src/plugins/vxlan, 25.10). They are taken out of what carries
// them on the node's wire. sides are some of rx and tx.
func CaptureTunnel(ctx context.Context, netns, wire string, t fact.Interface, comment string, sides []string, out io.Writer, count int, ready func()) (int, error) {
	if slices.Contains(sides, "drop") {
		return 0, fmt.Errorf("capture on %s: what a tunnel drops is not to be had; --sides drop with the NIC tells what its carriers lose", t.Name)
	}
	rx, tx := slices.Contains(sides, "rx"), slices.Contains(sides, "tx")
	return capturePicked(ctx, netns, wire, t.Name, comment, out, count, ready, func(frame []byte) []byte {
		src, vni, inner, ok := unwrap(frame)
		if ok && vni == t.VNI && (tx && src == [2]netip.Addr{t.Src, t.Dst} || rx && src == [2]netip.Addr{t.Dst, t.Src}) {
			return inner
		}
		return nil
	})
}

// unwrap takes a frame out of a VXLAN packet: who sent it to whom, by which VNI.
func unwrap(frame []byte) (ends [2]netip.Addr, vni uint32, inner []byte, ok bool) {
	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.DecodeOptions{Lazy: true, NoCopy: true})
	v, ok := p.Layer(layers.LayerTypeVXLAN).(*layers.VXLAN)
	if !ok || p.NetworkLayer() == nil {
		return ends, 0, nil, false
	}
	flow := p.NetworkLayer().NetworkFlow()
	ends[0], _ = netip.AddrFromSlice(flow.Src().Raw())
	ends[1], _ = netip.AddrFromSlice(flow.Dst().Raw())
	return ends, v.VNI, v.Payload, true
}
