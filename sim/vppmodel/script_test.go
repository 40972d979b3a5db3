package vppmodel_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/arp"
	"go.fd.io/govpp/binapi/dhcp"
	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vxlan"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

const none = 1<<32 - 1

// script drives a VPP through govpp's generated clients with one short line per call: the stories and the table of
// return codes share it. Interfaces go by VPP's name, or by #index.
type script struct {
	vpp  *vppmodel.VPP
	host *fakeHost
	ctx  context.Context
}

func newScript() *script {
	h := &fakeHost{links: map[string]uint64{"vd01": 7, "eth9": 8}}
	return &script{ctx: context.Background(), host: h, vpp: vppmodel.New(vppmodel.Config{
		PID: 41, Host: h, NoNamespace: errNoNamespace,
		NICs: []vppmodel.NIC{{Name: "GigabitEthernet0/8/0", MAC: [6]byte{0xaa, 5: 1}}},
	})}
}

var errNoNamespace = errors.New("no such namespace")

// fakeHost is the machine below: devices in VPP's namespace by name with their identity, and taps by namespace and
// name.
type fakeHost struct {
	links map[string]uint64
	taps  []string
	addrs []string
	down  []string
	memifFiles
}

func (h *fakeHost) TapCreate(netns, name string, _ [6]byte, _ uint32) error {
	at := netns + ":" + name
	switch {
	case strings.Contains(netns, "missing"):
		return fmt.Errorf("open %s: %w", netns, errNoNamespace)
	case slices.Contains(h.taps, at):
		return errors.New("device or resource busy")
	}
	h.taps = append(h.taps, at)
	return nil
}

func (h *fakeHost) TapDelete(netns, name string) {
	h.taps = slices.DeleteFunc(h.taps, func(t string) bool { return t == netns+":"+name })
}
func (h *fakeHost) HasLink(name string) bool { return h.links[name] != 0 }
func (h *fakeHost) LinkUp(name string) {
	h.down = slices.DeleteFunc(h.down, func(d string) bool { return d == name })
}
func (h *fakeHost) LinkDown(name string)        { h.down = append(h.down, name) }
func (h *fakeHost) LinkMAC(name string) [6]byte { return [6]byte{5: byte(h.links[name])} }
func (h *fakeHost) LinkID(name string) uint64   { return h.links[name] }
func (h *fakeHost) TapAddress(netns, name string, p netip.Prefix) error {
	h.addrs = append(h.addrs, netns+":"+name+" "+p.String())
	return nil
}
func (h *fakeHost) TapGateway(string, string, netip.Addr) error {
	return errors.New("network is unreachable")
}

// do runs one line and returns what there is to say: "ok", a retval with its name, or what was asked for.
func (s *script) do(line string) string {
	out, err := s.run(strings.Fields(line))
	var refused api.VPPApiError
	switch {
	case errors.As(err, &refused):
		return strconv.Itoa(int(refused)) + out
	case err != nil:
		return "error: " + err.Error()
	case out == "":
		return "ok"
	}
	return strings.TrimSpace(out)
}

// arg returns the word after name, or absent.
func arg(f []string, name, absent string) string {
	if i := slices.Index(f, name); i >= 0 && i+1 < len(f) {
		return f[i+1]
	}
	return absent
}

func number(s string) uint32 {
	if s == "any" {
		return none
	}
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		panic(err)
	}
	return uint32(n)
}

func macOf(s string) (m [6]byte) {
	if s == "" {
		return m
	}
	b, err := hex.DecodeString(strings.ReplaceAll(s, ":", ""))
	if err != nil {
		panic(err)
	}
	return [6]byte(b)
}

func address(s string) ip_types.Address {
	a, err := ip_types.ParseAddress(s)
	if err != nil {
		panic(err)
	}
	return a
}

func split(s string) (ip_types.Address, uint8) {
	a, n, _ := strings.Cut(s, "/")
	return address(a), uint8(number(n))
}

