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
	f := walk.Frame{To: [6]byte(frame[:6]), From: [6]byte(frame[6:12]), Src: netip.AddrFrom4([4]byte(body[12:16])),
		Dst: netip.AddrFrom4([4]byte(body[16:20])), TTL: int(body[8]), Size: len(body)}
	if binary.BigEndian.Uint16(body[ip4Len+2:]) == tunnelPort {
		payload := body[ip4Len+udpLen:]
		inner := seen(payload[8:])
		f.Content, f.VNI, f.Inner = walk.VXLAN, binary.BigEndian.Uint32(payload[4:])>>8, &inner
	}
	return f
}

// foretold writes down a frame that the walker emits because of a probe, as describe does for one that a real VPP sends. It is
// empty for what describe leaves out.
func foretold(number int, f *walk.Frame) string {
	eth := fmt.Sprintf("eth_dst=%s eth_src=%s", ethernet_types.MacAddress(f.To), ethernet_types.MacAddress(f.From))
	head := fmt.Sprintf("%s src=%s dst=%s ttl=%d", eth, f.Src, f.Dst, f.TTL)
	switch f.Content {
	case walk.ARPRequest:
		return fmt.Sprintf("arp %s target=%s", eth, f.Dst)
	case walk.VXLAN:
		if inner := foretold(number, f.Inner); inner != "" {
			return fmt.Sprintf("vxlan %s vni=%d around %s", head, f.VNI, inner)
		}
		return ""
	case walk.Plain:
		return fmt.Sprintf("udp number=%d %s", number, head)
	}
	return ""
}
