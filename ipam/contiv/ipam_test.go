package contiv

import (
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"pgregory.net/rapid"
)

// Goal: IPAM behaves like Contiv's plugin where that is right; the vectors beside package ipam hold the bulk of it,
// here is what they leave open. Method: a scripted cluster around one IPAM.

// cluster plays everything that an IPAM depends on.
type cluster struct {
	id     uint32
	config IPAMConfig
	pushed []Event
	full   bool // the event loop takes nothing
	locks  int
	locked bool
	time   time.Time
}

func (c *cluster) GetNodeID() uint32              { return c.id }
func (c *cluster) GetIPAMConfig() IPAMConfig      { return c.config }
func (c *cluster) GetStaticDefaultGW() netip.Addr { return netip.Addr{} }
func (c *cluster) GetAgentLabel() string          { return "node1" }
func (c *cluster) now() time.Time                 { return c.time }

func (c *cluster) PushEvent(ev Event) error {
	if c.full {
		return errors.New("queue is full")
	}
	c.pushed = append(c.pushed, ev)
	return nil
}

func (c *cluster) Lock() {
	if c.locked {
		panic("locked twice")
	}
	c.locks++
	c.locked = true
}

func (c *cluster) Unlock() {
	if !c.locked {
		panic("not locked")
	}
	c.locked = false
}

func (c *cluster) plugin(opts ...Option) *IPAM {
	deps := Deps{NodeSync: c, ContivConf: c, ServiceLabel: c, EventLoop: c, Now: c.now, Lock: c}
	return NewPlugin(append([]Option{WithDeps(deps)}, opts...)...)
}

func pod(name string) PodID { return PodID{Name: name, Namespace: "default"} }

func TestEveryMethodLocks(t *testing.T) {
	c := &cluster{id: 1}
	p := c.plugin()
	methods := []func(){
		func() { _ = p.Resync(&DBResync{}, KubeState{}, 1) },
		func() { _, _, _ = p.NodeIPAddress(1) }, func() { _, _, _ = p.VxlanIPAddress(1) },
		func() { p.HostInterconnectIPInVPP() }, func() { p.HostInterconnectIPInLinux() },
		func() { p.HostInterconnectSubnetThisNode() }, func() { p.HostInterconnectSubnetAllNodes() },
		func() { _, _ = p.HostInterconnectSubnetOtherNode(1) }, func() { p.PodSubnetAllNodes() },
		func() { p.PodSubnetThisNode() }, func() { _, _ = p.PodSubnetOtherNode(1) }, func() { p.ServiceNetwork() },
		func() { p.PodGatewayIP() }, func() { p.NatLoopbackIP() }, func() { _, _ = p.AllocatePodIP(pod("a"), "", "") },
		func() { p.GetPodIP(pod("a")) }, func() { _ = p.ReleasePodIP(pod("a")) },
		func() { _, _ = p.NodeIDFromPodIP(netip.MustParseAddr("10.1.1.5")) },
		func() { _, _ = p.SidForServiceHostLocalsid() },
	}
	for i, m := range methods {
		if m(); c.locks != i+1 || c.locked {
			t.Fatalf("method %d: locked %d times, still locked: %v", i, c.locks, c.locked)
		}
	}
}

func TestBeforeTheFirstResync(t *testing.T) {
	p := DefaultPlugin()
	if _, err := p.AllocatePodIP(pod("a"), "", ""); !errors.Is(err, ipam.ErrNoBlock) {
		t.Errorf("allocate: %v", err)
	}
	if p.GetPodIP(pod("a")).IsValid() || p.PodGatewayIP().IsValid() || p.NatLoopbackIP().IsValid() || p.ReleasePodIP(pod("a")) != nil {
		t.Error("something is known already")
	}
	if err := p.Resync(&DBResync{}, KubeState{}, 1); err == nil {
		t.Error("resync without dependencies passed")
	}
	if err := errors.Join(p.Init(), p.Close(), p.Revert(&DBResync{})); err != nil {
		t.Error(err)
	}
}

