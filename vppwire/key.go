package vppwire

import (
	"net/netip"
)

// Key names one object on one node. Two objects with the same Key are versions of the same thing.
// It is comparable and small: a node in a full mesh of a thousand holds eight thousand of them.
type Key struct {
	Kind Kind
	// Num is a table ID, a bridge domain ID, or 6 where an interface's IPv6 side is meant.
	Num uint32
	// Name is an interface's VPP name (loop0, host-vd12, tap7, vxlan_tunnel3) or a Linux link's name.
	Name string
	// Netns is the namespace of a Linux object, empty for the host's own. No key has both a Num and a Netns.
	Netns string
	// Prefix is a route's destination, an interface's address, or a neighbor's address as a full-length prefix.
	Prefix netip.Prefix
	// MAC is an L2 FIB entry's address. No key has both a MAC and a Prefix.
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
	num := ""
	if int(k.Kind) < len(kinds) {
		num = kinds[k.Kind].num
	}
	if num != "" && num != "ip6" {
		b = appendNumber(b, num, uint64(k.Num))
	}
	if k.Name != "" {
		b = append(b, ' ')
		b = append(b, k.Name...)
	}
	if k.Prefix.IsValid() {
		b = append(b, ' ')
		b = k.Prefix.AppendTo(b)
	}
	if k.MAC != (MAC{}) {
		b = append(b, ' ')
		b = k.MAC.AppendText(b)
	}
	if num == "ip6" && k.Num == 6 {
		b = append(b, " ip6"...)
	}
	return b
}

// family is 6 for the IPv6 side of something that has two, as a key's Num.
func family(ip6 bool) uint32 {
	if ip6 {
		return 6
	}
	return 0
}

// full is a as a prefix of its whole length.
func full(a netip.Addr) netip.Prefix { return netip.PrefixFrom(a, a.BitLen()) }

// MAC is an Ethernet address; the zero MAC stands for "not set".
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
