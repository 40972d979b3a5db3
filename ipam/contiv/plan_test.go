package contiv

import (
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
	"pgregory.net/rapid"
)

func resolve(t testing.TB, c IPAMConfig) Plan {
	t.Helper()
	p, err := c.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Goal: defaults are Contiv's, and a node's addresses are the documented example. Method: one table of exact values.
func TestDefaultsAndTheDocumentedExample(t *testing.T) {
	p := resolve(t, IPAMConfig{NodeInterconnectCIDR: "192.168.16.0/24"})
	if p.MaxNodeID() != 254 {
		t.Errorf("max node ID %d, want 254: the VXLAN range is a /24", p.MaxNodeID())
	}
	if p.Service.String() != "10.96.0.0/12" || p.PodIf.IsValid() {
		t.Errorf("service %s, pod interfaces %s", p.Service, p.PodIf)
	}
	n, err := p.Node(5)
	want := NodePlan{
		ID:            5,
		PodSubnet:     netip.MustParsePrefix("10.1.5.0/24"),
		PodGateway:    netip.MustParseAddr("10.1.5.1"),
		NATLoopback:   netip.MustParseAddr("10.1.5.254"),
		VPPHostSubnet: netip.MustParsePrefix("172.30.5.0/24"),
		VPPEnd:        netip.MustParseAddr("172.30.5.1"),
		LinuxEnd:      netip.MustParseAddr("172.30.5.2"),
		NodeIP:        netip.MustParsePrefix("192.168.16.5/24"),
		VXLANIP:       netip.MustParsePrefix("192.168.30.5/24"),
	}
	if err != nil || n != want {
		t.Errorf("node 5 is %+v %v, want %+v", n, err, want)
	}
}

func TestPodInterfaceAddressFollowsTheNumber(t *testing.T) {
	p := resolve(t, IPAMConfig{PodIfIPCIDR: "10.2.1.0/24"})
	for number, want := range map[uint32]string{1: "10.2.1.1", 2: "10.2.1.2", 254: "10.2.1.254", 0: "", 255: "", 1 << 31: ""} {
		switch a, err := p.PodIfAddr(number); {
		case want == "" && !errors.Is(err, ipam.ErrExhausted):
			t.Errorf("interface %d: %s %v", number, a, err)
		case want != "" && (err != nil || a.String() != want):
			t.Errorf("interface %d: %s %v, want %s", number, a, err, want)
		}
	}
}

// Goal: every refusal names the field and the value. Method: a table of bad sections with the words that must appear.
func TestResolveRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		config IPAMConfig
		words  []string
	}{
		"unreadable":              {IPAMConfig{PodSubnetCIDR: "1.2.3./19"}, []string{"podSubnetCIDR", "1.2.3./19"}},
		"unreadable service":      {IPAMConfig{ServiceCIDR: "x"}, []string{"serviceCIDR", `"x"`}},
		"unreadable pod if":       {IPAMConfig{PodIfIPCIDR: "10.0.0.0/33"}, []string{"podIfIPCIDR", "/33"}},
		"unreadable gateway":      {IPAMConfig{DefaultGateway: "1.2.3"}, []string{"defaultGateway", "1.2.3"}},
		"unreadable segment":      {IPAMConfig{SRv6: SRv6Config{SFCEndLocalSIDSubnetCIDR: "q"}}, []string{"srv6.sfcEndLocalSIDSubnetCIDR", `"q"`}},
		"short one node":          {IPAMConfig{PodSubnetOneNodePrefixLen: 16}, []string{"podSubnetOneNodePrefixLen 16", "10.1.0.0/16"}},
		"no room for pods":        {IPAMConfig{PodSubnetOneNodePrefixLen: 30}, []string{"podSubnetOneNodePrefixLen 30", "3 bits"}},
		"too long":                {IPAMConfig{VPPHostSubnetOneNodePrefixLen: 31}, []string{"vppHostSubnetOneNodePrefixLen 31"}},
		"negative":                {IPAMConfig{VPPHostSubnetOneNodePrefixLen: -1}, []string{"vppHostSubnetOneNodePrefixLen -1"}},
		"overlap":                 {IPAMConfig{VXLANCIDR: "10.1.255.0/24"}, []string{"podSubnetCIDR 10.1.0.0/16", "vxlanCIDR 10.1.255.0/24", "overlaps"}},
		"overlap with default":    {IPAMConfig{NodeInterconnectCIDR: "10.100.0.0/16"}, []string{"nodeInterconnectCIDR", "serviceCIDR 10.96.0.0/12"}},
		"overlap of pod if":       {IPAMConfig{PodIfIPCIDR: "172.30.0.0/24"}, []string{"vppHostSubnetCIDR", "podIfIPCIDR"}},
		"two families":            {IPAMConfig{VXLANCIDR: "2001:db8::/120"}, []string{"one address family", "vxlanCIDR"}},
		"IPv6 without defaults":   {IPAMConfig{PodSubnetCIDR: "2001:db8::/100"}, []string{"vppHostSubnetCIDR is empty"}},
		"gateway of other family": {IPAMConfig{DefaultGateway: "2001:db8::1"}, []string{"defaultGateway 2001:db8::1"}},
		"gateway is broadcast": {IPAMConfig{NodeInterconnectCIDR: "192.168.16.0/24", DefaultGateway: "192.168.16.255"},
			[]string{"defaultGateway 192.168.16.255", "broadcast"}},
		"contivCIDR too small":  {IPAMConfig{ContivCIDR: "10.130.0.0/18"}, []string{"contivCIDR", "10.130.0.0/18", "18bit"}},
		"contivCIDR and pods":   {IPAMConfig{ContivCIDR: "10.128.0.0/14", PodSubnetCIDR: "10.1.0.0/16"}, []string{"podSubnetCIDR", "contivCIDR"}},
		"contivCIDR and length": {IPAMConfig{ContivCIDR: "10.128.0.0/14", PodSubnetOneNodePrefixLen: 24}, []string{"podSubnetOneNodePrefixLen 24", "contivCIDR"}},
		"contivCIDR overlaps": {IPAMConfig{ContivCIDR: "10.128.0.0/14", NodeInterconnectCIDR: "10.128.3.0/24"},
			[]string{"podSubnetCIDR 10.128.0.0/16", "nodeInterconnectCIDR 10.128.3.0/24"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := c.config.Resolve()
			if err == nil || !reflect.DeepEqual(p, Plan{}) {
				t.Fatalf("was accepted: %+v %v", p, err)
			}
			for _, w := range c.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q lacks %q", err, w)
				}
			}
		})
	}
}