func TestFailedResyncChangesNothing(t *testing.T) {
	c := &cluster{id: 3}
	p := c.plugin()
	if err := p.Resync(&DBResync{}, KubeState{}, 1); err != nil {
		t.Fatal(err)
	}
	addr, err := p.AllocatePodIP(pod("a"), "", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, config := range map[string]IPAMConfig{
		"overlap":   {VXLANCIDR: "10.1.0.0/24"},
		"bad range": {ServiceCIDR: "?"},
	} {
		c.config = config
		if err := p.Resync(&HealingResync{}, KubeState{}, 7); err == nil {
			t.Errorf("%s: resync passed", name)
		}
		if p.GetPodIP(pod("a")).Addr() != addr || p.PodSubnetThisNode().String() != "10.1.3.0/24" {
			t.Errorf("%s: the state changed", name)
		}
	}
}

// 4-in-6 forms, a second pod on one address, unreadable and foreign addresses: none stops the node or loses the order.
func TestResyncWithOddPods(t *testing.T) {
	c := &cluster{id: 5}
	p := c.plugin()
	err := p.Resync(&DBResync{}, KubeState{Pods: []PodState{
		{pod("mapped"), "::ffff:10.1.5.9"}, {pod("twin"), "10.1.5.9"}, {pod("none"), ""}, {pod("text"), "ten"},
		{pod("far"), "10.1.6.200"}, {pod("gateway"), "10.1.5.1"},
	}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]netip.Prefix{}
	for _, name := range [...]string{"mapped", "twin", "none", "text", "far", "gateway"} {
		if ip := p.GetPodIP(pod(name)); ip.IsValid() {
			have[name] = ip
		}
	}
	if len(have) != 2 || have["mapped"].String() != "10.1.5.9/32" || have["gateway"].String() != "10.1.5.1/32" {
		t.Errorf("registered %v", have)
	}
	if next, err := p.AllocatePodIP(pod("next"), "", ""); err != nil || next.String() != "10.1.5.10" {
		t.Errorf("the next address is %s %v, want the one behind the highest", next, err)
	}
}

// Whatever pods a resync finds, no pod gets a reserved or a held address later.
func TestReservedAddressesStayReservedAfterAnyResync(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &cluster{id: 1, config: IPAMConfig{PodSubnetOneNodePrefixLen: 28}}
		p := c.plugin()
		var kube KubeState
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 15), 0, 10).Draw(t, "indices") {
			a := netip.AddrFrom4([4]byte{10, 1, 0, byte(16 + n)})
			kube.Pods = append(kube.Pods, PodState{pod(a.String()), a.String()})
		}
		if err := p.Resync(&DBResync{}, kube, 1); err != nil {
			t.Fatal(err)
		}
		for n := range rapid.IntRange(0, 20).Draw(t, "released") {
			if n < len(kube.Pods) {
				_ = p.ReleasePodIP(kube.Pods[n].ID)
			}
		}
		var given []netip.Addr
		for n := range 20 {
			a, err := p.AllocatePodIP(pod("new"+string(rune('a'+n))), "", "")
			if err != nil {
				break
			}
			if i := a.As4()[3] - 16; i < 2 || i > 13 || slices.Contains(given, a) {
				t.Fatalf("gave %s after %v", a, given)
			}
			given = append(given, a)
		}
	})
}