func (s *script) index(name string) interface_types.InterfaceIndex {
	if n, raw := strings.CutPrefix(name, "#"); raw {
		return interface_types.InterfaceIndex(number(n))
	}
	for i := range s.vpp.Interfaces() {
		if i.Name == name {
			return interface_types.InterfaceIndex(i.Index)
		}
	}
	panic("no interface " + name)
}

func (s *script) run(f []string) (string, error) {
	if f[0] == "pid" {
		return fmt.Sprint(s.vpp.PID()), nil
	}
	for _, group := range []func([]string) (string, bool, error){s.device, s.memif, s.common, s.bridging, s.routing, s.extras} {
		if out, mine, err := group(f); mine {
			return out, err
		}
	}
	panic("unknown command " + f[0])
}

func created(at interface_types.InterfaceIndex) string {
	if uint32(at) == none {
		return ""
	}
	return fmt.Sprintf(" index %d", at)
}

func (s *script) device(f []string) (string, bool, error) {
	ifs, taps, afs := interfaces.NewServiceClient(s.vpp), tapv2.NewServiceClient(s.vpp), af_packet.NewServiceClient(s.vpp)
	switch f[0] {
	case "loop":
		r, err := ifs.CreateLoopbackInstance(s.ctx, &interfaces.CreateLoopbackInstance{MacAddress: macOf(arg(f, "mac", "")),
			IsSpecified: slices.Contains(f, "instance"), UserInstance: number(arg(f, "instance", "0"))})
		return created(r.SwIfIndex), true, err
	case "loop-del":
		_, err := ifs.DeleteLoopback(s.ctx, &interfaces.DeleteLoopback{SwIfIndex: s.index(f[1])})
		return "", true, err
	case "tap":
		m := &tapv2.TapCreateV3{ID: number(arg(f, "id", "any")), UseRandomMac: true, Tag: arg(f, "tag", ""),
			HostIfNameSet: slices.Contains(f, "host"), HostIfName: arg(f, "host", ""), RxRingSz: uint16(number(arg(f, "rx", "256"))),
			HostNamespaceSet: slices.Contains(f, "netns"), HostNamespace: arg(f, "netns", ""), HostIP4GwSet: slices.Contains(f, "gw")}
		if p := arg(f, "host-ip", ""); p != "" {
			a, n := split(p)
			m.HostIP4PrefixSet, m.HostIP4Prefix = true, ip_types.IP4AddressWithPrefix{Address: a.Un.GetIP4(), Len: n}
		}
		if slices.Contains(f, "persist") {
			m.TapFlags = tapv2.TAP_API_FLAG_PERSIST
		}
		r, err := taps.TapCreateV3(s.ctx, m)
		return created(r.SwIfIndex), true, err
	case "tap-del":
		_, err := taps.TapDeleteV2(s.ctx, &tapv2.TapDeleteV2{SwIfIndex: s.index(f[1])})
		return "", true, err
	case "af":
		r, err := afs.AfPacketCreateV3(s.ctx, &af_packet.AfPacketCreateV3{Mode: af_packet.AfPacketMode(number(arg(f, "mode", "1"))),
			HostIfName: f[1], HwAddr: macOf(arg(f, "mac", "02:00:00:00:00:07"))})
		return created(r.SwIfIndex), true, err
	case "af-del":
		_, err := afs.AfPacketDelete(s.ctx, &af_packet.AfPacketDelete{HostIfName: f[1]})
		return "", true, err
	case "vxlan":
		r, err := vxlan.NewServiceClient(s.vpp).VxlanAddDelTunnelV3(s.ctx, &vxlan.VxlanAddDelTunnelV3{IsAdd: f[1] == "add",
			SrcAddress: address(f[2]), DstAddress: address(f[3]), Vni: number(f[4]), Instance: number(arg(f, "instance", "any")),
			EncapVrfID: number(arg(f, "encap", "0")), DecapNextIndex: number(arg(f, "decap", "any")), McastSwIfIndex: none,
			DstPort: uint16(number(arg(f, "dst-port", "0")))})
		return created(r.SwIfIndex), true, err
	}
	return "", false, nil
}

