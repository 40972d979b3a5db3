package parity

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.fd.io/govpp/binapi/ethernet_types"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// Packet is a frame that is sent into a device. Its number is in its payload.
type Packet struct {
	number int
	device string
	frame  []byte
}

func (p Packet) String() string {
	return fmt.Sprintf("number=%d in=%s %s", p.number, p.device, describe(p.frame))
}

// tester is where packets come from: an address and a MAC that nothing else has.
var tester, tester6 = netip.MustParseAddr("198.18.0.9"), netip.MustParseAddr("2001:db8::9")

func testerMAC(number int) [6]byte { return [6]byte{2, 4: 0x0f, 5: byte(number)} }

// packets are the probes of what the model has: into every AF_PACKET interface that is up, one to each address of the
// small world, to each of its MACs, and out of the far end of each tunnel.
func packets(v *vppmodel.VPP) []Packet {
	var all []Packet
	add := func(device string, frame func(number int) []byte) {
		n := len(all) + 1
		all = append(all, Packet{n, device, frame(n)})
	}
	group := [6]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	takes := func(i vppmodel.Interface) bool {
		return i.Kind == vppmodel.KindAFPacket && i.Host != "" && i.Up && i.MAC != [6]byte{}
	}
	for i := range v.Interfaces() {
		if !takes(i) {
			continue
		}
		for _, a := range four {
			add(i.Host, func(n int) []byte { return udp(n, i.MAC, netip.MustParseAddr(a)) })
			for _, df := range []bool{false, true} {
				add(i.Host, func(n int) []byte { return long(n, i.MAC, netip.MustParseAddr(a), df) })
			}
		}
		macs := [][6]byte{group}
		for last := range byte(5) {
			macs = append(macs, [6]byte{2, 5: last + 1})
		}
		for _, m := range macs {
			if m != i.MAC && m != group || i.Bridge != 0 {
				add(i.Host, func(n int) []byte { return udp(n, m, netip.MustParseAddr(four[n%len(four)])) })
			}
		}
		for t := range v.Interfaces() {
			if t.Kind != vppmodel.KindVXLAN || t.Unlisted { // see heard
				continue
			}
			for _, m := range macs {
				add(i.Host, func(n int) []byte {
					return vxlanFrame(i.MAC, t, udp(n, m, netip.MustParseAddr(four[n%len(four)])))
				})
			}
		}
	}
	nat, _ := v.NAT()
	for i := range v.Interfaces() {
		for _, m := range nat.Mappings {
			if takes(i) && m.Proto == protocolUDP && m.Port != tunnelPort {
				add(i.Host, func(n int) []byte { return ethernet(i.MAC, testerMAC(n), ip4(tester, m.Addr, 64, m.Port, numbered(n))) })
			}
		}
		for _, a := range six {
			if takes(i) {
				add(i.Host, func(n int) []byte { return udp6(n, i.MAC, netip.MustParseAddr(a), false) })
				add(i.Host, func(n int) []byte { return udp6(n, i.MAC, netip.MustParseAddr(a), true) })
			}
		}
	}
	return all
}

const (
	ethernetLen, ip4Len, udpLen = 14, 20, 8
	ip6Len, etherIPv6           = 40, 0x86dd
	probePort                   = 33434 // no socket listens
	flagDF, flagMore            = 0x40, 0x20
	tunnelPort                  = 4789
	protocolUDP                 = 17
)

// udp is a UDP packet with its number as its payload, in an Ethernet frame.
func udp(number int, to [6]byte, dst netip.Addr) []byte {
	return ethernet(to, testerMAC(number), ip4(tester, dst, 64, probePort, numbered(number)))
}

// longLen is the size of a long probe's IP packet: more than some of the MTUs that sequences set, and with a tunnel's
// header more than the devices of the testbed carry.
const longLen = 1480

// long is a UDP packet filled with its number, so that each of its fragments shows it.
func long(number int, to [6]byte, dst netip.Addr, df bool) []byte {
	body := ip4(tester, dst, 64, probePort, filled(number, longLen-ip4Len-udpLen))
	if df {
		body[6] = flagDF
		binary.BigEndian.PutUint16(body[10:], 0)
		binary.BigEndian.PutUint16(body[10:], ^sum(body[:ip4Len]))
	}
	return ethernet(to, testerMAC(number), body)
}

// filled is that many bytes that show a number everywhere.
func filled(number, size int) []byte {
	payload := append(numbered(number), "      "...)
	for len(payload) < size {
		payload = fmt.Appendf(payload, "vd%06d", number)
	}
	return payload[:size]
}

