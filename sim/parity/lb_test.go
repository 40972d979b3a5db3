package parity

import (
	"math/bits"
	"net/netip"
	"testing"

	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/lb"
	"go.fd.io/govpp/binapi/lb_types"
)

// lbNode is a node whose services of IPv6 the plugin lb serves.
type lbNode struct {
	*sixNode
	lb.RPCService
}

// serve has an address and port served, by port 8080 of endpoints.
func (n *lbNode) serve(vip netip.AddrPort, proto ip_types.IPProto, encap lb_types.LbEncapType) {
	n.t.Helper()
	must(n.LbAddDelVipV2(n.t.Context(), &lb.LbAddDelVipV2{Pfx: ip_types.AddressWithPrefix{Address: message(vip.Addr()), Len: 128}, Protocol: uint8(proto),
		Port: vip.Port(), Encap: encap, Type: lb_types.LB_API_SRV_TYPE_CLUSTERIP, TargetPort: sixEnds[1].Port(), NewFlowsTableLength: 1024}))(n.t)
	n.t.Logf("lb_add_del_vip_v2 %s %v", vip, proto)
}

// end adds an endpoint, or takes it away with its flows.
func (n *lbNode) end(vip netip.AddrPort, proto ip_types.IPProto, end netip.AddrPort, del bool) {
	n.t.Helper()
	must(n.LbAddDelAs(n.t.Context(), &lb.LbAddDelAs{Pfx: ip_types.AddressWithPrefix{Address: message(vip.Addr()), Len: 128}, Protocol: uint8(proto), Port: vip.Port(),
		AsAddress: message(end.Addr()), IsDel: del, IsFlush: del}))(n.t)
	n.t.Logf("lb_add_del_as %s of %s %v, del %v", end, vip, proto, del)
}

// Goal: why the plugin lb serves no services of IPv6 either is true of the VPP that is there. Method: two services, with
// packets both ways. That an endpoint's flows end with it is what CNAT lacks; all else is against it.
func TestLBServesHalf(t *testing.T) {
	six := newSixNode(t, 0, &lb.LbAddDelVipV2{})
	n := &lbNode{six, lb.NewServiceClient(six.conn)}
	const udp, tcp = ip_types.IP_API_PROTO_UDP, ip_types.IP_API_PROTO_TCP
	must(n.LbConf(t.Context(), &lb.LbConf{IP6SrcAddress: ip_types.IP6Address(sixClient.Addr().Prev().As16()), StickyBucketsPerCore: 1024, FlowTimeout: 40}))(t)

	asked := netip.MustParseAddrPort("[fd05::30]:80")
	n.serve(asked, udp, lb_types.LB_API_ENCAP_TYPE_NAT6)
	n.end(asked, udp, sixEnds[1], false)
	if got := n.heard(0, sixClient, asked); got != (arrival{}) {
		t.Errorf("a service with the encapsulation NAT6: %v: the message's byte order is read here", got)
	}

	nat6 := lb_types.LbEncapType(bits.ReverseBytes32(uint32(lb_types.LB_API_ENCAP_TYPE_NAT6))) // as VPP reads it
	n.serve(sixVIP, udp, nat6)
	n.end(sixVIP, udp, sixEnds[1], false)
	if got, want := n.heard(0, sixClient, sixVIP), (arrival{"vd1", sixClient, sixEnds[1]}); got != want {
		t.Fatalf("a request: %v, not %v", got, want)
	}
	n.end(sixVIP, udp, sixEnds[2], false)
	n.end(sixVIP, udp, sixEnds[1], true)
	if got := n.heard(0, sixClient, sixVIP); got.dst != sixEnds[2] {
		t.Errorf("a session whose endpoint went: %v", got)
	}
	n.serve(sixVIP, tcp, nat6)
	n.end(sixVIP, tcp, sixEnds[3], false)
	if got := n.sent(0, protocolTCP, sixClient, sixVIP); got != (arrival{}) {
		t.Errorf("TCP: %v: it is served here", got)
	}
	if got := n.heard(3, netip.AddrPortFrom(sixEnds[3].Addr(), 9), sixClient); got.device != "vd0" {
		t.Fatalf("from pod to pod: %v", got)
	}
	for device := range devices {
		must(n.LbAddDelIntfNat6(t.Context(), &lb.LbAddDelIntfNat6{IsAdd: true, SwIfIndex: interface_types.InterfaceIndex(device + 1)}))(t)
	}
	t.Log("lb_add_del_intf_nat6 on all interfaces")
	if got := n.heard(2, sixEnds[2], sixClient); got.src.Addr() != sixVIP.Addr() || got.src.Port() != bits.ReverseBytes16(sixVIP.Port()) {
		t.Errorf("an answer: %v: its port is right here", got)
	}
	if got := n.heard(3, netip.AddrPortFrom(sixEnds[3].Addr(), 9), sixClient); got != (arrival{}) {
		t.Errorf("from pod to pod where answers are translated: %v: they get through here", got)
	}
	if got := n.heard(0, sixClient, sixVIP); got != (arrival{}) {
		t.Errorf("a request where answers are translated: %v: it gets through here", got)
	}
	second := netip.MustParseAddrPort("[fd05::20]:80")
	n.serve(second, udp, nat6)
	n.end(second, udp, sixEnds[2], false)
	if got := n.heard(2, sixEnds[2], sixClient); got.src.Addr() != second.Addr() {
		t.Errorf("an answer to a session of the first of two services: %v: an endpoint can have two services here", got)
	}
}
