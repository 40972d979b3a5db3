package parity

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"go.fd.io/govpp/binapi/ethernet_types"

	"github.com/vppdrill/vppdrill/scenarios/walk"
)

// seen is a probe's frame as the walker sees it.
func seen(frame []byte) walk.Frame {
	body := frame[ethernetLen:]
	f, head := walk.Frame{To: [6]byte(frame[:6]), From: [6]byte(frame[6:12]), Size: len(body)}, ip4Len
	if binary.BigEndian.Uint16(frame[12:]) == etherIPv6 {
		head = ip6Len
		f.Src, f.Dst, f.TTL = netip.AddrFrom16([16]byte(body[8:24])), netip.AddrFrom16([16]byte(body[24:40])), int(body[7])
	} else {
		f.Src, f.Dst, f.TTL = netip.AddrFrom4([4]byte(body[12:16])), netip.AddrFrom4([4]byte(body[16:20])), int(body[8])
		f.Whole = body[6]&flagDF != 0
	}
	f.Proto, f.SrcPort, f.DstPort = protocolUDP, binary.BigEndian.Uint16(body[head:]), binary.BigEndian.Uint16(body[head+2:])
	if f.DstPort == tunnelPort {
		payload := body[head+udpLen:]
		inner := seen(payload[8:])
		f.Content, f.VNI, f.Inner = walk.VXLAN, binary.BigEndian.Uint32(payload[4:])>>8, &inner
	}
	return f
}

// foretold writes down what the walker emits because of a probe, as describe does for what a real VPP sends: one line
// for a frame, several for one that is cut. It leaves out what describe does.
func foretold(number int, f *walk.Frame) []string {
	eth := fmt.Sprintf("eth_dst=%s eth_src=%s", ethernet_types.MacAddress(f.To), ethernet_types.MacAddress(f.From))
	head := fmt.Sprintf("%s src=%s dst=%s ttl=%d", eth, f.Src, f.Dst, f.TTL)
	var lines []string
	switch f.Content {
	case walk.ARPRequest:
		return []string{fmt.Sprintf("arp %s target=%s", eth, f.Dst)}
	case walk.VXLAN:
		for k, inner := range foretold(number, f.Inner) {
			size := f.Size
			if k > 0 || f.Inner.Uncut != 0 {
				size = walk.Overhead(f.Dst) + pieces(f.Inner)[k].size
			}
			lines = append(lines, fmt.Sprintf("vxlan %s%s vni=%d around %s", head, sized(size, f.Uncut != 0), f.VNI, inner))
		}
	case walk.Plain:
		lines = append(lines, fmt.Sprintf("udp number=%d %s%s%s", number, head, sized(f.Size, f.Uncut != 0), ported(f.DstPort)))
	}
	if len(lines) > 0 && f.Uncut != 0 {
		for _, p := range pieces(f)[1:] {
			lines = append(lines, fragment(number, head, p.offset, p.size))
		}
	}
	return lines
}

// piece is one fragment: where in the packet's payload it begins, and its size with its header.
type piece struct{ offset, size int }

// pieces are the fragments of a frame, one of a frame that is not cut.
func pieces(f *walk.Frame) []piece {
	if f.Uncut == 0 {
		return []piece{{0, f.Size}}
	}
	var all []piece
	for offset, step := 0, f.Size-ip4Len; offset < f.Uncut-ip4Len; offset += step {
		all = append(all, piece{offset, ip4Len + min(step, f.Uncut-ip4Len-offset)})
	}
	return all
}