// numbered is a short payload that shows a number.
func numbered(number int) []byte {
	return binary.BigEndian.AppendUint32([]byte("vppdrill probe"), uint32(number))
}

// udp6 is a probe by IPv6, long or short. It has no checksum, which no receiver misses.
func udp6(number int, to [6]byte, dst netip.Addr, long bool) []byte {
	payload := numbered(number)
	if long {
		payload = filled(number, longLen-ip6Len-udpLen)
	}
	return ethernet6(to, testerMAC(number), ip6(tester6, dst, probePort, payload))
}

// ip6 is an IPv6 packet with UDP and without its checksum: VPP accepts tunnels' packets so (RFC 6935), and forwards
// all.
func ip6(src, dst netip.Addr, port uint16, payload []byte) []byte {
	b := make([]byte, ip6Len+udpLen, ip6Len+udpLen+len(payload))
	b[0], b[6], b[7] = 0x60, protocolUDP, 64
	binary.BigEndian.PutUint16(b[4:], uint16(udpLen+len(payload)))
	copy(b[8:], src.AsSlice())
	copy(b[24:], dst.AsSlice())
	binary.BigEndian.PutUint16(b[ip6Len:], probePort)
	binary.BigEndian.PutUint16(b[ip6Len+2:], port)
	binary.BigEndian.PutUint16(b[ip6Len+4:], uint16(udpLen+len(payload)))
	return append(b, payload...)
}

// numberIn finds the number in a piece of a long probe.
var numberIn = regexp.MustCompile(`vd(\d{6})`)

// pieceHead is how much of a fragment is searched for the number.
const pieceHead = 24

func ethernet(to, from [6]byte, body []byte) []byte {
	return append(append(append(append(make([]byte, 0, ethernetLen+len(body)), to[:]...), from[:]...), 0x08, 0x00), body...)
}

func ethernet6(to, from [6]byte, body []byte) []byte {
	frame := ethernet(to, from, body)
	binary.BigEndian.PutUint16(frame[12:], etherIPv6)
	return frame
}

// ip4 is an IPv4 packet with UDP and without its checksum (RFC 768).
func ip4(src, dst netip.Addr, ttl byte, port uint16, payload []byte) []byte {
	b := make([]byte, ip4Len+udpLen, ip4Len+udpLen+len(payload))
	b[0], b[8], b[9] = 0x45, ttl, protocolUDP
	binary.BigEndian.PutUint16(b[2:], uint16(cap(b)))
	copy(b[12:], src.AsSlice())
	copy(b[16:], dst.AsSlice())
	binary.BigEndian.PutUint16(b[10:], ^sum(b[:ip4Len]))
	binary.BigEndian.PutUint16(b[ip4Len:], probePort)
	binary.BigEndian.PutUint16(b[ip4Len+2:], port)
	binary.BigEndian.PutUint16(b[ip4Len+4:], uint16(udpLen+len(payload)))
	return append(b, payload...)
}

