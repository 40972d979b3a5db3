package cmd

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/host/etcd"
	"github.com/vppdrill/vppdrill/vppwire/internal/embedded"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// serviceNode is a node whose VPP serves services, and the client that plays its cluster's control plane.
func serviceNode(t *testing.T, host *netns) (*machine, *etcd.Client) {
	return toldNode(t, host, "Services: vpp, CleanupIdleNATSessions: true", "nat")
}

// toldNode is a node with these settings whose VPP has these plugins, and the client that plays its cluster's control plane.
func toldNode(t *testing.T, host *netns, settings string, plugins ...string) (*machine, *etcd.Client) {
	vpp := findVPP(t)
	m := &machine{t: t, folder: shortDir(t), vpp: vpp, host: host, plugins: plugins}
	server, err := embedded.Start(t.Context(), m.path("etcd"), "127.0.0.1:0")
	must(t, err)
	t.Cleanup(server.Close)
	m.etcd = server.Endpoint()
	c, err := etcd.Connect(etcd.Config{Endpoints: []string{m.etcd}})
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	m.write("contiv.yaml", "{TCPstackDisabled: true, MTUSize: 1450, ClaimPatience: 1ms, PodInterconnect: veth, "+settings+", IPAMConfig: {podSubnetCIDR: 10.1.0.0/16, "+
		"podSubnetOneNodePrefixLen: 24, nodeInterconnectCIDR: 192.168.16.0/24, vxlanCIDR: 192.168.30.0/24}}")
	m.startVPP()
	m.startAgent()
	return m, c
}

var web = service.Name{Namespace: "default", Name: "web"}

// webSlice has these pods serve web, by TCP and by UDP.
func webSlice(pods ...netip.Addr) service.Slice {
	s := service.Slice{Name: web, Service: "web", Ports: []service.SlicePort{{Name: "t", Proto: vppwire.TCP, Port: 8080}, {Name: "u", Proto: vppwire.UDP, Port: 8080}}}
	for _, a := range pods {
		s.Endpoints = append(s.Endpoints, service.Endpoint{Addr: a, Node: "node-1", Ready: true, Serving: true})
	}
	return s
}

