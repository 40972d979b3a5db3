package vppmodel

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ethernet_types"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/tapv2"
)

const (
	// tapMax is the largest tap ID (src/vnet/devices/tap/tap.c, TAP_MAX_INSTANCE).
	tapMax = 8192
	// ringDefault and ringMax count descriptors (src/vnet/devices/virtio/virtio.c).
	ringDefault = 256
	ringMax     = 32768
	// linuxNameMax is what the kernel keeps of a device name, in bytes.
	linuxNameMax = 15
)

// tap is what a tap has beside an interface; the strings are as the client gave them.
type tap struct {
	hostName, netns, bridge string
	hostMAC                 mac
	hostMTU                 uint32
	host4                   ip_types.IP4AddressWithPrefix
	host6                   ip_types.IP6AddressWithPrefix
	rx, tx                  uint16
	flags                   tapv2.TapFlags
}

func (t *tap) persistent() bool { return t.flags&tapv2.TAP_API_FLAG_PERSIST != 0 }

// linuxName is the device's name: the kernel cuts what VPP remembers whole.
func (t *tap) linuxName() string { return truncate(t.hostName, linuxNameMax) }

// path is the namespace as VPP opens it: an absolute path, pid:<n>, or a name below /var/run/netns.
func (t *tap) path() string {
	switch pid, isPID := strings.CutPrefix(t.netns, "pid:"); {
	case t.netns == "" || t.netns[0] == '/':
		return t.netns
	case isPID:
		return "/proc/" + pid + "/ns/net"
	}
	return "/var/run/netns/" + t.netns
}

func (v *VPP) createTap(m *tapv2.TapCreateV3, r *tapv2.TapCreateV3Reply) int32 {
	at, retval := v.addTap(m)
	*r = tapv2.TapCreateV3Reply{Retval: retval, SwIfIndex: index(at)}
	return retval
}

// addTap follows tap_create_if: ID, namespace, device, addresses and gateways, rings, and only then the interface.
func (v *VPP) addTap(m *tapv2.TapCreateV3) (at uint32, retval int32) {
	id := m.ID
	switch {
	case id == none:
		id = v.taps.smallestFree()
	case id <= tapMax && v.taps.has(id):
		return none, invalidInterface
	}
	if id > tapMax {
		return none, unspecified
	}
	t := &tap{rx: m.RxRingSz, tx: m.TxRingSz, flags: m.TapFlags}
	if m.HostIfNameSet {
		t.hostName = truncate(m.HostIfName, tagMax)
	} else if t.hostName = "tap" + strconv.FormatUint(uint64(id), 10); m.TapFlags&tapv2.TAP_API_FLAG_ATTACH != 0 {
		return none, noInterface
	}
	t.fill(m)
	if t.hostMAC == (mac{}) {
		t.hostMAC = v.drawMAC()
	}
	if retval := v.makeLinuxEnd(t, m); retval != ok {
		return none, retval
	}
	added := iface{kind: KindTap, name: "tap" + strconv.FormatUint(uint64(id), 10), tag: truncate(m.Tag, tagMax),
		instance: id, mac: mac(m.MacAddress), ethernet: true, link: true, device: t}
	if m.UseRandomMac {
		added.mac = v.drawMAC()
	}
	v.taps.add(id)
	i := v.addInterface(added)
	v.tellInterface(i, v.flags(i), false)
	return i.index, ok
}

func (t *tap) fill(m *tapv2.TapCreateV3) {
	if m.HostNamespaceSet {
		t.netns = truncate(m.HostNamespace, tagMax)
	}
	if m.HostBridgeSet {
		t.bridge = truncate(m.HostBridge, tagMax)
	}
	if m.HostMacAddrSet {
		t.hostMAC = mac(m.HostMacAddr)
	}
	if m.HostMtuSet {
		t.hostMTU = m.HostMtuSize
	}
	if m.HostIP4PrefixSet {
		t.host4 = m.HostIP4Prefix
	}
	if m.HostIP6PrefixSet {
		t.host6 = m.HostIP6Prefix
	}
}

