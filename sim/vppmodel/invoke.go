package vppmodel

import (
	"context"
	"fmt"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/arp"
	"go.fd.io/govpp/binapi/dhcp"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vpe"
	"go.fd.io/govpp/binapi/vxlan"
)

var _ api.Connection = (*VPP)(nil)

// Version is what show_version answers: the release whose behaviour is modelled.
const Version = "25.10-release"

// buildDate is that of the release's last commit.
const buildDate = "2025-10-27"

// UnknownMessageError says that VPP has no such message, or not with this CRC. Its text is govpp's.
type UnknownMessageError struct{ Name, CRC string }

func (e *UnknownMessageError) Error() string { return "unknown message: " + e.Name + "_" + e.CRC }

func unknown(m api.Message) error { return &UnknownMessageError{m.GetMessageName(), m.GetCrcString()} }

// Invoke performs a request at once and fills the reply, which must be of the request's reply type. A refusal by VPP is the
// reply's Retval. Errors: ErrKilled, the context's, *UnknownMessageError, or a reply of the wrong type.
func (v *VPP) Invoke(ctx context.Context, req, reply api.Message) error {
	if err := v.usable(ctx); err != nil {
		return err
	}
	_, err := v.perform(req, reply)
	return err
}

func (v *VPP) usable(ctx context.Context) error {
	if v.killed {
		return ErrKilled
	}
	return ctx.Err()
}

// perform finds the request's object. A nil reply is made.
func (v *VPP) perform(req, reply api.Message) (api.Message, error) {
	if v.doomed != nil {
		if doom := v.Foresee(req); doom != "" {
			v.doomed(doom, req)
		}
	}
	r, err := v.invokeL3(req, reply)
	if r == nil && err == nil {
		r, err = v.invokeL2(req, reply)
	}
	if r == nil && err == nil {
		r, err = v.invokeInterface(req, reply)
	}
	if r == nil && err == nil {
		err = unknown(req)
	}
	return r, err
}

// into returns the reply as its own type, a new one for nil.
func into[R any, P interface {
	*R
	api.Message
}](reply api.Message) (P, error) {
	if reply == nil {
		return new(R), nil
	}
	if r, fits := reply.(P); fits {
		return r, nil
	}
	return nil, fmt.Errorf("reply is %s, want %s", reply.GetMessageName(), P(new(R)).GetMessageName())
}