func (s *script) common(f []string) (string, bool, error) {
	ifs := interfaces.NewServiceClient(s.vpp)
	var err error
	switch f[0] {
	case "up":
		_, err = ifs.SwInterfaceSetFlags(s.ctx, &interfaces.SwInterfaceSetFlags{SwIfIndex: s.index(f[1]), Flags: 1})
	case "down":
		_, err = ifs.SwInterfaceSetFlags(s.ctx, &interfaces.SwInterfaceSetFlags{SwIfIndex: s.index(f[1])})
	case "tag":
		_, err = ifs.SwInterfaceTagAddDel(s.ctx, &interfaces.SwInterfaceTagAddDel{SwIfIndex: s.index(f[1]), IsAdd: true, Tag: strings.Join(f[2:], " ")})
	case "untag":
		_, err = ifs.SwInterfaceTagAddDel(s.ctx, &interfaces.SwInterfaceTagAddDel{SwIfIndex: s.index(f[1])})
	case "mtu":
		_, err = ifs.SwInterfaceSetMtu(s.ctx, &interfaces.SwInterfaceSetMtu{SwIfIndex: s.index(f[1]), Mtu: []uint32{number(f[2]), 0, 0, 0}})
	case "hw-mtu":
		_, err = ifs.HwInterfaceSetMtu(s.ctx, &interfaces.HwInterfaceSetMtu{SwIfIndex: s.index(f[1]), Mtu: uint16(number(f[2]))})
	case "mac":
		_, err = ifs.SwInterfaceSetMacAddress(s.ctx, &interfaces.SwInterfaceSetMacAddress{SwIfIndex: s.index(f[1]), MacAddress: macOf(f[2])})
	case "rx-mode":
		_, err = ifs.SwInterfaceSetRxMode(s.ctx, &interfaces.SwInterfaceSetRxMode{SwIfIndex: s.index(f[1]), Mode: interface_types.RX_MODE_API_ADAPTIVE,
			QueueIDValid: len(f) > 2, QueueID: number(arg(f, "queue", "0"))})
	case "bind":
		_, err = ifs.SwInterfaceSetTable(s.ctx, &interfaces.SwInterfaceSetTable{SwIfIndex: s.index(f[1]), VrfID: number(f[2]), IsIPv6: slices.Contains(f, "v6")})
	case "bound":
		r, err := ifs.SwInterfaceGetTable(s.ctx, &interfaces.SwInterfaceGetTable{SwIfIndex: s.index(f[1])})
		return fmt.Sprintf(" table %d", r.VrfID), true, err
	case "addr":
		m := &interfaces.SwInterfaceAddDelAddress{SwIfIndex: s.index(f[2]), IsAdd: f[1] == "add", DelAll: f[1] == "flush"}
		if !m.DelAll {
			m.Prefix.Address, m.Prefix.Len = split(f[3])
		}
		_, err = ifs.SwInterfaceAddDelAddress(s.ctx, m)
	case "unnumbered":
		_, err = ifs.SwInterfaceSetUnnumbered(s.ctx, &interfaces.SwInterfaceSetUnnumbered{IsAdd: f[1] == "add",
			UnnumberedSwIfIndex: s.index(f[2]), SwIfIndex: s.index(f[3])})
	case "neighbor":
		m := &ip_neighbor.IPNeighborAddDel{IsAdd: f[1] == "add", Neighbor: ip_neighbor.IPNeighbor{SwIfIndex: s.index(f[2]), IPAddress: address(f[3])}}
		if m.IsAdd {
			m.Neighbor.MacAddress = macOf(f[4])
		}
		if !slices.Contains(f, "dynamic") {
			m.Neighbor.Flags = ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC
		}
		_, err = ip_neighbor.NewServiceClient(s.vpp).IPNeighborAddDel(s.ctx, m)
	case "neighbor-config":
		_, err = ip_neighbor.NewServiceClient(s.vpp).IPNeighborConfig(s.ctx, &ip_neighbor.IPNeighborConfig{MaxNumber: number(f[1]), MaxAge: number(f[2])})
	default:
		return "", false, nil
	}
	return "", true, err
}

