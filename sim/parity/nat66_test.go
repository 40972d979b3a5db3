package parity

import (
	"net/netip"
	"testing"

	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/nat66"
	"go.fd.io/govpp/binapi/nat_types"
)

// Goal: why NAT66 serves no services is true of the VPP that is there. Method: a service's address mapped to an endpoint.
// Ports stay what they are, a second endpoint takes the place of the first, and an endpoint has one service.
func TestNAT66MapsAddresses(t *testing.T) {
	n := newSixNode(t, 0, &nat66.Nat66PluginEnableDisable{})
	rpc := nat66.NewServiceClient(n.conn)
	must(rpc.Nat66PluginEnableDisable(t.Context(), &nat66.Nat66PluginEnableDisable{Enable: true}))(t)
	for device := range devices {
		side := nat_types.NAT_IS_INSIDE
		if device == 0 {
			side = nat_types.NAT_IS_OUTSIDE
		}
		must(rpc.Nat66AddDelInterface(t.Context(), &nat66.Nat66AddDelInterface{IsAdd: true, Flags: side, SwIfIndex: interface_types.InterfaceIndex(device + 1)}))(t)
	}
	add := func(local, external netip.Addr) error {
		_, err := rpc.Nat66AddDelStaticMapping(t.Context(), &nat66.Nat66AddDelStaticMapping{IsAdd: true, LocalIPAddress: ip_types.IP6Address(local.As16()),
			ExternalIPAddress: ip_types.IP6Address(external.As16())})
		t.Logf("nat66_add_del_static_mapping %s to %s: %v", external, local, err)
		return err
	}
	must(0, add(sixEnds[1].Addr(), sixVIP.Addr()))(t)
	if got, want := n.heard(0, sixClient, sixVIP), (arrival{"vd1", sixClient, netip.AddrPortFrom(sixEnds[1].Addr(), sixVIP.Port())}); got != want {
		t.Errorf("a request: %v, not %v", got, want)
	}
	n.heard(1, netip.AddrPortFrom(sixEnds[1].Addr(), sixVIP.Port()), sixClient)
	if err := add(sixEnds[2].Addr(), sixVIP.Addr()); err == nil {
		for port := range uint16(8) {
			if got := n.heard(0, netip.AddrPortFrom(sixClient.Addr(), 5000+port), sixVIP); got.dst.Addr() != sixEnds[2].Addr() {
				t.Errorf("a request after a second endpoint was added: %v: endpoints share sessions here", got)
			}
		}
	}
	if add(sixEnds[1].Addr(), netip.MustParseAddr("fd05::20")) == nil {
		t.Error("a second service of an endpoint is taken here")
	}
}