// invokeL3 performs requests for routes, tables, neighbors, ARP and DHCP; both results are nil for any other.
func (v *VPP) invokeL3(req, reply api.Message) (api.Message, error) {
	switch m := req.(type) {
	case *ip.IPRouteAddDelV2:
		r, err := into[ip.IPRouteAddDelV2Reply](reply)
		if err != nil {
			return nil, err
		}
		retval, stats := v.routeAddDel(routeChange{m.IsAdd, m.IsMultipath, m.Route.TableID, m.Route.Prefix, m.Route.Paths, m.Route.Src})
		*r = ip.IPRouteAddDelV2Reply{Retval: v.wrote(retval), StatsIndex: stats}
		return r, nil
	case *ip.IPRouteAddDel:
		r, err := into[ip.IPRouteAddDelReply](reply)
		if err != nil {
			return nil, err
		}
		retval, stats := v.routeAddDel(routeChange{m.IsAdd, m.IsMultipath, m.Route.TableID, m.Route.Prefix, m.Route.Paths, 0})
		*r = ip.IPRouteAddDelReply{Retval: v.wrote(retval), StatsIndex: stats}
		return r, nil
	case *ip.IPRouteLookupV2:
		r, err := into[ip.IPRouteLookupV2Reply](reply)
		if err != nil {
			return nil, err
		}
		route, retval := v.routeLookup(m)
		*r = ip.IPRouteLookupV2Reply{Retval: retval, Route: route}
		return r, nil
	case *ip.IPRouteLookup:
		r, err := into[ip.IPRouteLookupReply](reply)
		if err != nil {
			return nil, err
		}
		o, retval := v.routeLookup(&ip.IPRouteLookupV2{TableID: m.TableID, Exact: m.Exact, Prefix: m.Prefix})
		*r = ip.IPRouteLookupReply{Retval: retval, Route: ip.IPRoute{TableID: o.TableID, Prefix: o.Prefix, NPaths: o.NPaths, Paths: o.Paths}}
		return r, nil
	case *ip_neighbor.IPNeighborAddDel:
		r, err := into[ip_neighbor.IPNeighborAddDelReply](reply)
		if err != nil {
			return nil, err
		}
		*r = ip_neighbor.IPNeighborAddDelReply{Retval: v.wrote(v.neighborAddDel(m)), StatsIndex: none}
		return r, nil
	case *ip.IPTableAddDelV2:
		r, err := into[ip.IPTableAddDelV2Reply](reply)
		if err != nil {
			return nil, err
		}
		*r = ip.IPTableAddDelV2Reply{Retval: v.wrote(v.ipTableAddDel(m.IsAdd, &m.Table))}
		return r, nil
	case *ip.IPTableAddDel:
		r, err := into[ip.IPTableAddDelReply](reply)
		if err != nil {
			return nil, err
		}
		*r = ip.IPTableAddDelReply{Retval: v.wrote(v.ipTableAddDel(m.IsAdd, &m.Table))}
		return r, nil
	case *ip.IPTableFlush:
		r, err := into[ip.IPTableFlushReply](reply)
		if err != nil {
			return nil, err
		}
		*r = ip.IPTableFlushReply{Retval: v.wrote(v.ipTableFlush(&m.Table))}
		return r, nil
	case *ip_neighbor.IPNeighborConfig:
		r, err := into[ip_neighbor.IPNeighborConfigReply](reply)
		if err != nil {
			return nil, err
		}
		*r = ip_neighbor.IPNeighborConfigReply{Retval: v.wrote(v.neighborConfig(m))}
		return r, nil
	case *ip_neighbor.IPNeighborConfigGet:
		r, err := into[ip_neighbor.IPNeighborConfigGetReply](reply)
		if err != nil {
			return nil, err
		}
		l := v.neighborLimits[familyOf(m.Af == ip_types.ADDRESS_IP6)]
		*r = ip_neighbor.IPNeighborConfigGetReply{Af: m.Af, MaxNumber: l.number, MaxAge: l.age, Recycle: l.recycle}
		return r, nil
	case *arp.ProxyArpAddDel:
		r, err := into[arp.ProxyArpAddDelReply](reply)
		if err != nil {
			return nil, err
		}
		*r = arp.ProxyArpAddDelReply{Retval: v.wrote(v.proxyARPAddDel(m))}
		return r, nil
	case *arp.ProxyArpIntfcEnableDisable:
		r, err := into[arp.ProxyArpIntfcEnableDisableReply](reply)
		if err != nil {
			return nil, err
		}
		*r = arp.ProxyArpIntfcEnableDisableReply{Retval: v.wrote(v.proxyARPEnable(m))}
		return r, nil
	case *dhcp.DHCPClientConfig:
		r, err := into[dhcp.DHCPClientConfigReply](reply)
		if err != nil {
			return nil, err
		}
		*r = dhcp.DHCPClientConfigReply{Retval: v.wrote(v.dhcpConfig(m))}
		return r, nil
	}
	return nil, nil
}