// makeLinuxEnd creates the device and leaves nothing behind when a later step fails.
func (v *VPP) makeLinuxEnd(t *tap, m *tapv2.TapCreateV3) int32 {
	if v.host != nil {
		if err := v.host.TapCreate(t.path(), t.linuxName(), t.hostMAC, t.hostMTU); err != nil {
			if v.noNetns != nil && errors.Is(err, v.noNetns) {
				return syscallError2
			}
			return syscallError3
		}
	}
	retval := ok
	if err := v.addressLinuxEnd(t, m); err != nil {
		retval = netlinkError
	} else if !ringFits(t.rx) || !ringFits(t.tx) {
		retval = initFailed
	}
	if retval != ok && v.host != nil {
		v.host.TapDelete(t.path(), t.linuxName())
	}
	return retval
}

// ringFits: a power of two up to ringMax, or 0 for the default.
func ringFits(n uint16) bool { return n&(n-1) == 0 && n <= ringMax }

func (v *VPP) addressLinuxEnd(t *tap, m *tapv2.TapCreateV3) error {
	host, able := v.host.(TapAddresser)
	if !able {
		return nil
	}
	var errs []error
	if m.HostIP4PrefixSet && m.HostIP4Prefix.Len > 0 {
		p := netip.PrefixFrom(netip.AddrFrom4(m.HostIP4Prefix.Address), int(m.HostIP4Prefix.Len))
		errs = append(errs, host.TapAddress(t.path(), t.linuxName(), p))
	}
	if m.HostIP6PrefixSet && m.HostIP6Prefix.Len > 0 {
		p := netip.PrefixFrom(netip.AddrFrom16(m.HostIP6Prefix.Address), int(m.HostIP6Prefix.Len))
		errs = append(errs, host.TapAddress(t.path(), t.linuxName(), p))
	}
	if m.HostIP4GwSet {
		errs = append(errs, host.TapGateway(t.path(), t.linuxName(), netip.AddrFrom4(m.HostIP4Gw)))
	}
	if m.HostIP6GwSet {
		errs = append(errs, host.TapGateway(t.path(), t.linuxName(), netip.AddrFrom16(m.HostIP6Gw)))
	}
	return errors.Join(errs...)
}

// deleteTap succeeds when the namespace or the Linux end is gone already.
func (v *VPP) deleteTap(m *tapv2.TapDeleteV2) int32 {
	i := v.at(uint32(m.SwIfIndex))
	if i == nil || i.kind != KindTap {
		return invalidIndex
	}
	v.taps.remove(i.instance)
	v.deleteInterface(i)
	if t := i.device.(*tap); v.host != nil && !t.persistent() {
		v.host.TapDelete(t.path(), t.linuxName())
	}
	return ok
}

func (v *VPP) tapDump(m *tapv2.SwInterfaceTapV2Dump) []api.Message {
	var out []api.Message
	for _, i := range v.ifaces {
		if i == nil || i.kind != KindTap || uint32(m.SwIfIndex) != none && uint32(m.SwIfIndex) != i.index {
			continue
		}
		t := i.device.(*tap)
		out = append(out, &tapv2.SwInterfaceTapV2Details{
			SwIfIndex: i.index, ID: i.instance, TxRingSz: ringSize(t.tx), RxRingSz: ringSize(t.rx), HostMtuSize: t.hostMTU,
			HostMacAddr: ethernet_types.MacAddress(t.hostMAC), HostIP4Prefix: t.host4, HostIP6Prefix: t.host6, TapFlags: t.flags,
			DevName: i.name, HostIfName: t.hostName, HostNamespace: t.netns, HostBridge: t.bridge,
		})
	}
	return out
}

func ringSize(n uint16) uint16 {
	if n == 0 {
		return ringDefault
	}
	return n
}
