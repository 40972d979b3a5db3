package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Numbers of IP protocols.
const (
	ProtoTCP = 6
	ProtoUDP = 17
)

// Knock is a new connection from one place to a port of another one.
type Knock struct {
	Pair
	Proto uint8
	Port  uint16
	// Allowed: it is to be answered. One that is not is only waited for as long as those that are.
	Allowed bool
}

// Knocked is what became of a Knock.
type Knocked struct {
	// Arrived: the first packet was seen at the other end's own link, whoever listens there.
	Arrived bool
	// Answered: the answer was seen by who knocked.
	Answered bool
}

// knockLeast is how long every knock has to arrive, and knockAgain how often a datagram without an answer is sent again.
// What is forbidden is sent beside what is allowed, so that how long that takes is known.
const (
	knockLeast = 500 * time.Millisecond
	knockAgain = 300 * time.Millisecond
)

// flow is one connection as a link sees it.
type flow struct {
	src, dst     netip.Addr
	proto        uint8
	sport, dport uint16
}

// door is a place that is knocked at: who listens there, and what its link has seen.
type door struct {
	at   Place
	link *os.File
	tcp  []net.Listener
	udp  []*net.UDPConn
	wg   sync.WaitGroup
	mu   sync.Mutex
	seen map[flow]bool
}

// Knocks opens all connections at the same time from one source port, and tells in their order what became of each. The links of
// the places that are asked have the name link. A source port that was used before may still be in a table of sessions.
func Knocks(ctx context.Context, list []Knock, link string, source uint16, patience time.Duration) ([]Knocked, error) {
	doors := map[Place]*door{}
	defer func() {
		for _, d := range doors { //vppdrill:unordered each by itself
			d.close()
		}
	}()
	byTo := map[Place][]Knock{}
	byFrom := map[Place][]int{}
	var froms []Place
	for i, k := range list {
		byTo[k.To] = append(byTo[k.To], k)
		if byFrom[k.From] == nil {
			froms = append(froms, k.From)
		}
		byFrom[k.From] = append(byFrom[k.From], i)
	}
	for at, of := range byTo { //vppdrill:unordered each by itself
		if at.Netns == "" {
			continue
		}
		d, err := openDoor(at, link, of)
		doors[at] = d
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at.Name, err)
		}
	}
	out := make([]Knocked, len(list))
	var guests []*guest
	defer func() {
		for _, g := range guests {
			g.close()
		}
	}()
	begin := time.Now()
	for _, from := range froms {
		g, err := newGuest(from, list, byFrom[from], source)
		guests = append(guests, g)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", from.Name, err)
		}
	}
	for again := begin.Add(knockAgain); ; {
		waits := false
		for _, g := range guests {
			waits = g.look(list, out) || waits
		}
		now := time.Now()
		if over := now.Sub(begin); ctx.Err() != nil || over >= patience || !waits && over >= knockLeast {
			break
		}
		if now.After(again) {
			again = now.Add(knockAgain)
			for _, g := range guests {
				g.send(list, out)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	for i, k := range list {
		d := doors[k.To]
		if d == nil {
			continue
		}
		d.mu.Lock()
		out[i].Arrived = d.seen[flow{k.From.Addr, k.To.Addr, k.Proto, source, k.Port}]
		d.mu.Unlock()
	}
	return out, context.Cause(ctx)
}

// openDoor listens at every port that is knocked at. What was opened is returned with an error, too.
func openDoor(at Place, link string, of []Knock) (*door, error) {
	d := &door{at: at, seen: map[flow]bool{}}
	err := spawn.Inside(at.Netns, func() (err error) {
		if d.link, err = packetSocket(link); err != nil {
			return err
		}
		var done []Knock
		for _, k := range of {
			if slices.ContainsFunc(done, func(x Knock) bool { return x.Proto == k.Proto && x.Port == k.Port }) {
				continue
			}
			done = append(done, k)
			me := netip.AddrPortFrom(at.Addr, k.Port)
			if k.Proto == ProtoUDP {
				u, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(me))
				if err != nil {
					return err
				}
				d.udp = append(d.udp, u)
				continue
			}
			l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", me.String())
			if err != nil {
				return err
			}
			d.tcp = append(d.tcp, l)
		}
		return nil
	})
	for _, u := range d.udp {
		d.wg.Go(func() { echoUDP(u) })
	}
	if d.link != nil {
		d.wg.Go(d.watch)
	}
	return d, err
}

// watch notes what comes in.
func (d *door) watch() {
	buffer := make([]byte, snapLength)
	for {
		n, err := d.link.Read(buffer)
		if err != nil {
			return // closed
		}
		if f, ok := flowOf(buffer[:n]); ok && f.dst == d.at.Addr {
			d.mu.Lock()
			d.seen[f] = true
			d.mu.Unlock()
		}
	}
}

func (d *door) close() {
	if d.link != nil {
		_ = d.link.Close() // ends watch
	}
	for _, l := range d.tcp {
		_ = l.Close()
	}
	for _, u := range d.udp {
		_ = u.Close() // ends its echo
	}
	d.wg.Wait()
}

// flowOf reads an Ethernet frame; false where it is no TCP or UDP of IP, or not the first fragment.
func flowOf(frame []byte) (f flow, ok bool) {
	if len(frame) < 14+20 {
		return f, false
	}
	ip := frame[14:]
	var ports []byte
	switch binary.BigEndian.Uint16(frame[12:]) {
	case unix.ETH_P_IP:
		size := int(ip[0]&15) * 4
		if len(ip) < size+4 || binary.BigEndian.Uint16(ip[6:])&0x1fff != 0 {
			return f, false
		}
		f.src, f.dst, f.proto, ports = netip.AddrFrom4([4]byte(ip[12:16])), netip.AddrFrom4([4]byte(ip[16:20])), ip[9], ip[size:]
	case unix.ETH_P_IPV6:
		if len(ip) < 44 {
			return f, false
		}
		f.src, f.dst, f.proto, ports = netip.AddrFrom16([16]byte(ip[8:24])), netip.AddrFrom16([16]byte(ip[24:40])), ip[6], ip[40:]
	}
	if f.proto != ProtoTCP && f.proto != ProtoUDP {
		return f, false
	}
	f.sport, f.dport = binary.BigEndian.Uint16(ports), binary.BigEndian.Uint16(ports[2:])
	return f, true
}

// guest is a place that knocks: a datagram socket, and a connection per knock by TCP, by their numbers in the list.
type guest struct {
	udp  *net.UDPConn
	mine []int
	tcp  map[int]int // file descriptors
}

// newGuest begins all knocks of a place. What was opened is returned with an error, too.
func newGuest(from Place, list []Knock, mine []int, source uint16) (*guest, error) {
	g := &guest{mine: mine, tcp: map[int]int{}}
	err := spawn.Inside(from.Netns, func() (err error) {
		if g.udp, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(from.Addr, source))); err != nil {
			return err
		}
		for _, i := range mine {
			if list[i].Proto != ProtoTCP {
				continue
			}
			if err := g.dial(i, netip.AddrPortFrom(from.Addr, source), netip.AddrPortFrom(list[i].To.Addr, list[i].Port)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		g.send(list, make([]Knocked, len(list)))
	}
	return g, err
}

// dial begins one connection; the thread is in the place's namespace.
func (g *guest) dial(i int, from, to netip.AddrPort) error {
	family := unix.AF_INET
	if to.Addr().Is6() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	g.tcp[i] = fd
	// Many connections have the same source port; the end by a reset leaves nothing of them behind.
	if err := errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1),
		unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}), unix.Bind(fd, sockaddr(from))); err != nil {
		return err
	}
	if err := unix.Connect(fd, sockaddr(to)); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		return fmt.Errorf("connect to %s: %w", to, err)
	}
	return nil
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

