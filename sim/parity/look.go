package parity

import (
	"context"
	"net/netip"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/acl"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/arp"
	"go.fd.io/govpp/binapi/dhcp"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/memif"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/stn"
	"go.fd.io/govpp/binapi/vxlan"
)

const none = 1<<32 - 1

// dumps returns the requests that show everything there is on s, and where its tables send packets: which depend on its
// interfaces and tables.
func dumps(ctx context.Context, s Subject) ([]api.Message, error) {
	all := []api.Message{
		&interfaces.SwInterfaceDump{SwIfIndex: none}, &ip.IPTableDump{}, &af_packet.AfPacketDump{},
		&vxlan.VxlanTunnelV2Dump{SwIfIndex: none}, &ip.IPUnnumberedDump{SwIfIndex: none},
		&l2.BridgeDomainDump{BdID: none, SwIfIndex: none}, &l2.L2FibTableDump{BdID: none},
		&ip_neighbor.IPNeighborDump{SwIfIndex: none}, &ip_neighbor.IPNeighborDump{SwIfIndex: none, Af: 1},
		&ip_neighbor.IPNeighborConfigGet{}, &ip_neighbor.IPNeighborConfigGet{Af: 1},
		&arp.ProxyArpDump{}, &arp.ProxyArpIntfcDump{}, &stn.StnRulesDump{}, &memif.MemifSocketFilenameDump{}, &memif.MemifDump{}, &dhcp.DHCPClientDump{},
		&interfaces.SwInterfaceTxPlacementGet{SwIfIndex: none},
		&nat44_ed.Nat44ShowRunningConfig{}, &nat44_ed.Nat44InterfaceDump{}, &nat44_ed.Nat44EdOutputInterfaceGet{}, &nat44_ed.Nat44AddressDump{},
		&nat44_ed.Nat44IdentityMappingDump{}, &nat44_ed.Nat44LbStaticMappingDump{},
		&acl.ACLDump{ACLIndex: none}, &acl.ACLInterfaceListDump{SwIfIndex: none},
	}
	ifs, err := s.Ask(ctx, all[0])
	if err != nil {
		return nil, err
	}
	for _, a := range ifs {
		at := a.(*interfaces.SwInterfaceDetails).SwIfIndex
		if at == 0 {
			continue
		}
		all = append(all, &ip.IPAddressDump{SwIfIndex: at}, &ip.IPAddressDump{SwIfIndex: at, IsIPv6: true},
			&interfaces.SwInterfaceGetTable{SwIfIndex: at}, &interfaces.SwInterfaceGetTable{SwIfIndex: at, IsIPv6: true})
	}
	tables, err := s.Ask(ctx, all[1])
	if err != nil {
		return nil, err
	}
	for _, a := range tables {
		t := a.(*ip.IPTableDetails).Table
		all = append(all, &ip.IPRouteV2Dump{Table: ip.IPTable{TableID: t.TableID, IsIP6: t.IsIP6}})
		all = append(all, probes(t)...)
	}
	return all, nil
}

// probes ask a table where packets to each address of the small world would go.
func probes(t ip.IPTable) []api.Message {
	addrs, bits := four, uint8(32)
	if t.IsIP6 {
		addrs, bits = six, 128
	}
	var out []api.Message
	for _, a := range addrs {
		p := ip_types.Prefix{Address: message(netip.MustParseAddr(a)), Len: bits}
		out = append(out, &ip.IPRouteLookupV2{TableID: t.TableID, Prefix: p})
	}
	return out
}

// index is short for what messages name interfaces by.
type index = interface_types.InterfaceIndex