// Goal: on a real VPP, TCP and UDP through a service's addresses reach every endpoint from pods and host, also the
// client itself; the sessions of an endpoint go on while others come and go and while the agent is killed and started
// again, which writes nothing; what an endpoint that has gone had is not given to it any more. Method: echo servers
// that say who they are and whom they hear.
func TestRealServices(t *testing.T) {
	host, one, two := namespace(t), namespace(t), namespace(t)
	m, c := serviceNode(t, host)
	ctx := t.Context()
	must(t, c.PutService(ctx, service.Service{Name: web, ClusterIPs: []netip.Addr{netip.MustParseAddr("10.96.0.10")},
		Ports: []service.Port{{Name: "t", Proto: vppwire.TCP, Port: 80, NodePort: 30080}, {Name: "u", Proto: vppwire.UDP, Port: 53}}}))
	a, b := m.add("c1", one), m.add("c2", two)
	must(t, c.PutSlice(ctx, webSlice(a, b)))
	serveEcho(t, one, a)
	serveEcho(t, two, b)
	vip, dns, node := "10.96.0.10:80", "10.96.0.10:53", "192.168.16.1:30080"

	for who, ns := range map[string]*netns{"pod one": one, "pod two": two, "the host": host} {
		for _, x := range []struct{ network, at string }{{"tcp4", vip}, {"udp4", dns}, {"tcp4", node}} {
			if ns == host && x.at == node {
				continue // its route to the node's address leads elsewhere
			}
			heard := map[string]string{}
			m.until(fmt.Sprintf("%s gets both endpoints of %s %s", who, x.network, x.at), func() bool {
				if me, hears, err := askEcho(t, ns, x.network, x.at); err == nil {
					heard[me] = hears
				}
				return len(heard) == 2
			})
			for me, hears := range heard {
				own := ns == one && me == a.String() || ns == two && me == b.String()
				if own && hears == me {
					t.Errorf("%s asks %s, is the endpoint itself and hears its own address: the answer would go astray", who, x.at)
				}
				if x.at == vip && !own && ns == one && hears != a.String() {
					t.Errorf("endpoint %s hears %s for pod one, %s", me, hears, a)
				}
			}
		}
	}

	// Sessions of each endpoint, kept open.
	kept := map[string]net.Conn{}
	m.until("a session with each endpoint", func() bool {
		conn, me, err := openEcho(t, one, vip)
		if err == nil && kept[me] == nil {
			kept[me] = conn
		} else if err == nil {
			_ = conn.Close()
		}
		return len(kept) == 2
	})
	kill(t, m.agent)
	m.startAgent()
	m.settled()
	for _, line := range strings.Split(m.get("/metrics"), "\n") {
		if strings.HasPrefix(line, "vppdrill_agent_calls_total") && !isRead(line) {
			t.Errorf("a restarted agent wrote: %s", line)
		}
	}
	for me, conn := range kept {
		if got, _, err := say(conn); err != nil || got != me {
			t.Errorf("the session with %s behind the agent's restart: %s %v", me, got, err)
		}
	}

	must(t, c.PutSlice(ctx, webSlice(a)))
	m.until("the endpoint that has gone gets no session", func() bool {
		for range 10 {
			if me, _, err := askEcho(t, one, "tcp4", vip); err != nil || me != a.String() {
				return false
			}
		}
		return true
	})
	if got, _, err := say(kept[a.String()]); err != nil || got != a.String() {
		t.Errorf("the session of the endpoint that stays: %s %v", got, err)
	}
	if got, _, err := say(kept[b.String()]); err == nil {
		t.Errorf("the session of the endpoint that has gone goes on with %s", got)
	}
	must(t, c.PutSlice(ctx, webSlice(a, b)))
	if got, _, err := say(kept[a.String()]); err != nil || got != a.String() {
		t.Errorf("the session of the first endpoint while another comes: %s %v", got, err)
	}
	must(t, c.DeleteService(ctx, web))
	m.until("nobody serves what is no service", func() bool {
		_, _, err := askEcho(t, two, "tcp4", vip)
		return err != nil
	})
}

func isRead(line string) bool {
	for _, part := range []string{"_dump\"", "_get", "_show_", "\"classify_table_"} {
		if strings.Contains(line, part) {
			return true
		}
	}
	return false
}

// serveEcho answers on port 8080 of a namespace who it is and whom it hears, by TCP and by UDP.
func serveEcho(t *testing.T, ns *netns, me netip.Addr) {
	var l net.Listener
	var u net.PacketConn
	ns.do(t, func() (err error) {
		if l, err = net.Listen("tcp4", ":8080"); err != nil {
			return err
		}
		u, err = net.ListenPacket("udp4", ":8080")
		return err
	})
	t.Cleanup(func() { _ = l.Close(); _ = u.Close() })
	text := func(from net.Addr) []byte {
		return []byte(me.String() + " " + netip.MustParseAddrPort(from.String()).Addr().String() + "\n")
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				b := make([]byte, 100)
				for {
					if _, err := c.Read(b); err != nil {
						return
					}
					_, _ = c.Write(text(c.RemoteAddr())) // the client notices
				}
			}()
		}
	}()
	go func() {
		b := make([]byte, 100)
		for {
			_, from, err := u.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = u.WriteTo(text(from), from) // the client asks again
		}
	}()
}

// say asks over a connection who is there, and whom it hears.
func say(c net.Conn) (me, hears string, err error) {
	if err := c.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return "", "", err
	}
	if _, err := c.Write([]byte("?")); err != nil {
		return "", "", err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	me, hears, _ = strings.Cut(strings.TrimSpace(line), " ")
	return me, hears, err
}