// invokeL2 performs requests for bridges and devices; both results are nil for any other.
func (v *VPP) invokeL2(req, reply api.Message) (api.Message, error) {
	switch m := req.(type) {
	case *l2.L2fibAddDel:
		r, err := into[l2.L2fibAddDelReply](reply)
		if err != nil {
			return nil, err
		}
		*r = l2.L2fibAddDelReply{Retval: v.wrote(v.l2fibAddDel(m))}
		return r, nil
	case *l2.SwInterfaceSetL2Bridge:
		r, err := into[l2.SwInterfaceSetL2BridgeReply](reply)
		if err != nil {
			return nil, err
		}
		*r = l2.SwInterfaceSetL2BridgeReply{Retval: v.wrote(v.setBridge(m))}
		return r, nil
	case *vxlan.VxlanAddDelTunnelV3:
		r, err := into[vxlan.VxlanAddDelTunnelV3Reply](reply)
		if err != nil {
			return nil, err
		}
		at, retval := v.vxlanAddDel(m)
		*r = vxlan.VxlanAddDelTunnelV3Reply{Retval: v.wrote(retval), SwIfIndex: index(at)}
		return r, nil
	case *l2.BridgeDomainAddDelV2:
		r, err := into[l2.BridgeDomainAddDelV2Reply](reply)
		if err != nil {
			return nil, err
		}
		id, retval := v.bridgeAddDel(m)
		*r = l2.BridgeDomainAddDelV2Reply{Retval: v.wrote(retval), BdID: id}
		return r, nil
	case *l2.BridgeFlags:
		r, err := into[l2.BridgeFlagsReply](reply)
		if err != nil {
			return nil, err
		}
		bitmap, retval := v.bridgeFlags(m)
		*r = l2.BridgeFlagsReply{Retval: v.wrote(retval), ResultingFeatureBitmap: bitmap}
		return r, nil
	case *tapv2.TapCreateV3:
		r, err := into[tapv2.TapCreateV3Reply](reply)
		if err != nil {
			return nil, err
		}
		at, retval := v.createTap(m)
		*r = tapv2.TapCreateV3Reply{Retval: v.wrote(retval), SwIfIndex: index(at)}
		return r, nil
	case *tapv2.TapDeleteV2:
		r, err := into[tapv2.TapDeleteV2Reply](reply)
		if err != nil {
			return nil, err
		}
		*r = tapv2.TapDeleteV2Reply{Retval: v.wrote(v.deleteTap(uint32(m.SwIfIndex)))}
		return r, nil
	case *af_packet.AfPacketCreateV3:
		r, err := into[af_packet.AfPacketCreateV3Reply](reply)
		if err != nil {
			return nil, err
		}
		at, retval := v.createAFPacket(m)
		*r = af_packet.AfPacketCreateV3Reply{Retval: v.wrote(retval), SwIfIndex: index(at)}
		return r, nil
	case *af_packet.AfPacketDelete:
		r, err := into[af_packet.AfPacketDeleteReply](reply)
		if err != nil {
			return nil, err
		}
		*r = af_packet.AfPacketDeleteReply{Retval: v.wrote(v.deleteAFPacket(truncate(m.HostIfName, tagMax)))}
		return r, nil
	case *interfaces.CreateLoopbackInstance:
		r, err := into[interfaces.CreateLoopbackInstanceReply](reply)
		if err != nil {
			return nil, err
		}
		at, retval := v.createLoopback(mac(m.MacAddress), m.IsSpecified, m.UserInstance)
		*r = interfaces.CreateLoopbackInstanceReply{Retval: v.wrote(retval), SwIfIndex: index(at)}
		return r, nil
	case *interfaces.CreateLoopback:
		r, err := into[interfaces.CreateLoopbackReply](reply)
		if err != nil {
			return nil, err
		}
		at, retval := v.createLoopback(mac(m.MacAddress), false, 0)
		*r = interfaces.CreateLoopbackReply{Retval: v.wrote(retval), SwIfIndex: index(at)}
		return r, nil
	case *interfaces.DeleteLoopback:
		r, err := into[interfaces.DeleteLoopbackReply](reply)
		if err != nil {
			return nil, err
		}
		*r = interfaces.DeleteLoopbackReply{Retval: v.wrote(v.deleteLoopback(uint32(m.SwIfIndex)))}
		return r, nil
	}
	return nil, nil
}

