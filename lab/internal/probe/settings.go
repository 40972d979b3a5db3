package probe

import (
	"context"
	"fmt"
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/dhcp"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/tapv2"

	"github.com/vppdrill/vppdrill/scenarios/configured"
)

// Settings asks a VPP for what is configured of it and no table shows.
func Settings(ctx context.Context, c api.Connection) (configured.Beside, error) {
	d := &Dump{}
	for _, of := range []api.Message{&tapv2.SwInterfaceTapV2Dump{SwIfIndex: allInterfaces}, &dhcp.DHCPClientDump{}, &nat44_ed.Nat44ShowRunningConfig{}} {
		if err := d.ask(ctx, c, []api.Message{of}); err != nil && !unknownMessage(err) {
			return configured.Beside{}, err
		}
	}
	limits := map[bool]ip_neighbor.IPNeighborConfigGetReply{}
	// in any order: each by itself
	for ip6, af := range map[bool]ip_types.AddressFamily{false: ip_types.ADDRESS_IP4, true: ip_types.ADDRESS_IP6} {
		reply := ip_neighbor.IPNeighborConfigGetReply{}
		if err := c.Invoke(ctx, &ip_neighbor.IPNeighborConfigGet{Af: af}, &reply); err != nil {
			return configured.Beside{}, fmt.Errorf("ask VPP how it keeps neighbors: %w", err)
		}
		limits[ip6] = reply
	}
	type rings struct{ rx, tx uint16 }
	taps, names := map[uint32]rings{}, map[uint32]string{}
	var nat configured.NAT
	on := false
	for _, m := range d.Messages {
		switch m := m.(type) {
		case *tapv2.SwInterfaceTapV2Details:
			taps[m.SwIfIndex] = rings{m.RxRingSz, m.TxRingSz}
		case *dhcp.DHCPClientDetails:
			names[uint32(m.Client.SwIfIndex)] = strings.TrimRight(m.Client.Hostname, "\x00")
		case *nat44_ed.Nat44ShowRunningConfigReply:
			on = m.Retval == 0 && m.Sessions != 0
			nat = configured.NAT{UDP: m.Timeouts.UDP, TCPEstablished: m.Timeouts.TCPEstablished, TCPTransitory: m.Timeouts.TCPTransitory, ICMP: m.Timeouts.ICMP, Sessions: m.Sessions}
		}
	}
	return configured.Beside{
		Rings: func(index uint32) (rx, tx uint16, isTap bool) {
			r, isTap := taps[index]
			return r.rx, r.tx, isTap
		},
		LeaseHostname: func(index uint32) (string, bool) {
			name, leases := names[index]
			return name, leases
		},
		Neighbors: func(ip6 bool) (age, most uint32) { return limits[ip6].MaxAge, limits[ip6].MaxNumber },
		NAT:       func() (configured.NAT, bool) { return nat, on },
	}, nil
}