func (s *script) bridging(f []string) (string, bool, error) {
	c := l2.NewServiceClient(s.vpp)
	var err error
	switch f[0] {
	case "bridge":
		has := func(w string) bool { return slices.Contains(f, w) }
		r, err := c.BridgeDomainAddDelV2(s.ctx, &l2.BridgeDomainAddDelV2{IsAdd: f[1] == "add", BdID: number(f[2]), Learn: has("learn"),
			Forward: has("forward"), Flood: has("flood"), UuFlood: has("uu-flood"), ArpTerm: has("arp-term")})
		if err == nil && f[2] == "any" {
			return fmt.Sprintf(" id %d", r.BdID), true, nil
		}
		return "", true, err
	case "bridge-flags":
		_, err = c.BridgeFlags(s.ctx, &l2.BridgeFlags{BdID: number(f[1]), IsSet: f[2] == "set", Flags: l2.BdFlags(number(f[3]))})
	case "member":
		_, err = c.SwInterfaceSetL2Bridge(s.ctx, &l2.SwInterfaceSetL2Bridge{RxSwIfIndex: s.index(f[1]), BdID: number(f[2]), Enable: true,
			PortType: l2.L2PortType(number(arg(f, "port", "0"))), Shg: uint8(number(arg(f, "shg", "0")))})
	case "unbridge":
		_, err = c.SwInterfaceSetL2Bridge(s.ctx, &l2.SwInterfaceSetL2Bridge{RxSwIfIndex: s.index(f[1])})
	case "l2fib":
		m := &l2.L2fibAddDel{IsAdd: f[1] == "add", BdID: number(f[2]), Mac: macOf(f[3]), StaticMac: true, FilterMac: slices.Contains(f, "filter")}
		if !m.FilterMac {
			m.SwIfIndex = s.index(f[4])
		}
		_, err = c.L2fibAddDel(s.ctx, m)
	default:
		return "", false, nil
	}
	return "", true, err
}

func (s *script) routing(f []string) (string, bool, error) {
	c := ip.NewServiceClient(s.vpp)
	switch f[0] {
	case "table":
		_, err := c.IPTableAddDelV2(s.ctx, &ip.IPTableAddDelV2{IsAdd: f[1] == "add", Table: ip.IPTable{TableID: number(f[2]), IsIP6: slices.Contains(f, "v6")}})
		return "", true, err
	case "flush":
		_, err := c.IPTableFlush(s.ctx, &ip.IPTableFlush{Table: ip.IPTable{TableID: number(f[1])}})
		return "", true, err
	case "route":
		a, n := split(f[3])
		m := &ip.IPRouteAddDelV2{IsAdd: f[1] == "add" || f[1] == "add-path", IsMultipath: strings.HasSuffix(f[1], "-path"),
			Route: ip.IPRouteV2{TableID: number(f[2]), Prefix: ip_types.Prefix{Address: a, Len: n}, Src: uint8(number(arg(f, "src", "0"))),
				Paths: s.path(f[4:])}}
		_, err := c.IPRouteAddDelV2(s.ctx, m)
		return "", true, err
	case "look":
		r, found := s.vpp.Route(number(f[1]), netip.MustParseAddr(f[2]))
		if !found {
			return "no table", true, nil
		}
		action := map[vppmodel.Action]string{vppmodel.Drop: "drop", vppmodel.Forward: "forward", vppmodel.Local: "local", vppmodel.Lookup: "lookup"}[r.Action]
		out := fmt.Sprintf("%s %s", r.Prefix, action)
		if r.Via.IsValid() {
			out += " via " + r.Via.String()
		}
		if i, live := s.vpp.Interface(r.Index); live {
			out += " " + i.Name
		}
		if r.Lookup != 0 {
			out += fmt.Sprintf(" table %d", r.Lookup)
		}
		return out, true, nil
	}
	return "", false, nil
}