// send sends the datagrams that have no answer.
func (g *guest) send(list []Knock, out []Knocked) {
	for _, i := range g.mine {
		if k := &list[i]; k.Proto == ProtoUDP && !out[i].Answered {
			_, _ = g.udp.WriteToUDPAddrPort([]byte("?"), netip.AddrPortFrom(k.To.Addr, k.Port)) // it is sent again
		}
	}
}

// look notes answers; true while one that is allowed is waited for.
func (g *guest) look(list []Knock, out []Knocked) (waits bool) {
	var b [16]byte
	for {
		_ = g.udp.SetReadDeadline(time.Now().Add(time.Millisecond)) // it can
		_, from, err := g.udp.ReadFromUDPAddrPort(b[:])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			continue // somebody's ICMP
		}
		for _, i := range g.mine {
			if k := &list[i]; k.Proto == ProtoUDP && netip.AddrPortFrom(k.To.Addr, k.Port) == netip.AddrPortFrom(from.Addr().Unmap(), from.Port()) {
				out[i].Answered = true
			}
		}
	}
	for _, i := range g.mine {
		if fd, is := g.tcp[i]; is && !out[i].Answered {
			poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
			if n, err := unix.Poll(poll, 0); err == nil && n > 0 {
				code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
				out[i].Answered = err == nil && code == 0 && poll[0].Revents&unix.POLLERR == 0
			}
		}
		waits = waits || list[i].Allowed && !out[i].Answered
	}
	return waits
}

func (g *guest) close() {
	if g.udp != nil {
		_ = g.udp.Close()
	}
	for _, fd := range g.tcp { //vppdrill:unordered each by itself
		_ = unix.Close(fd) // a reset
	}
}