// invokeInterface performs requests for what all interfaces have in common, and the process; both results are nil for any other.
func (v *VPP) invokeInterface(req, reply api.Message) (api.Message, error) {
	switch m := req.(type) {
	case *interfaces.SwInterfaceSetFlags:
		r, err := into[interfaces.SwInterfaceSetFlagsReply](reply)
		if err != nil {
			return nil, err
		}
		*r = interfaces.SwInterfaceSetFlagsReply{Retval: v.wrote(v.setFlags(m))}
		return r, nil
	case *interfaces.SwInterfaceTagAddDel:
		r, err := into[interfaces.SwInterfaceTagAddDelReply](reply)
		if err != nil {
			return nil, err
		}
		*r = interfaces.SwInterfaceTagAddDelReply{Retval: v.wrote(v.tagAddDel(m))}
		return r, nil
	case *interfaces.SwInterfaceAddDelAddress:
		r, err := into[interfaces.SwInterfaceAddDelAddressReply](reply)
		if err != nil {
			return nil, err
		}
		*r = interfaces.SwInterfaceAddDelAddressReply{Retval: v.wrote(v.addDelAddress(m))}
		return r, nil
	case *interfaces.SwInterfaceSetTable:
		r, err := into[interfaces.SwInterfaceSetTableReply](reply)
		if err != nil {
			return nil, err
		}
		*r = interfaces.SwInterfaceSetTableReply{Retval: v.wrote(v.setTable(m))}
		return r, nil
	case *interfaces.SwInterfaceGetTable:
		r, err := into[interfaces.SwInterfaceGetTableReply](reply)
		if err != nil {
			return nil, err
		}
		id, retval := v.getTable(m)
		*r = interfaces.SwInterfaceGetTableReply{Retval: retval, VrfID: id}
		return r, nil
	case *interfaces.SwInterfaceSetUnnumbered:
		r, err := into[interfaces.SwInterfaceSetUnnumberedReply](reply)
		if err != nil {
			return nil, err
		}
		*r = interfaces.SwInterfaceSetUnnumberedReply{Retval: v.wrote(v.setUnnumbered(m))}
		return r, nil
	case *interfaces.SwInterfaceSetMtu:
		r, err := into[interfaces.SwInterfaceSetMtuReply](reply)
		if err != nil {
			return nil, err
		}
		*r = interfaces.SwInterfaceSetMtuReply{Retval: v.wrote(v.setMTU(m))}
		return r, nil
	case *interfaces.HwInterfaceSetMtu:
		r, err := into[interfaces.HwInterfaceSetMtuReply](reply)
		if err != nil {
			return nil, err
		}
		*r = interfaces.HwInterfaceSetMtuReply{Retval: v.wrote(v.setHardwareMTU(m))}
		return r, nil
	case *interfaces.SwInterfaceSetMacAddress:
		r, err := into[interfaces.SwInterfaceSetMacAddressReply](reply)
		if err != nil {
			return nil, err
		}
		*r = interfaces.SwInterfaceSetMacAddressReply{Retval: v.wrote(v.setMAC(m))}
		return r, nil
	case *interfaces.SwInterfaceGetMacAddress:
		r, err := into[interfaces.SwInterfaceGetMacAddressReply](reply)
		if err != nil {
			return nil, err
		}
		address, retval := v.getMAC(m)
		*r = interfaces.SwInterfaceGetMacAddressReply{Retval: retval, MacAddress: address}
		return r, nil
	case *interfaces.SwInterfaceSetRxMode:
		r, err := into[interfaces.SwInterfaceSetRxModeReply](reply)
		if err != nil {
			return nil, err
		}
		*r = interfaces.SwInterfaceSetRxModeReply{Retval: v.wrote(v.setRxMode(m))}
		return r, nil
	case *interfaces.WantInterfaceEvents:
		r, err := into[interfaces.WantInterfaceEventsReply](reply)
		if err != nil {
			return nil, err
		}
		*r = interfaces.WantInterfaceEventsReply{Retval: v.wantInterfaceEvents(m)}
		return r, nil
	case *memclnt.ControlPing:
		r, err := into[memclnt.ControlPingReply](reply)
		if err != nil {
			return nil, err
		}
		*r = memclnt.ControlPingReply{VpePID: v.pid}
		return r, nil
	case *vpe.ShowVersion:
		r, err := into[vpe.ShowVersionReply](reply)
		if err != nil {
			return nil, err
		}
		*r = vpe.ShowVersionReply{Program: "vpe", Version: Version, BuildDate: buildDate, BuildDirectory: "vppmodel"}
		return r, nil
	}
	return nil, nil
}