// path reads "via ADDR [IF]", "out IF", "lookup TABLE [v6]", "drop", "local IF" with "weight N", or nothing.
func (s *script) path(f []string) []fib_types.FibPath {
	if len(f) == 0 || f[0] == "src" {
		return nil
	}
	p := fib_types.FibPath{SwIfIndex: none, Weight: uint8(number(arg(f, "weight", "1"))), Type: fib_types.FibPathType(number(arg(f, "type", "0"))),
		Proto: fib_types.FibPathNhProto(number(arg(f, "proto", "0")))}
	switch f[0] {
	case "via":
		a := address(f[1])
		p.Nh.Address, p.Proto = a.Un, fib_types.FibPathNhProto(a.Af)
		if len(f) > 2 && f[2] != "table" && f[2] != "weight" && f[2] != "src" {
			p.SwIfIndex = uint32(s.index(f[2]))
		}
		p.TableID = number(arg(f, "table", "0"))
	case "out":
		p.SwIfIndex = uint32(s.index(f[1]))
	case "lookup":
		p.TableID = number(f[1])
	case "drop":
		p.Type = fib_types.FIB_API_PATH_TYPE_DROP
	}
	return []fib_types.FibPath{p}
}

func (s *script) extras(f []string) (string, bool, error) {
	switch f[0] {
	case "proxy":
		m := &arp.ProxyArpAddDel{IsAdd: f[1] == "add", Proxy: arp.ProxyArp{TableID: number(f[2])}}
		low, high := address(f[3]), address(f[4])
		m.Proxy.Low, m.Proxy.Hi = low.Un.GetIP4(), high.Un.GetIP4()
		_, err := arp.NewServiceClient(s.vpp).ProxyArpAddDel(s.ctx, m)
		return "", true, err
	case "proxy-on", "proxy-off":
		_, err := arp.NewServiceClient(s.vpp).ProxyArpIntfcEnableDisable(s.ctx,
			&arp.ProxyArpIntfcEnableDisable{SwIfIndex: s.index(f[1]), Enable: f[0] == "proxy-on"})
		return "", true, err
	case "dhcp":
		_, err := dhcp.NewServiceClient(s.vpp).DHCPClientConfig(s.ctx, &dhcp.DHCPClientConfig{IsAdd: f[1] == "add",
			Client: dhcp.DHCPClient{SwIfIndex: s.index(f[2]), WantDHCPEvent: true}})
		return "", true, err
	case "lease":
		l := vppmodel.Lease{}
		if len(f) > 2 {
			l = vppmodel.Lease{Addr: netip.MustParsePrefix(f[2]), Router: netip.MustParseAddr(f[3])}
		}
		return "", true, s.vpp.BindLease(uint32(s.index(f[1])), l)
	case "replug": // the device of that name is deleted and made anew
		s.host.links[f[1]] += 100
		return "", true, nil
	case "host":
		return "taps " + strings.Join(s.host.taps, " ") + " addrs " + strings.Join(s.host.addrs, " ") + " down " + strings.Join(s.host.down, " "), true, nil
	case "kill":
		s.vpp.Kill()
		return "", true, nil
	case "writes":
		return fmt.Sprint(s.vpp.Writes()), true, nil
	case "text":
		return "\n" + s.vpp.Text(), true, nil
	}
	return "", false, nil
}