func dial(t *testing.T, ns *netns, network, at string) (c net.Conn, err error) {
	ns.do(t, func() error {
		c, err = net.DialTimeout(network, at, 2*time.Second)
		return nil
	})
	return c, err
}

func openEcho(t *testing.T, ns *netns, at string) (net.Conn, string, error) {
	c, err := dial(t, ns, "tcp4", at)
	if err != nil {
		return nil, "", err
	}
	me, _, err := say(c)
	return c, me, err
}

func askEcho(t *testing.T, ns *netns, network, at string) (me, hears string, err error) {
	c, err := dial(t, ns, network, at)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = c.Close() }()
	return say(c)
}

// Goal: what 1,000 services of 20 endpoints cost a real VPP: time, messages and memory; an agent that starts again asks
// and writes nothing. Method: VPPDRILL_BENCH=1, one node, no packets.
func TestThousandServices(t *testing.T) {
	if os.Getenv("VPPDRILL_BENCH") == "" {
		t.Skip("skipped: it takes half a minute; VPPDRILL_BENCH=1 runs it")
	}
	m, c := serviceNode(t, namespace(t))
	m.settled()
	memory, before := residentKiB(t, m.process), calls(m)
	start := time.Now()
	for i := range 1000 {
		n := service.Name{Namespace: "default", Name: "s" + strconv.Itoa(i)}
		s := service.Slice{Name: n, Service: n.Name, Ports: []service.SlicePort{{Proto: vppwire.TCP, Port: 8080}}}
		for k := range 20 {
			s.Endpoints = append(s.Endpoints, service.Endpoint{Addr: netip.AddrFrom4([4]byte{10, 1, byte(2 + (i*20+k)/250), byte(1 + (i*20+k)%250)}), Node: "node-2", Ready: true})
		}
		must(t, c.PutSlice(context.Background(), s))
		must(t, c.PutService(context.Background(), service.Service{Name: n, ClusterIPs: []netip.Addr{netip.AddrFrom4([4]byte{10, 96, byte(1 + i/250), byte(1 + i%250)})},
			Ports: []service.Port{{Proto: vppwire.TCP, Port: 80}}}))
	}
	told := time.Since(start)
	var made int
	m.until("all services are there", func() bool {
		made = calls(m) - before
		return made >= 1000 && m.get("/healthz") == "ok\n"
	})
	t.Logf("told in %v, programmed %v later with %d messages; VPP has grown by %d KiB to %d KiB", told, time.Since(start)-told, made,
		residentKiB(t, m.process)-memory, residentKiB(t, m.process))
	kill(t, m.agent)
	start = time.Now()
	m.startAgent()
	m.settled()
	if n := calls(m); n != 0 {
		t.Errorf("a restarted agent wrote %d messages", n)
	}
	t.Logf("a restarted agent was idle after %v", time.Since(start))
	kill(t, m.process)
	m.until("VPP's death is noticed", func() bool { return m.get("/healthz") != "ok\n" })
	m.startVPP()
	start = time.Now()
	m.until("an empty VPP has all services", func() bool { return calls(m) >= 1000 && m.get("/healthz") == "ok\n" })
	t.Logf("an empty VPP had everything after %v, %d messages", time.Since(start), calls(m))
}

// calls counts what the agent has written to VPP and Linux in this life.
func calls(m *machine) (sum int) {
	for _, line := range strings.Split(m.get("/metrics"), "\n") {
		if strings.HasPrefix(line, "vppdrill_agent_calls_total") && !isRead(line) {
			n, _ := strconv.Atoi(line[strings.LastIndexByte(line, ' ')+1:])
			sum += n
		}
	}
	return sum
}

// residentKiB is how much memory a program has.
func residentKiB(t *testing.T, of *exec.Cmd) int {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(of.Process.Pid) + "/status")
	must(t, err)
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	must(t, err)
	return n
}
