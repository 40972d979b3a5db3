package vppwire

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// ParseObject reads what an Object's AppendText wrote: ParseObject(text of o) == o.
func ParseObject(line string) (Object, error) {
	p := &words{line: line, left: strings.Split(line, " ")}
	o := p.object()
	if p.err == nil && len(p.left) > 0 {
		p.fail("%q is left over", p.left[0])
	}
	if p.err != nil {
		return nil, p.err
	}
	return o, nil
}

// words reads a line word by word; the first error stays.
type words struct {
	line string
	left []string
	err  error
}

func (p *words) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("object %q: %s", p.line, fmt.Sprintf(format, args...))
	}
}

func (p *words) word() string {
	if len(p.left) == 0 || p.left[0] == "" {
		p.fail("a word is missing")
		return ""
	}
	w := p.left[0]
	p.left = p.left[1:]
	return w
}

// has takes the next word if it is w.
func (p *words) has(w string) bool {
	if len(p.left) > 0 && p.left[0] == w {
		p.left = p.left[1:]
		return true
	}
	return false
}

func (p *words) expect(w string) {
	if got := p.word(); got != w {
		p.fail("want %q, have %q", w, got)
	}
}

func (p *words) number(bits int) uint64 {
	w := p.word()
	n, err := strconv.ParseUint(w, 10, bits)
	if err != nil || strconv.FormatUint(n, 10) != w {
		p.fail("%q is not a number of %d bits", w, bits)
	}
	return n
}

func (p *words) named(w string, bits int) uint64 { p.expect(w); return p.number(bits) }

func (p *words) mac() (m MAC) {
	w := p.word()
	hw, err := net.ParseMAC(w)
	if err != nil || len(hw) != 6 || hw.String() != w {
		p.fail("%q is not a MAC", w)
		return m
	}
	return MAC(hw)
}

func (p *words) addr() netip.Addr {
	w := p.word()
	a, err := netip.ParseAddr(w)
	if err != nil || a.String() != w || a.Is4In6() || a.Zone() != "" {
		p.fail("%q is not an address", w)
		return netip.Addr{}
	}
	return a
}

func (p *words) prefix() netip.Prefix {
	w := p.word()
	x, err := netip.ParsePrefix(w)
	if err != nil || x.String() != w || x.Addr().Is4In6() {
		p.fail("%q is not a prefix", w)
		return netip.Prefix{}
	}
	return x
}

func (p *words) masked() netip.Prefix {
	x := p.prefix()
	if x != x.Masked() {
		p.fail("%s has host bits", x)
	}
	return x
}

// numbered reads an interface name of the given kind and returns its number.
func (p *words) numbered(prefix string) uint32 {
	w := p.word()
	n, err := strconv.ParseUint(strings.TrimPrefix(w, prefix), 10, 32)
	if err != nil || prefix+strconv.FormatUint(n, 10) != w {
		p.fail("%q is not %s and a number", w, prefix)
	}
	return uint32(n)
}

// netnsName reads "[netns PATH] NAME".
func (p *words) netnsName() (netns, name string) {
	if p.has("netns") {
		netns = p.word()
	}
	return netns, p.word()
}

