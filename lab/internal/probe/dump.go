package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"go.fd.io/govpp/adapter"
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/arp"
	"go.fd.io/govpp/binapi/classify"
	"go.fd.io/govpp/binapi/fib"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/stn"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vxlan"
)

const allInterfaces = ^interface_types.InterfaceIndex(0)

// Dump is everything that VPP told, message by message, in the order in which it came.
type Dump struct{ Messages []api.Message }

// dumpVPP asks a VPP for everything that a view shows. Messages of a kind that this VPP does not have are left out: a
// VPP without the tap plugin has no taps.
func dumpVPP(ctx context.Context, c api.Connection) (*Dump, error) {
	d := &Dump{}
	first := []api.Message{
		&fib.FibSourceDump{}, &interfaces.SwInterfaceDump{SwIfIndex: allInterfaces}, &af_packet.AfPacketDump{},
		&vxlan.VxlanTunnelV2Dump{SwIfIndex: allInterfaces}, &ip.IPTableDump{},
		&l2.BridgeDomainDump{BdID: ^uint32(0), SwIfIndex: allInterfaces},
		&ip_neighbor.IPNeighborDump{SwIfIndex: allInterfaces, Af: ip_types.ADDRESS_IP4},
		&ip_neighbor.IPNeighborDump{SwIfIndex: allInterfaces, Af: ip_types.ADDRESS_IP6},
		&ip.IPUnnumberedDump{SwIfIndex: allInterfaces}, &classify.ClassifyTableIds{}, &arp.ProxyArpDump{}, &arp.ProxyArpIntfcDump{},
	}
	if err := d.ask(ctx, c, first); err != nil {
		return nil, err
	}
	// Taps have dumps of their own; without the message there are none.
	if err := d.ask(ctx, c, []api.Message{&tapv2.SwInterfaceTapV2Dump{SwIfIndex: allInterfaces}}); err != nil && !unknownMessage(err) {
		return nil, err
	}
	if err := d.ask(ctx, c, []api.Message{&nat44_ed.Nat44ShowRunningConfig{}}); err != nil && !unknownMessage(err) {
		return nil, err
	}
	if err := d.ask(ctx, c, []api.Message{&stn.StnRulesDump{}}); err != nil && !unknownMessage(err) {
		return nil, err
	}
	if err := d.ask(ctx, c, aclDumps()); err != nil && !unknownMessage(err) {
		return nil, err
	}
	var second []api.Message
	apiSource := uint8(0)
	for _, m := range d.Messages {
		switch m := m.(type) {
		case *fib.FibSourceDetails:
			if m.Src.Name == apiName {
				apiSource = m.Src.ID
			}
		case *interfaces.SwInterfaceDetails:
			second = append(second, &interfaces.SwInterfaceGetTable{SwIfIndex: m.SwIfIndex},
				&interfaces.SwInterfaceGetTable{SwIfIndex: m.SwIfIndex, IsIPv6: true},
				&ip.IPAddressDump{SwIfIndex: m.SwIfIndex}, &ip.IPAddressDump{SwIfIndex: m.SwIfIndex, IsIPv6: true})
		case *ip.IPTableDetails:
			second = append(second, &ip.IPRouteV2Dump{Table: ip.IPTable{TableID: m.Table.TableID, IsIP6: m.Table.IsIP6}})
		case *af_packet.AfPacketDetails:
			second = append(second, &classify.ClassifyTableByInterface{SwIfIndex: m.SwIfIndex})
		case *classify.ClassifyTableIdsReply:
			for _, id := range m.Ids {
				second = append(second, &classify.ClassifyTableInfo{TableID: id}, &classify.ClassifySessionDump{TableID: id})
			}
		case *nat44_ed.Nat44ShowRunningConfigReply:
			second = append(second, natDumps(m)...)
		case *l2.BridgeDomainDetails:
			if m.BdID != 0 {
				second = append(second, &l2.L2FibTableDump{BdID: m.BdID})
			}
		}
	}
	if apiSource == 0 {
		return nil, errors.New("VPP names no FIB source API")
	}
	return d, d.ask(ctx, c, second)
}

// tableOf is an answer to SwInterfaceGetTable with the question that it does not repeat.
type tableOf struct {
	*interfaces.SwInterfaceGetTableReply
	index uint32
	ip6   bool
}

// ask sends all requests at once and reads the answers until that of the ping behind them: a VPP that sleeps between
// two rounds answers many questions in one.
func (d *Dump) ask(ctx context.Context, c api.Connection, requests []api.Message) error {
	const batch = 24 // answers of more requests could fill the stream's buffers
	for len(requests) > 0 {
		n := min(batch, len(requests))
		if err := d.askBatch(ctx, c, requests[:n]); err != nil {
			return err
		}
		requests = requests[n:]
	}
	return nil
}

func (d *Dump) askBatch(ctx context.Context, c api.Connection, requests []api.Message) error {
	stream, err := c.NewStream(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }() // everything has been read by then, or the connection is broken
	var tables []*interfaces.SwInterfaceGetTable
	for _, r := range requests {
		if t, ok := r.(*interfaces.SwInterfaceGetTable); ok {
			tables = append(tables, t)
		}
		if err := stream.SendMsg(r); err != nil {
			return fmt.Errorf("%s: %w", r.GetMessageName(), err)
		}
	}
	if err := stream.SendMsg(&memclnt.ControlPing{}); err != nil {
		return err
	}
	for {
		m, err := stream.RecvMsg()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("VPP's connection ended")
			}
			return fmt.Errorf("dump VPP: %w", err)
		}
		switch m := m.(type) {
		case *memclnt.ControlPingReply:
			return nil
		case *interfaces.SwInterfaceGetTableReply:
			d.Messages = append(d.Messages, tableOf{m, uint32(tables[0].SwIfIndex), tables[0].IsIPv6})
			tables = tables[1:]
		default:
			d.Messages = append(d.Messages, m)
		}
	}
}

// unknownMessage tells a message that this VPP does not have from a broken connection.
func unknownMessage(err error) bool {
	var unknown *adapter.UnknownMsgError
	return errors.As(err, &unknown)
}

// address is an address of VPP's API.
func address(a ip_types.Address) netip.Addr {
	if a.Af == ip_types.ADDRESS_IP6 {
		b := a.Un.GetIP6()
		return netip.AddrFrom16(b)
	}
	b := a.Un.GetIP4()
	return netip.AddrFrom4(b)
}

func prefix(p ip_types.Prefix) netip.Prefix { return netip.PrefixFrom(address(p.Address), int(p.Len)) }
