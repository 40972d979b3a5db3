package cmd

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
	"github.com/vppdrill/vppdrill/vppwire/host/etcd"
	"github.com/vppdrill/vppdrill/vppwire/policy"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// only is a policy of one direction for pods with a label: other pods with a label may come, or be asked, at port 8080 by TCP.
func only(name, app, with string, egress bool) policy.Policy {
	p := policy.Policy{Name: podName(name), Pods: policy.Selector{Labels: map[string]string{"app": app}}}
	rules := []policy.Rule{{Peers: []policy.Peer{{Pods: &policy.Selector{Labels: map[string]string{"app": with}}}}, Ports: []policy.Port{{Proto: vppwire.TCP, First: 8080, Last: 8080}}}}
	if egress {
		p.Egress, p.EgressRules = true, rules
	} else {
		p.Ingress, p.IngressRules = true, rules
	}
	return p
}

func podName(n string) policy.Name { return policy.Name{Namespace: "default", Name: n} }

// putPeer tells the control plane's word of a pod.
func putPeer(t *testing.T, c *etcd.Client, name, app string, addr netip.Addr) {
	t.Helper()
	must(t, c.PutPeer(t.Context(), policy.Pod{Name: podName(name), Labels: map[string]string{"app": app}, Addrs: []netip.Addr{addr}}))
}

// knocks reports whether a TCP connection or a datagram's answer comes through; it does not wait long.
func knocks(t *testing.T, ns *netns, network string, at netip.AddrPort) bool {
	t.Helper()
	ok := false
	ns.do(t, func() error {
		c, err := net.DialTimeout(network, at.String(), 300*time.Millisecond)
		if err != nil {
			return nil // refused by nobody: it got no answer
		}
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Now().Add(300 * time.Millisecond))
		_, _ = c.Write([]byte("?"))
		n, err := c.Read(make([]byte, 100))
		ok = err == nil && n > 0
		return nil
	})
	return ok
}

// Goal: on a real VPP policies let through what they allow, from pods and host, by TCP and UDP, to pods and to services, and nothing else; a
// session that is allowed goes on in both directions through every change, and one that only the server speaks in as well; an agent that
// starts again writes nothing; neither its end nor VPP's opens anything for a moment; a pod whose labels nobody has told is closed. Method:
// three pods with echo servers, a client that knocks at a closed door all the time, and changes of policies.
func TestRealPolicies(t *testing.T) {
	host, one, two, three := namespace(t), namespace(t), namespace(t), namespace(t)
	m, c := toldNode(t, host, "NetworkPolicies: vpp, Services: vpp", "nat", "acl")
	ctx := t.Context()
	a, b, z := m.add("web", one), m.add("friend", two), m.add("other", three)
	putPeer(t, c, "web", "web", a)
	putPeer(t, c, "friend", "friend", b)
	putPeer(t, c, "other", "other", z)
	for addr, ns := range map[netip.Addr]*netns{a: one, b: two, z: three} {
		serveEcho(t, ns, addr)
	}
	at := func(addr netip.Addr) netip.AddrPort { return netip.AddrPortFrom(addr, 8080) }
	expect := func(what string, from *netns, network string, to netip.AddrPort, want bool) {
		t.Helper()
		if want {
			m.until(what, func() bool { return knocks(t, from, network, to) })
		} else if knocks(t, from, network, to) {
			m.until("not: "+what, func() bool { return !knocks(t, from, network, to) })
		}
	}
	m.settled()
	for _, network := range []string{"tcp4", "udp4"} {
		expect("everybody reaches the pod without policies by "+network, three, network, at(a), true)
		expect("the host does by "+network, host, network, at(a), true)
	}
	kept, _, err := openEcho(t, two, at(a).String())
	must(t, err)
	heard := stream(t, three, two, b) // what friend hears from other, and says nothing
	must(t, c.PutPolicy(ctx, only("web", "web", "friend", false)))
	must(t, c.PutPolicy(ctx, only("friend", "friend", "nobody", false)))
	expect("others are let to web by TCP", three, "tcp4", at(a), false)
	expect("others are let to web by UDP", three, "udp4", at(a), false)
	expect("friends are let to a port that is not theirs", two, "udp4", at(a), false)
	expect("friends are let to web", two, "tcp4", at(a), true)
	expect("the host is let to web", host, "tcp4", at(a), true)
	expect("web reaches others, and hears their answers", one, "tcp4", at(z), true)
	expect("web reaches others by UDP", one, "udp4", at(z), true)
	goesOn := func(when string) {
		t.Helper()
		if me, _, err := say(kept); err != nil || me != a.String() {
			t.Errorf("the allowed session %s: %s %v", when, me, err)
		}
	}
	goesOn("behind a policy")
	heard("behind a policy for its client")

	// Nothing opens while agent and VPP come and go.
	stop, opened := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				opened <- n
				return
			default:
			}
			if knocks(t, three, "tcp4", at(a)) {
				n++
			}
		}
	}()
	kill(t, m.agent)
	m.startAgent()
	m.settled()
	if n := calls(m); n != 0 {
		t.Errorf("a restarted agent wrote %d messages", n)
	}
	goesOn("behind the agent's restart")
	must(t, c.PutPolicy(ctx, only("more", "web", "nobody", false)))
	must(t, c.DeleteSelectable(ctx, policy.Policies, podName("more")))
	must(t, c.PutPolicy(ctx, only("web", "web", "friend", false)))
	goesOn("behind more policies")
	kill(t, m.agent)
	kill(t, m.process)
	m.startVPP()
	m.startAgent()
	m.until("friends reach web again", func() bool { return knocks(t, two, "tcp4", at(a)) })
	close(stop)
	if n := <-opened; n != 0 {
		t.Errorf("%d connections came through a closed door", n)
	}

	// What a pod sends, and services.
	must(t, c.PutService(ctx, service.Service{Name: web, ClusterIPs: []netip.Addr{netip.MustParseAddr("10.96.0.10")}, Ports: []service.Port{{Name: "t", Proto: vppwire.TCP, Port: 80}}}))
	must(t, c.PutSlice(ctx, webSlice(a)))
	vip := netip.MustParseAddrPort("10.96.0.10:80")
	expect("friends reach web's service", two, "tcp4", vip, true)
	expect("others reach web's service", three, "tcp4", vip, false)
	must(t, c.PutPolicy(ctx, only("sends", "friend", "web", true)))
	expect("friends may send to web", two, "tcp4", at(a), true)
	expect("friends may send to web's service, whose endpoints they may reach", two, "tcp4", vip, true)
	expect("friends send to others", two, "tcp4", at(z), false)
	expect("friends send to the host", two, "tcp4", netip.MustParseAddrPort("10.96.0.11:80"), false)
	must(t, c.PutSlice(ctx, webSlice(a, z)))
	expect("friends reach a service of which they may reach one endpoint", two, "tcp4", vip, false)

	// A pod of which nothing is known.
	m.ask(wire.Request{Command: wire.Del, ContainerID: "other", IfName: "eth0", Netns: three.path})
	must(t, c.DeleteSelectable(ctx, policy.Pods, podName("other")))
	four := namespace(t)
	y := m.add("unknown", four)
	serveEcho(t, four, y)
	expect("a pod without known labels is reached", one, "tcp4", at(y), false)
	expect("its host reaches it", host, "tcp4", at(y), true)
	putPeer(t, c, "unknown", "other", y)
	expect("a pod that no policy selects is reached", one, "tcp4", at(y), true)
	for _, n := range []string{"web", "friend", "sends"} {
		must(t, c.DeleteSelectable(ctx, policy.Policies, podName(n)))
	}
	expect("without policies everybody is reached", four, "udp4", at(a), true)
}

