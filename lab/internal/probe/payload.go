package probe

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// payload is size bytes that differ from one place to the next and from one pair to the next.
func payload(size int, p Pair) []byte {
	sum := sha256.Sum256([]byte(p.From.Name + ">" + p.To.Name))
	r := rand.NewChaCha8(sum)
	out := make([]byte, size)
	_, _ = r.Read(out) // never fails
	return out
}

// TCP sends bytes from one place to the other over one connection, and the other sends them back. RTT is the time until
// the last byte was back and found to be right.
func TCP(ctx context.Context, p Pair, size int, patience time.Duration) Outcome {
	out := Outcome{From: p.From, To: p.To}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var l net.Listener
	if out.Err = spawn.Inside(p.To.Netns, func() (err error) {
		l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", netip.AddrPortFrom(p.To.Addr, 0).String())
		return err
	}); out.Err != nil {
		return out
	}
	defer func() { _ = l.Close() }() // the echo has ended or is not wanted
	go echoTCP(l, patience)
	begin := time.Now()
	c, err := dial(ctx, p.From.Netns, net.Dialer{Timeout: patience}, "tcp", l.Addr().String())
	if out.Err = err; err != nil {
		return out
	}
	defer func() { _ = c.Close() }() // everything has come back
	if out.Err = c.SetDeadline(begin.Add(patience)); out.Err != nil {
		return out
	}
	want := payload(size, p)
	sent := make(chan error, 1)
	go func() { _, err := c.Write(want); sent <- err }()
	got := make([]byte, size)
	if _, out.Err = io.ReadFull(c, got); out.Err != nil {
		return out
	}
	if out.Err = <-sent; out.Err == nil && !bytes.Equal(got, want) {
		out.Err = errors.New("other bytes came back than were sent")
	}
	out.RTT = time.Since(begin)
	return out
}

func echoTCP(l net.Listener, patience time.Duration) {
	c, err := l.Accept()
	if err != nil {
		return
	}
	defer func() { _ = c.Close() }() // the other side knows what came
	_ = c.SetDeadline(time.Now().Add(patience))
	_, _ = io.Copy(c, c) // what does not come back is the outcome
}

// UDP sends count datagrams of size bytes one after the other, each when the last has come back. A lost one is sent
// again a few times, as Ping does.
func UDP(ctx context.Context, p Pair, size, count int, patience time.Duration) Outcome {
	out := Outcome{From: p.From, To: p.To}
	server, err := listenUDP(p.To.Netns, p.To.Addr)
	if err != nil {
		out.Err = err
		return out
	}
	defer func() { _ = server.Close() }() // ends the echo
	go echoUDP(server)
	client, err := listenUDP(p.From.Netns, p.From.Addr)
	if err != nil {
		out.Err = err
		return out
	}
	defer func() { _ = client.Close() }() // everything has come back
	begin := time.Now()
	end, to := begin.Add(patience), server.LocalAddr()
	buffer := make([]byte, size+1)
	for i := range count {
		want := payload(size, Pair{Place{Name: fmt.Sprint(p.From.Name, i)}, p.To})
		for {
			if _, out.Err = client.WriteTo(want, to); out.Err != nil {
				return out
			}
			_ = client.SetReadDeadline(time.Now().Add(patience / 10)) // a socket that cannot have one times out never
			n, _, err := client.ReadFrom(buffer)
			if err == nil && bytes.Equal(buffer[:n], want) {
				break
			}
			if time.Now().After(end) || ctx.Err() != nil {
				out.Err = fmt.Errorf("datagram %d of %d bytes: %w", i+1, size, errSilent)
				return out
			}
		}
	}
	out.RTT = time.Since(begin)
	return out
}

func listenUDP(netns string, addr netip.Addr) (*net.UDPConn, error) {
	var c *net.UDPConn
	err := spawn.Inside(netns, func() (err error) {
		c, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 0)))
		return err
	})
	return c, err
}

func echoUDP(c *net.UDPConn) {
	buffer := make([]byte, 64<<10)
	for {
		n, peer, err := c.ReadFromUDPAddrPort(buffer)
		if err != nil {
			return // closed
		}
		_, _ = c.WriteToUDPAddrPort(buffer[:n], peer) // what is lost is asked for again
	}
}

// Edge looks for the longest packet that passes whole between two places, and says what is wrong unless it is exactly
// mtu bytes with the IP header: one byte more must be refused by the sender's own link, not lost on the way.
func Edge(ctx context.Context, p Pair, mtu int, patience time.Duration) Outcome {
	out := Ping(ctx, p.From, p.To, mtu-PingHeaders(p.To.Addr), true, patience)
	if out.Err != nil {
		out.Err = fmt.Errorf("%d bytes, the MTU: %w", mtu, out.Err)
		return out
	}
	over := Ping(ctx, p.From, p.To, mtu-PingHeaders(p.To.Addr)+1, true, patience/5)
	if over.Err == nil {
		out.Err = fmt.Errorf("%d bytes passed whole where the MTU is %d", mtu+1, mtu)
	}
	return out
}