// sum is the ones' complement sum of a header (RFC 1071); it is 0xffff where the header's own checksum is right.
func sum(header []byte) uint16 {
	var s uint32
	for n := 0; n < len(header); n += 2 {
		s += uint32(binary.BigEndian.Uint16(header[n:]))
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

// vxlanFrame is what a tunnel's far end would send.
func vxlanFrame(to [6]byte, t vppmodel.Interface, inner []byte) []byte {
	header := binary.BigEndian.AppendUint32([]byte{8, 0, 0, 0}, t.VNI<<8)
	if !t.Dst.Is4() {
		return ethernet6(to, testerMAC(0), ip6(t.Dst, t.Src, tunnelPort, append(header, inner...)))
	}
	return ethernet(to, testerMAC(0), ip4(t.Dst, t.Src, 64, tunnelPort, append(header, inner...)))
}

// describe writes down a frame: what VPP may rewrite, and nothing that depends on chance. It is empty for a frame that
// no probe causes.
func describe(frame []byte) string {
	if len(frame) < ethernetLen+ip4Len+udpLen {
		return ""
	}
	eth := fmt.Sprintf("eth_dst=%s eth_src=%s", ethernet_types.MacAddress(frame[:6]), ethernet_types.MacAddress(frame[6:12]))
	body := frame[ethernetLen:]
	switch kind := binary.BigEndian.Uint16(frame[12:]); {
	case kind == 0x0806 && binary.BigEndian.Uint16(body[6:]) == 1:
		// The sender's address is VPP's choice among several; the requested address is the route's.
		return fmt.Sprintf("arp %s target=%s", eth, netip.AddrFrom4([4]byte(body[24:28])))
	case kind == etherIPv6:
		return describe6(eth, body)
	case kind != 0x0800 || body[9] != protocolUDP:
		return ""
	}
	good := ""
	if sum(body[:ip4Len]) != 0xffff {
		good = " checksum=bad"
	}
	head := fmt.Sprintf("%s src=%s dst=%s ttl=%d%s", eth, netip.AddrFrom4([4]byte(body[12:16])), netip.AddrFrom4([4]byte(body[16:20])), body[8], good)
	size, offset := int(binary.BigEndian.Uint16(body[2:])), int(binary.BigEndian.Uint16(body[6:])&0x1fff)*8
	if offset > 0 {
		if m := numberIn.FindSubmatch(body[ip4Len:min(len(body), ip4Len+pieceHead)]); m != nil {
			number, _ := strconv.Atoi(string(m[1])) // six digits
			return fragment(number, head, offset, size)
		}
		return ""
	}
	head += sized(size, body[6]&flagMore != 0)
	payload := body[ip4Len+udpLen:]
	if binary.BigEndian.Uint16(body[ip4Len+2:]) == tunnelPort && len(payload) > 8 {
		return around(head, payload)
	}
	if number, is := numberOf(payload); is {
		return fmt.Sprintf("udp number=%d %s%s", number, head, ported(binary.BigEndian.Uint16(body[ip4Len+2:])))
	}
	return ""
}

// ported is what a line says of a port that is not the probes' own.
func ported(port uint16) string {
	if port == probePort || port == 0 {
		return ""
	}
	return fmt.Sprintf(" port=%d", port)
}

// around is the line for a tunnel's packet, by its UDP payload.
func around(head string, payload []byte) string {
	if inner := describe(payload[8:]); inner != "" {
		return fmt.Sprintf("vxlan %s vni=%d around %s", head, binary.BigEndian.Uint32(payload[4:])>>8, inner)
	}
	return ""
}

// numberOf is what a probe's payload begins with.
func numberOf(payload []byte) (uint32, bool) {
	number, probe := strings.CutPrefix(string(payload[:min(len(payload), 18)]), "vppdrill probe")
	if !probe || len(number) != 4 {
		return 0, false
	}
	return binary.BigEndian.Uint32([]byte(number)), true
}

// describe6 is describe for an IPv6 packet.
func describe6(eth string, body []byte) string {
	if len(body) < ip6Len+udpLen || body[6] != protocolUDP {
		return ""
	}
	payload := body[ip6Len+udpLen:]
	head := fmt.Sprintf("%s src=%s dst=%s ttl=%d%s", eth, netip.AddrFrom16([16]byte(body[8:24])), netip.AddrFrom16([16]byte(body[24:40])), body[7],
		sized(ip6Len+int(binary.BigEndian.Uint16(body[4:])), false))
	if binary.BigEndian.Uint16(body[ip6Len+2:]) == tunnelPort && len(payload) > 8 {
		return around(head, payload)
	}
	if number, is := numberOf(payload); is {
		return fmt.Sprintf("udp number=%d %s", number, head)
	}
	return ""
}

// sized is what a line says of the size of a long packet, and of further fragments behind it.
func sized(size int, more bool) string {
	switch {
	case more:
		return fmt.Sprintf(" size=%d more", size)
	case size > longLen/4:
		return fmt.Sprintf(" size=%d", size)
	}
	return ""
}

// fragment is the line for a fragment that is not the first.
func fragment(number int, head string, offset, size int) string {
	return fmt.Sprintf("fragment number=%d %s offset=%d size=%d", number, head, offset, size)
}

// sights are the lines for frames that came out of a device.
func sights(device string, frames [][]byte) []string {
	var all []string
	for _, f := range frames {
		all = append(all, sight(device, describe(f))...)
	}
	return all
}

// sight is the line for a frame that came out of a device, none for one that no probe causes.
func sight(device, frame string) []string {
	if frame == "" {
		return nil
	}
	return []string{"out=" + device + " " + frame}
}

// settled sorts lines. ARP requests count once: how often VPP asks depends on time.
func settled(lines []string) []string {
	slices.Sort(lines)
	var out []string
	for n, l := range lines {
		if n > 0 && l == lines[n-1] && strings.Contains(l, " arp ") {
			continue
		}
		out = append(out, l)
	}
	return out
}

// numbersIn are the packets that lines are about, as String writes them.
func numbersIn(lines []string, of []Packet) string {
	var b strings.Builder
	for _, p := range of {
		if slices.ContainsFunc(lines, func(l string) bool { return slices.Contains(strings.Fields(l), "number="+strconv.Itoa(p.number)) }) {
			b.WriteString("; " + p.String())
		}
	}
	return b.String()
}