func TestDHCPHasNeitherInterconnectNorGateway(t *testing.T) {
	p := resolve(t, IPAMConfig{NodeInterconnectDHCP: true, NodeInterconnectCIDR: "192.168.16.0/24", DefaultGateway: "192.168.16.1"})
	n, err := p.Node(1)
	if err != nil || p.NodeInterconnect.IsValid() || p.DefaultGateway.IsValid() || n.NodeIP.IsValid() {
		t.Errorf("%+v %+v %v", p, n, err)
	}
}

// Goal: IDs 1..MaxNodeID have addresses, all different and all inside; no other ID has any. Method: rapid draws small
// ranges, so that every ID is tried.
func TestEveryNodeIDUpToTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		split := func(label string) int { return rapid.IntRange(1, 6).Draw(t, label) }
		p := Plan{
			PodSubnet:               netip.MustParsePrefix("10.1.0.0/20"),
			VPPHostSubnet:           netip.MustParsePrefix("172.30.0.0/22"),
			NodeInterconnect:        netip.PrefixFrom(netip.MustParseAddr("192.168.16.0"), 32-split("interconnect")),
			VXLAN:                   netip.PrefixFrom(netip.MustParseAddr("192.168.30.0"), 32-split("vxlan")),
			VPPHostSubnetOneNodeLen: 22 + split("host"),
		}
		p.PodSubnetOneNodePrefixLen = 20 + split("pods")
		if rapid.Bool().Draw(t, "gateway") {
			p.DefaultGateway, _ = space.Nth(netip.MustParsePrefix("192.168.16.0/26"), rapid.Uint64Range(1, 62).Draw(t, "gateway index"))
		}
		if p.Check() != nil {
			t.Skip("gateway on the edge")
		}
		seen := make(map[netip.Addr]uint32)
		for id := uint32(0); id < 70; id++ {
			n, err := p.Node(id)
			if fits := id >= 1 && id <= p.MaxNodeID(); fits != (err == nil) {
				t.Fatalf("node %d of 1..%d: %v", id, p.MaxNodeID(), err)
			}
			if err != nil {
				if !errors.Is(err, ErrNodeIDRange) && !errors.Is(err, ErrNoNodeAddress) {
					t.Fatalf("node %d: %v", id, err)
				}
				continue
			}
			for _, a := range [...]netip.Addr{n.PodGateway, n.NATLoopback, n.VPPEnd, n.LinuxEnd, n.NodeIP.Addr(), n.VXLANIP.Addr()} {
				if other, taken := seen[a]; taken || a == p.DefaultGateway {
					t.Fatalf("%s of node %d is node %d's or the gateway", a, id, other)
				}
				seen[a] = id
			}
			for _, q := range [...]netip.Prefix{n.NodeIP, n.VXLANIP} {
				if q.Addr() == space.First(q) || q.Addr() == space.Last(q) || !p.NodeInterconnect.Contains(q.Addr()) && !p.VXLAN.Contains(q.Addr()) {
					t.Fatalf("node %d has %s", id, q)
				}
			}
			if back, err := p.NodeID(n.PodGateway); err != nil || back != id {
				t.Fatalf("%s is of node %d %v, want %d", n.PodGateway, back, err, id)
			}
		}
	})
}

