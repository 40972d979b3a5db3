package probe

import (
	"context"
	"os"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"golang.org/x/net/icmp"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// ProtoICMP is what a Shot of pings has, of either family.
const ProtoICMP = 1

// Shot is a Knock by itself, or a ping: k.Proto is ProtoICMP then, and source its identifier. At a place without a namespace
// nobody listens or looks.
func Shot(ctx context.Context, k Knock, link string, source uint16, patience time.Duration) (Knocked, error) {
	if k.Proto != ProtoICMP {
		out, err := Knocks(ctx, []Knock{k}, link, source, patience)
		if err != nil {
			return Knocked{}, err
		}
		return out[0], nil
	}
	return shootPing(ctx, k, link, source, patience)
}

func shootPing(ctx context.Context, k Knock, link string, id uint16, patience time.Duration) (out Knocked, err error) {
	seen := make(chan struct{})
	if k.To.Netns != "" {
		var f *os.File
		if err := spawn.Inside(k.To.Netns, func() (err error) {
			f, err = packetSocket(link)
			return err
		}); err != nil {
			return out, err
		}
		done := make(chan struct{})
		defer func() { _ = f.Close(); <-done }() // it is read no more
		go func() {
			defer close(done)
			watchPing(f, k.Pair, id, seen)
		}()
	}
	var c *icmp.PacketConn
	kind := pingsTo(k.To.Addr)
	if err := spawn.Inside(k.From.Netns, func() (err error) {
		c, err = icmp.ListenPacket(kind.network, kind.any)
		return err
	}); err != nil {
		return out, err
	}
	defer func() { _ = c.Close() }() // nothing is under way
	_, err = echo(c, k.To.Addr, int(id), 1, shotBytes, patience)
	out.Answered = err == nil
	select {
	case <-seen:
		out.Arrived = true
	default:
	}
	return out, context.Cause(ctx)
}

// watchPing closes seen at the first echo request of a pair with that identifier, and reads until the link is closed.
func watchPing(link *os.File, p Pair, id uint16, seen chan<- struct{}) {
	buffer := make([]byte, snapLength)
	for told := false; ; {
		n, err := link.Read(buffer)
		if err != nil {
			return
		}
		if !told && pingOf(buffer[:n], p, id) {
			told = true
			close(seen)
		}
	}
}

// shotBytes is the payload of ping's usual packet.
const shotBytes = 56

// pingOf reports whether a frame is an echo request of a pair with that identifier.
func pingOf(frame []byte, p Pair, id uint16) bool {
	packet := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.DecodeOptions{Lazy: true, NoCopy: true})
	switch ip := packet.NetworkLayer().(type) {
	case *layers.IPv4:
		m, ok := packet.Layer(layers.LayerTypeICMPv4).(*layers.ICMPv4)
		return ok && m.TypeCode.Type() == layers.ICMPv4TypeEchoRequest && m.Id == id && ip.SrcIP.Equal(p.From.Addr.AsSlice()) && ip.DstIP.Equal(p.To.Addr.AsSlice())
	case *layers.IPv6:
		m, ok := packet.Layer(layers.LayerTypeICMPv6Echo).(*layers.ICMPv6Echo)
		return ok && m.Identifier == id && ip.SrcIP.Equal(p.From.Addr.AsSlice()) && ip.DstIP.Equal(p.To.Addr.AsSlice())
	}
	return false
}
