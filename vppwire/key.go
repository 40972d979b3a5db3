package vppwire

import (
	"net/netip"
	"strconv"
)

// Kind is what sort of object a Key names. The zero Kind is invalid.
type Kind uint8

// The kinds, in the order in which a converging Session prefers to create them when nothing else decides.
const (
	KindTable Kind = iota + 1
	KindVeth
	KindLinuxLink
	KindOffload
	KindLoopback
	KindTap
	KindAFPacket
	KindVXLAN
	KindTag
	KindInTable
	KindMAC
	KindMTU
	KindAddress
	KindUnnumbered
	KindUp
	KindBridge
	KindBridgeMember
	KindNeighbor
	KindFIB
	KindRoute
	KindLinuxAddress
	KindLinuxRoute
	KindLinuxNeighbor
	KindNeighborConfig
	kindEnd
)

var kindNames = [...]string{
	KindTable: "table", KindVeth: "veth", KindLinuxLink: "link", KindOffload: "offload", KindLoopback: "loopback", KindTap: "tap",
	KindAFPacket: "af-packet", KindVXLAN: "vxlan", KindTag: "tag", KindInTable: "in-table", KindMAC: "mac", KindMTU: "mtu",
	KindAddress: "address", KindUnnumbered: "unnumbered", KindUp: "up", KindBridge: "bridge", KindBridgeMember: "member",
	KindNeighbor: "neighbor", KindFIB: "fib", KindRoute: "route", KindLinuxAddress: "linux-address",
	KindLinuxRoute: "linux-route", KindLinuxNeighbor: "linux-neighbor", KindNeighborConfig: "neighbor-config",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// Key names one object on one node. Two objects with the same Key are versions of the same thing.
// It is comparable and small: a node in a full mesh of a thousand holds eight thousand of them.
type Key struct {
	Kind Kind
	// Num is a table ID, a bridge domain ID, or 6 where an interface's IPv6 side is meant.
	Num uint32
	// Name is an interface's VPP name (loop0, host-vd12, tap7, vxlan_tunnel3) or a Linux link's name.
	Name string
	// Netns is the namespace of a Linux object, empty for the host's own.
	Netns string
	// Prefix is a route's destination, an interface's address, or a neighbor's address as a full-length prefix.
	Prefix netip.Prefix
	// MAC is an L2 FIB entry's address.
	MAC MAC
}

// String is the key's canonical text, kind first.
func (k Key) String() string { return string(k.AppendText(nil)) }

// AppendText appends what String returns.
func (k Key) AppendText(b []byte) []byte {
	b = append(b, k.Kind.String()...)
	if k.Netns != "" {
		b = append(b, " netns "...)
		b = append(b, k.Netns...)
	}
	switch k.Kind {
	case KindTable, KindRoute:
		b = append(b, " table "...)
		b = strconv.AppendUint(b, uint64(k.Num), 10)
	case KindBridge, KindFIB:
		b = append(b, " bd "...)
		b = strconv.AppendUint(b, uint64(k.Num), 10)
	}
	if k.Name != "" {
		b = append(b, ' ')
		b = append(b, k.Name...)
	}
	if k.Prefix.IsValid() {
		b = append(b, ' ')
		b = k.Prefix.AppendTo(b)
	}
	switch k.Kind {
	case KindFIB:
		b = append(b, ' ')
		b = k.MAC.AppendText(b)
	case KindInTable, KindNeighborConfig:
		if k.Num == 6 {
			b = append(b, " ip6"...)
		}
	}
	return b
}

// MAC is an Ethernet address; the zero MAC means "not set".
type MAC [6]byte

const hexDigits = "0123456789abcdef"

// String is the usual colon form.
func (m MAC) String() string { return string(m.AppendText(nil)) }

// AppendText appends what String returns.
func (m MAC) AppendText(b []byte) []byte {
	for i, x := range m {
		if i > 0 {
			b = append(b, ':')
		}
		b = append(b, hexDigits[x>>4], hexDigits[x&15])
	}
	return b
}
