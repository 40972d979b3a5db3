package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Place is where a probe is sent from or answered: a namespace by the path that this process opens, and its address.
type Place struct {
	// Name is for people: "node-1 default/web-0".
	Name  string
	Netns string
	Addr  netip.Addr
}

// Outcome is what became of one probe.
type Outcome struct {
	From, To Place
	// RTT is the round trip's time; Err says why there was none.
	RTT time.Duration
	Err error
}

// PingHeaders is what a ping to an address has before its payload, in bytes: IP and ICMP.
func PingHeaders(to netip.Addr) int {
	if to.Is6() {
		return 40 + 8
	}
	return 20 + 8
}

// pings is what pings of one family are made of.
type pings struct {
	network, any string
	ask, answer  icmp.Type
	protocol     int
	// level and option are what has the kernel refuse packets that are too long, with the value whole.
	level, option, whole int
}

var (
	pings4 = pings{"ip4:icmp", "0.0.0.0", ipv4.ICMPTypeEcho, ipv4.ICMPTypeEchoReply, 1, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE}
	pings6 = pings{"ip6:ipv6-icmp", "::", ipv6.ICMPTypeEchoRequest, ipv6.ICMPTypeEchoReply, 58, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_PROBE}
)

func pingsTo(a netip.Addr) *pings {
	if a.Is6() {
		return &pings6
	}
	return &pings4
}

// Ping sends one echo request after the other, a tenth of patience apart, until one is answered: the first may be lost
// to a neighbor that VPP has to ask for. size counts the bytes behind the ICMP header; with whole set nobody may
// fragment it.
func Ping(ctx context.Context, from, to Place, size int, whole bool, patience time.Duration) Outcome {
	out := Outcome{From: from, To: to}
	var c *icmp.PacketConn
	kind := pingsTo(to.Addr)
	out.Err = spawn.Inside(from.Netns, func() (err error) {
		c, err = icmp.ListenPacket(kind.network, kind.any)
		if err == nil && whole {
			err = dontFragment(c, kind)
		}
		return err
	})
	if out.Err != nil {
		return out
	}
	defer func() { _ = c.Close() }() // nothing is under way
	out.Err = context.Cause(ctx)     // of a ping that is not even tried
	id, end := os.Getpid()&0xffff, time.Now().Add(patience)
	for seq := 1; time.Now().Before(end) && ctx.Err() == nil; seq++ {
		if out.RTT, out.Err = echo(c, to.Addr, id, seq, size, patience/10); out.Err == nil {
			return out
		}
	}
	return out
}

// dontFragment sets DF and has the kernel refuse what is too long for the link, whatever it learned before.
func dontFragment(c *icmp.PacketConn, kind *pings) error {
	var of net.PacketConn
	if p := c.IPv4PacketConn(); p != nil {
		of = p.PacketConn
	} else {
		of = c.IPv6PacketConn().PacketConn
	}
	raw, err := of.(*net.IPConn).SyscallConn()
	if err != nil {
		return err
	}
	var set error
	if err := raw.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), kind.level, kind.option, kind.whole)
	}); err != nil {
		return err
	}
	return set
}

// errSilent: nobody answered.
var errSilent = errors.New("no answer")

func echo(c *icmp.PacketConn, to netip.Addr, id, seq, size int, wait time.Duration) (time.Duration, error) {
	kind := pingsTo(to)
	m := icmp.Message{Type: kind.ask, Body: &icmp.Echo{ID: id, Seq: seq, Data: make([]byte, size)}}
	packet, err := m.Marshal(nil)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if _, err := c.WriteTo(packet, &net.IPAddr{IP: to.AsSlice()}); err != nil {
		if errors.Is(err, unix.EMSGSIZE) {
			return 0, err
		}
		time.Sleep(wait / 4) // no route yet, perhaps
		return 0, err
	}
	if err := c.SetReadDeadline(begin.Add(wait)); err != nil {
		return 0, err
	}
	buffer := make([]byte, size+1500)
	for {
		n, peer, err := c.ReadFrom(buffer)
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return 0, errSilent
			}
			return 0, err
		}
		m, err := icmp.ParseMessage(kind.protocol, buffer[:n])
		if err != nil || m.Type != kind.answer || peer.String() != to.String() {
			continue
		}
		if e, ok := m.Body.(*icmp.Echo); ok && e.ID == id && e.Seq == seq && len(e.Data) == size {
			return time.Since(begin), nil
		}
	}
}

// Pair is who asks whom.
type Pair struct{ From, To Place }

// AllPairs are all ordered pairs of places of one family; where they are more than most, some of them, spread evenly
// and the same each time. most 0 is all.
func AllPairs(places []Place, most int) []Pair {
	total := len(places) * (len(places) - 1)
	take := total
	if most > 0 {
		take = min(total, most)
	}
	var out []Pair
	for i := range take {
		k := i
		if take < total {
			// A stride that shares no factor with total visits every pair once before any twice.
			k = int(int64(i) * stride(total) % int64(total))
		}
		from, to := k/(len(places)-1), k%(len(places)-1)
		if to >= from {
			to++
		}
		if places[from].Addr.Is4() == places[to].Addr.Is4() {
			out = append(out, Pair{places[from], places[to]})
		}
	}
	return out
}

// OfEachFamily asks the pairs of one address family after those of the other: their longest packets differ.
func OfEachFamily(pairs []Pair, ask func(of []Pair) []Outcome) (out []Outcome) {
	six := slices.DeleteFunc(slices.Clone(pairs), func(p Pair) bool { return p.To.Addr.Is4() })
	four := slices.DeleteFunc(slices.Clone(pairs), func(p Pair) bool { return !p.To.Addr.Is4() })
	for _, of := range [...][]Pair{four, six} {
		if len(of) > 0 {
			out = append(out, ask(of)...)
		}
	}
	return out
}

func stride(total int) int64 {
	for s := int64(total)*618/1000 + 1; ; s++ {
		if gcd(s, int64(total)) == 1 {
			return s
		}
	}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// atOnce is how many probes run at the same time.
const atOnce = 16

// Mesh pings every pair, many at the same time, and returns the outcomes in the pairs' order. size and whole are
// Ping's.
func Mesh(ctx context.Context, pairs []Pair, size int, whole bool, patience time.Duration) []Outcome {
	return run(pairs, func(p Pair) Outcome { return Ping(ctx, p.From, p.To, size, whole, patience) })
}

// run probes every pair.
func run(pairs []Pair, probe func(Pair) Outcome) []Outcome {
	out := make([]Outcome, len(pairs))
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, p := range pairs {
		slots <- struct{}{}
		wg.Go(func() {
			out[i] = probe(p)
			<-slots
		})
	}
	wg.Wait()
	return out
}

// Failed are the outcomes without an answer.
func Failed(outcomes []Outcome) []Outcome {
	var out []Outcome
	for _, o := range outcomes {
		if o.Err != nil {
			out = append(out, o)
		}
	}
	return out
}

// Error says of an outcome who did not reach whom.
func (o Outcome) Error() string {
	return fmt.Sprintf("%s (%s) does not reach %s (%s): %v", o.From.Name, o.From.Addr, o.To.Name, o.To.Addr, o.Err)
}