func TestReuseDelayOnTopOfTheCursor(t *testing.T) {
	c := &cluster{id: 1, config: IPAMConfig{PodSubnetOneNodePrefixLen: 29}, time: epoch}
	p := c.plugin(WithReuseDelay(time.Minute))
	if err := p.Resync(&DBResync{}, KubeState{}, 1); err != nil {
		t.Fatal(err)
	}
	for _, name := range [...]string{"a", "b", "c", "d"} {
		if _, err := p.AllocatePodIP(pod(name), "", ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.ReleasePodIP(pod("b")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.AllocatePodIP(pod("e"), "", ""); !errors.Is(err, ipam.ErrExhausted) {
		t.Errorf("at once: %v", err)
	}
	kube := KubeState{Pods: []PodState{{pod("a"), "10.1.0.10"}, {pod("c"), "10.1.0.12"}, {pod("d"), "10.1.0.13"}}}
	if err := p.Resync(&HealingResync{}, kube, 2); err != nil {
		t.Fatal(err)
	}
	if _, err := p.AllocatePodIP(pod("e"), "", ""); !errors.Is(err, ipam.ErrExhausted) {
		t.Errorf("after a resync: %v", err)
	}
	c.time = epoch.Add(time.Minute)
	if a, err := p.AllocatePodIP(pod("e"), "", ""); err != nil || a.String() != "10.1.0.11" {
		t.Errorf("after the delay: %s %v", a, err)
	}
}

func TestExternalAddressOfAnotherPodIsRefused(t *testing.T) {
	c := &cluster{id: 1, config: IPAMConfig{UseExternalIPAM: true}}
	p := c.plugin()
	if err := p.Resync(&DBResync{}, KubeState{}, 1); err != nil {
		t.Fatal(err)
	}
	const data = `{"version":"4","address":"10.1.1.9/24"}`
	if _, err := p.AllocatePodIP(pod("a"), "host-local", data); err != nil {
		t.Fatal(err)
	}
	if _, err := p.AllocatePodIP(pod("b"), "host-local", data); !errors.Is(err, ipam.ErrTaken) {
		t.Errorf("second pod: %v", err)
	}
	for _, bad := range [...]string{"", "{}", `{"address":"10.1.1.9"}`, `{"address":7}`} {
		if _, err := p.AllocatePodIP(pod("c"), "host-local", bad); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

func TestPodCIDRChangeByValue(t *testing.T) {
	node := func(cidr string) *NodeInfo { return &NodeInfo{Name: "node1", PodCIDR: netip.MustParsePrefix(cidr)} }
	for name, u := range map[string]struct {
		update *NodeUpdate
		pushes string
	}{
		"same value":   {&NodeUpdate{NodeName: "node1", Prev: node("10.4.1.0/24"), New: node("10.4.1.7/24")}, ""},
		"new value":    {&NodeUpdate{NodeName: "node1", Prev: node("10.4.1.0/24"), New: node("10.4.2.0/24")}, "Pod CIDR Change (LocalPodCIDR: 10.4.2.0/24)"},
		"first value":  {&NodeUpdate{NodeName: "node1", New: node("10.4.2.0/24")}, "Pod CIDR Change (LocalPodCIDR: 10.4.2.0/24)"},
		"other node":   {&NodeUpdate{NodeName: "node2", New: node("10.4.2.0/24")}, ""},
		"node is gone": {&NodeUpdate{NodeName: "node1", Prev: node("10.4.2.0/24")}, "Pod CIDR Change (LocalPodCIDR: invalid Prefix)"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cluster{id: 1, config: IPAMConfig{UseExternalIPAM: true}}
			p := c.plugin()
			if text, err := p.Update(u.update); text != "" || err != nil {
				t.Fatalf("%q %v", text, err)
			}
			var have string
			for _, ev := range c.pushed {
				have += ev.String()
				if ev.GetName() != "Pod CIDR Change" || ev.Method() != UpstreamResync || ev.IsBlocking() {
					t.Errorf("event %+v", ev)
				}
				ev.Done(nil)
			}
			if have != u.pushes {
				t.Errorf("pushed %q, want %q", have, u.pushes)
			}
		})
	}
	c := &cluster{full: true, config: IPAMConfig{UseExternalIPAM: true}}
	if _, err := c.plugin().Update(&NodeUpdate{NodeName: "node1", New: node("10.4.2.0/24")}); err == nil {
		t.Error("a lost event was no error")
	}
}

func TestSegmentsNeedARangeAndIPv6(t *testing.T) {
	p := DefaultPlugin()
	if _, err := p.SidForServicePodLocalsid(netip.MustParseAddr("2001:db8::1")); err == nil {
		t.Error("an identifier without a range")
	}
	c := &cluster{id: 1, config: IPAMConfig{SRv6: SRv6Config{
		SFCServiceFunctionSIDSubnetCIDR: "9600::/16", ServicePolicyBSIDSubnetCIDR: "8fff::/16", SFCIDLengthUsedInSidForServiceFunction: 128}}}
	p = c.plugin()
	if err := p.Resync(&DBResync{}, KubeState{}, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := p.SidForSFCServiceFunctionLocalsid("x", netip.MustParseAddr("10.0.0.1")); err == nil {
		t.Error("an identifier from IPv4")
	}
	if a, err := p.BsidForServicePolicy(nil); err != nil || a.String() != "8fff::1" {
		t.Errorf("service without IP: %s %v", a, err)
	}
	ips := []netip.Addr{netip.MustParseAddr("1111:2222::9"), netip.MustParseAddr("1111:2222::3")}
	if a, err := p.BsidForServicePolicy(ips); err != nil || a.String() != "8fff:2222::3" {
		t.Errorf("lowest of two: %s %v", a, err)
	}
}