// Anything that Resolve accepts is a usable plan: no panic, no overlap, node 1 and the last node within their ranges.
func FuzzResolve(f *testing.F) {
	f.Add("10.1.0.0/16", 24, "172.30.0.0/16", 24, "192.168.16.0/24", "192.168.30.0/24", "192.168.16.1", "", false)
	f.Add("fe10::/90", 120, "fe30::/90", 126, "fe40::/64", "fe20::/120", "", "", false)
	f.Add("", 0, "", 0, "", "", "", "10.128.0.0/14", true)
	f.Add("::ffff:10.1.0.0/112", 24, "172.30.0.0/16", 24, "0.0.0.0/0", "1.2.3./19", "::1", "fe10::/64", false)
	f.Fuzz(func(t *testing.T, pods string, podLen int, host string, hostLen int, node, vxlan, gateway, all string, dhcp bool) {
		p, err := IPAMConfig{
			ContivCIDR: all, PodSubnetCIDR: pods, PodSubnetOneNodePrefixLen: podLen, VPPHostSubnetCIDR: host,
			VPPHostSubnetOneNodePrefixLen: hostLen, NodeInterconnectCIDR: node, VXLANCIDR: vxlan, DefaultGateway: gateway,
			NodeInterconnectDHCP: dhcp,
		}.Resolve()
		if err != nil {
			return
		}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		last := p.MaxNodeID()
		for _, id := range [...]uint32{1, last/2 + 1, last} {
			n, err := p.Node(id)
			if id > last || id == 0 {
				continue
			}
			if err != nil || !space.Contains(p.PodSubnet, n.PodSubnet) || !n.PodSubnet.Contains(n.NATLoopback) {
				t.Fatalf("node %d of %d: %+v %v", id, last, n, err)
			}
		}
		if last < 1<<32-1 {
			if n, err := p.Node(last + 1); err == nil {
				t.Fatalf("node %d beyond the limit: %+v", last+1, n)
			}
		}
	})
}

func FuzzDissectContivCIDR(f *testing.F) {
	for _, s := range [...]string{"10.128.0.0/14", "192.254.0.0/12", "fe10::/64", "::/0", "10.0.0.0/15", "::ffff:10.0.0.0/100"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := DissectContivCIDR(IPAMConfig{ContivCIDR: text})
		if err != nil {
			return
		}
		all, err := space.ParsePrefix(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		for _, r := range p.ranges() {
			if r.value.IsValid() && !space.Contains(all, r.value) {
				t.Fatalf("%s %s is not in %s", r.name, r.value, all)
			}
		}
		if p.MaxNodeID() < 510 {
			t.Fatalf("%s has room for %d nodes", all, p.MaxNodeID())
		}
	})
}

// Goal: no node gets a gateway as its address, whoever's it is, and every other address is used. Method: the addresses
// of all IDs beside those of the range without the gateways.
func TestNodesStepOverEveryGateway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := IPAMConfig{NodeInterconnectCIDR: "192.168.16.0/28"}.Resolve()
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.IntRange(0, 40)
		nth := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{192, 168, 16, byte(i)}) }
		if i := at.Draw(t, "default"); i > 0 && i != 15 {
			p.DefaultGateway = nth(i)
		}
		for _, i := range rapid.SliceOfN(at, 0, 5).Draw(t, "gateways") {
			p.NodeGateways = append(p.NodeGateways, nth(i))
		}
		var want []netip.Addr
		for i := 1; i < 15; i++ {
			if a := nth(i); a != p.DefaultGateway && !slices.Contains(p.NodeGateways, a) {
				want = append(want, a)
			}
		}
		var have []netip.Addr
		for id := uint32(1); id <= p.MaxNodeID(); id++ {
			n, err := p.Node(id)
			if err != nil {
				t.Fatal(err)
			}
			have = append(have, n.NodeIP.Addr())
		}
		if !slices.Equal(have, want) {
			t.Fatalf("nodes have %v, want %v", have, want)
		}
		if n, err := p.Node(p.MaxNodeID() + 1); err == nil {
			t.Fatalf("one more node has %v", n.NodeIP)
		}
	})
}