// stream has a server send all the time to a client that says nothing, and returns what asks whether it still hears.
func stream(t *testing.T, server, client *netns, from netip.Addr) func(when string) {
	t.Helper()
	var l net.Listener
	server.do(t, func() (err error) { l, err = net.Listen("tcp4", ":9000"); return err })
	t.Cleanup(func() { _ = l.Close() })
	var addr netip.Addr
	server.do(t, func() error {
		ifc, err := net.InterfaceByName("eth0")
		if err != nil {
			return err
		}
		list, err := ifc.Addrs()
		for _, x := range list {
			if p, _ := netip.ParsePrefix(x.String()); p.Addr().Is4() {
				addr = p.Addr()
			}
		}
		return err
	})
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		for err == nil {
			_, err = c.Write([]byte("x"))
			time.Sleep(5 * time.Millisecond)
		}
	}()
	c, err := dial(t, client, "tcp4", netip.AddrPortFrom(addr, 9000).String())
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return func(when string) {
		t.Helper()
		_ = c.SetReadDeadline(time.Now().Add(3 * time.Second))
		for range 50 {
			if _, err := c.Read(make([]byte, 1)); err != nil {
				t.Errorf("a session that %s only hears %s: %v", from, when, err)
				return
			}
		}
	}
}

// Goal: what policies cost a real VPP: an ADD with 50 policies on the node, 10,000 rules on one VPP, and an agent that starts again. Method:
// VPPDRILL_BENCH=1, one node, no packets.
func TestPolicyCosts(t *testing.T) {
	if os.Getenv("VPPDRILL_BENCH") == "" {
		t.Skip("skipped: it takes a minute; VPPDRILL_BENCH=1 runs it")
	}
	m, c := toldNode(t, namespace(t), "NetworkPolicies: vpp", "acl")
	ctx := t.Context()
	spaces := make([]*netns, 100)
	for i := range spaces {
		spaces[i] = namespace(t)
	}
	del := func(name string, ns *netns) {
		m.ask(wire.Request{Command: wire.Del, ContainerID: name, IfName: "eth0", Netns: ns.path})
	}
	median := func() time.Duration {
		var took []time.Duration
		for i := range 21 {
			name := "m" + strconv.Itoa(i)
			start := time.Now()
			addr := m.add(name, spaces[99])
			took = append(took, time.Since(start))
			putPeer(t, c, name, "web", addr)
			m.settled()
			del(name, spaces[99])
			must(t, c.DeleteSelectable(ctx, policy.Pods, podName(name)))
		}
		slices.Sort(took)
		return took[len(took)/2]
	}
	t.Logf("ADD without a policy: p50 %v", median())
	for i := range 40 {
		putPeer(t, c, "far"+strconv.Itoa(i), "friend", netip.AddrFrom4([4]byte{10, 1, 9, byte(i)}))
	}
	for i := range 50 {
		must(t, c.PutPolicy(ctx, only("p"+strconv.Itoa(i), "web", "friend", i%2 == 0)))
	}
	t.Logf("ADD with 50 policies on the node: p50 %v", median())
	for i := range 14 { // 100 rules and more for each of 100 pods
		addr := m.add(fmt.Sprint("big", i), spaces[i])
		putPeer(t, c, fmt.Sprint("big", i), "big", addr)
	}
	m.settled()
	memory, before := residentKiB(t, m.process), calls(m)
	p := policy.Policy{Name: podName("big"), Pods: policy.Selector{Labels: map[string]string{"app": "big"}}, Ingress: true}
	for i := range 720 {
		p.IngressRules = append(p.IngressRules, policy.Rule{Peers: []policy.Peer{{Block: netip.PrefixFrom(netip.AddrFrom4([4]byte{20, byte(i >> 8), byte(i), 0}), 24)}},
			Ports: []policy.Port{{Proto: vppwire.TCP, First: uint16(1000 + i), Last: uint16(1000 + i)}}})
	}
	start := time.Now()
	must(t, c.PutPolicy(ctx, p))
	m.until("10,080 rules are there", func() bool { return calls(m)-before >= 14 && m.get("/healthz") == "ok\n" })
	t.Logf("10,080 rules on 14 pods: %v, %d messages, VPP has grown by %d KiB to %d KiB", time.Since(start), calls(m)-before, residentKiB(t, m.process)-memory, residentKiB(t, m.process))
	kill(t, m.agent)
	start = time.Now()
	m.startAgent()
	m.settled()
	if n := calls(m); n != 0 {
		t.Errorf("a restarted agent wrote %d messages", n)
	}
	t.Logf("a restarted agent was idle after %v", time.Since(start))
}