func (p *words) object() Object {
	switch kind := p.word(); kind {
	case "table":
		return Table{ID: uint32(p.number(32)), IP6: p.has("ip6")}
	case "loopback":
		o := Loopback{Instance: p.numbered(loopbackPrefix)}
		p.expect("mac")
		o.MAC = p.mac()
		return o
	case "tap":
		return p.tap()
	case "af-packet":
		w := p.word()
		o := AFPacket{Device: strings.TrimPrefix(w, afPacketPrefix)}
		if o.Device == "" || afPacketPrefix+o.Device != w {
			p.fail("%q is not %s and a device", w, afPacketPrefix)
		}
		p.expect("mac")
		o.MAC = p.mac()
		return o
	case "vxlan":
		o := VXLAN{Instance: p.numbered(vxlanPrefix)}
		p.expect("src")
		o.Src = p.addr()
		p.expect("dst")
		o.Dst = p.addr()
		o.VNI, o.Table = uint32(p.named("vni", 24)), uint32(p.named("table", 32))
		return o
	case "up":
		return Up{If: p.word()}
	case "tag":
		return Tag{If: p.word(), Text: p.word()}
	case "in-table":
		return InTable{If: p.word(), Table: uint32(p.number(32)), IP6: p.has("ip6")}
	case "mac":
		return HardwareAddress{If: p.word(), MAC: p.mac()}
	case "mtu":
		return MTU{If: p.word(), Bytes: uint32(p.number(32))}
	case "address":
		return Address{If: p.word(), Addr: p.prefix(), Table: uint32(p.named("table", 32))}
	case "unnumbered":
		return Unnumbered{If: p.word(), Donor: p.word(), Table: uint32(p.named("table", 32))}
	case "bridge":
		return Bridge{ID: uint32(p.number(32))}
	case "member":
		o := Member{If: p.word(), Bridge: uint32(p.named("bd", 32)), BVI: p.has("bvi")}
		o.SHG = uint8(p.named("shg", 8))
		return o
	case "fib":
		return FIB{Bridge: uint32(p.named("bd", 32)), MAC: p.mac(), If: p.word()}
	case "neighbor":
		return Neighbor{If: p.word(), Addr: p.addr(), MAC: p.mac()}
	case "neighbor-config":
		o := NeighborConfig{IP6: p.has("ip6")}
		if !o.IP6 {
			p.expect("ip4")
		}
		o.MaxNumber, o.MaxAge = uint32(p.named("max", 32)), uint32(p.named("age", 32))
		return o
	case "route":
		return p.route()
	default:
		return p.linuxObject(kind)
	}
}

func (p *words) linuxObject(kind string) Object {
	switch kind {
	case "veth":
		o := Veth{Device: p.word()}
		p.expect("peer")
		o.Peer = p.word()
		if p.has("netns") {
			o.PeerNetns = p.word()
		}
		return o
	case "link":
		var o LinkState
		o.Netns, o.Name = p.netnsName()
		o.MTU = uint32(p.named("mtu", 32))
		p.expect("mac")
		o.MAC = p.mac()
		if p.has("of") {
			o.Of = p.word()
		}
		return o
	case "offload":
		var o Offload
		o.Netns, o.Name = p.netnsName()
		return o
	case "linux-address":
		var o LinuxAddress
		o.Netns, o.Link = p.netnsName()
		o.Addr = p.prefix()
		return o
	case "linux-route":
		var o LinuxRoute
		o.Netns, o.Link = p.netnsName()
		o.Dst = p.masked()
		if p.has("via") {
			o.Via = p.addr()
		}
		return o
	case "linux-neighbor":
		var o LinuxNeighborEntry
		o.Netns, o.Link = p.netnsName()
		o.Addr, o.MAC = p.addr(), p.mac()
		return o
	}
	p.fail("unknown kind %q", kind)
	return nil
}

func (p *words) tap() Object {
	o := Tap{ID: p.numbered(tapPrefix)}
	p.expect("mac")
	o.MAC = p.mac()
	p.expect("host")
	o.Host = p.word()
	if p.has("netns") {
		o.Netns = p.word()
	}
	p.expect("hostmac")
	o.HostMAC = p.mac()
	o.HostMTU = uint32(p.named("hostmtu", 32))
	o.RxRing, o.TxRing = uint16(p.named("rx", 16)), uint16(p.named("tx", 16))
	if p.has("tag") {
		o.Tag = p.word()
	}
	return o
}

func (p *words) route() Object {
	o := Route{Table: uint32(p.named("table", 32)), Prefix: p.masked()}
	switch {
	case p.has("drop"):
		o.Drop = true
	case p.has("lookup"):
		o.ToTable, o.Lookup = true, uint32(p.number(32))
	default:
		p.expect("via")
		if len(p.left) == 0 {
			p.fail("a route needs a next hop, an interface, or both")
			return o
		}
		if a, err := netip.ParseAddr(p.left[0]); err == nil && a.IsValid() {
			o.Via = p.addr()
		}
		if len(p.left) > 0 {
			o.If = p.word()
		}
	}
	return o
}