// Goal: what 5,000 policies that come at once cost an agent and a real VPP, all of them for the same pods, and that an agent which starts again
// writes nothing. Method: VPPDRILL_BENCH=1, one node, 14 pods, no packets.
func TestManyPolicies(t *testing.T) {
	if os.Getenv("VPPDRILL_BENCH") == "" {
		t.Skip("skipped: it takes a minute; VPPDRILL_BENCH=1 runs it")
	}
	const policies, pods = 5000, 14
	m, c := toldNode(t, namespace(t), "NetworkPolicies: vpp", "acl")
	ctx := t.Context()
	for i := range pods {
		name := fmt.Sprint("many", i)
		putPeer(t, c, name, "many", m.add(name, namespace(t)))
	}
	m.settled()
	vpp, agent, before, start := residentKiB(t, m.process), residentKiB(t, m.agent), calls(m), time.Now()
	for i := range policies {
		must(t, c.PutPolicy(ctx, policy.Policy{Name: podName("many" + strconv.Itoa(i)), Pods: policy.Selector{Labels: map[string]string{"app": "many"}}, Ingress: true,
			IngressRules: []policy.Rule{{Peers: []policy.Peer{{Block: netip.PrefixFrom(netip.AddrFrom4([4]byte{20, byte(i >> 8), byte(i), 0}), 24)}}, Ports: []policy.Port{{Proto: vppwire.TCP, First: 80, Last: 80}}}}}))
	}
	written := time.Since(start)
	last := lastCall(m)
	t.Logf("%d policies of %d pods: written within %v, hold after %v, %d messages, VPP has grown by %d KiB, the agent by %d KiB", policies, pods, written, last.Sub(start),
		calls(m)-before, residentKiB(t, m.process)-vpp, residentKiB(t, m.agent)-agent)
	before, start = calls(m), time.Now()
	must(t, c.DeleteSelectable(ctx, policy.Policies, podName("many7")))
	t.Logf("one policy less holds after %v, %d messages", lastCall(m).Sub(start), calls(m)-before)
	kill(t, m.agent)
	start = time.Now()
	m.startAgent()
	m.settled()
	if n := calls(m); n != 0 {
		t.Errorf("a restarted agent wrote %d messages", n)
	}
	t.Logf("a restarted agent was idle after %v", time.Since(start))
}

// lastCall waits until an agent has had nothing to do for a second, and returns about when it made its last call.
func lastCall(m *machine) (last time.Time) {
	for n := -1; last.IsZero() || time.Since(last) < time.Second; time.Sleep(5 * time.Millisecond) {
		if now := calls(m); now != n || m.get("/healthz") != "ok\n" {
			n, last = now, time.Now()
		}
	}
	return last
}
