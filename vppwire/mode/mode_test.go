package mode_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// What each mode wants, line by line, in the order in which it can be created: the files are the wiring's
// specification. Node 1 of the default address plan; peer 2; a pod 10.1.1.2.
func TestModes(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			c := mode.Config{MTU: 1450, PodTable: 1}
			pod, node, host, nic, podIf := "veth", "vxlan", "tap", "GigabitEthernet0/8/0", ""
			d.MaybeScanArgs(t, "pod", &pod)
			d.MaybeScanArgs(t, "node", &node)
			d.MaybeScanArgs(t, "host", &host)
			d.MaybeScanArgs(t, "nic", &nic)
			d.MaybeScanArgs(t, "pod-if", &podIf)
			c.OutsideByHost = d.HasArg("outside-by-host")
			c.Pod, c.Node, c.Host = named(pod, mode.PodVeth), named(node, mode.NodeVXLAN), named(host, mode.HostNone)
			n := nodeOne(nic)
			if podIf != "" {
				n.PodIf = netip.MustParsePrefix(podIf)
			}
			p := mode.Pod{Container: "c0ffee", IfName: "eth0", Netns: "/var/run/netns/cni-1",
				Namespace: "default", Name: "web-0", Addr: addr("10.1.1.2"), Gateway: addr("10.1.1.1"), Number: 1}
			if word := ""; d.HasArg("memif") {
				d.ScanArgs(t, "memif", &word)
				p.Memif, _ = mode.MemifOf(word)
				p.UID, c.MemifFolder, c.RxRing = "uid-1", "/run/vppdrill/memif", 512
			}
			six := nodeSix(nic)
			if d.HasArg("without-blocks") { // of IPv6
				six.Gateways = nil
			}
			switch {
			case d.HasArg("dual"):
				n.Second, p.SecondAddr, p.SecondGateway = &six, addr("fd00:1::2"), addr("fd00:1::1")
			case d.HasArg("ip6"):
				n, p.Addr, p.Gateway = six, addr("fd00:1::2"), addr("fd00:1::1")
			}
			if d.HasArg("services") {
				c.NAT, n.Services = mode.NAT{On: true, External: d.HasArg("external"), TCPIdle: 10800, OtherIdle: 300}, prefix("10.96.0.0/12")
				n.Gateway = addr("192.168.16.100")
			}
			if d.HasArg("stolen") {
				n.Stolen = stolen(d)
				n.Address, n.Gateway = n.Stolen.Addrs[0], n.Stolen.Gateway()
				n.HostSubnet, n.HostVPP, n.HostLinux = netip.Prefix{}, netip.Addr{}, netip.Addr{}
			}
			switch d.Cmd {
			case "node":
				return lines(c.NodeObjects(n))
			case "peer":
				return lines(c.PeerObjects(n, peerTwo(d)))
			case "pod":
				if n.PodIf.IsValid() {
					p.VPPEnd = n.PodIf.Addr().Next()
				}
				return lines(c.PodObjects(n, p))
			default:
				t.Fatalf("unknown command %s", d.Cmd)
				return ""
			}
		})
	})
}

// named is the mode of that name, looked for from the first one.
func named[M interface {
	~uint8
	fmt.Stringer
}](word string, first M) M {
	for m := first; ; m++ {
		if m.String() == word {
			return m
		}
	}
}

func addr(s string) netip.Addr     { return netip.MustParseAddr(s) }
func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

func nodeOne(nic string) mode.Node {
	if nic == "none" {
		nic = ""
	}
	return mode.Node{ID: 1, Address: prefix("192.168.16.1/24"), VXLAN: prefix("192.168.30.1/24"), NIC: nic,
		PodSubnets: []netip.Prefix{prefix("10.1.0.0/16")}, HostSubnets: []netip.Prefix{prefix("172.30.0.0/16")},
		HostSubnet: prefix("172.30.1.0/24"), HostVPP: addr("172.30.1.1"), HostLinux: addr("172.30.1.2"),
		HostAddrs: []netip.Addr{addr("10.20.0.2"), addr("10.0.2.15")}, Gateways: []netip.Prefix{prefix("10.1.1.1/24")}}
}

// nodeSix is the node with what it has of IPv6.
func nodeSix(nic string) mode.Node {
	n := nodeOne(nic)
	n.Address, n.VXLAN, n.HostSubnet = prefix("fd00:16::1/64"), prefix("fd00:18::1/64"), prefix("fd00:30::100/120")
	n.PodSubnets, n.HostSubnets = []netip.Prefix{prefix("fd00:1::/48")}, []netip.Prefix{prefix("fd00:30::/64")}
	n.HostVPP, n.HostLinux, n.HostAddrs = addr("fd00:30::101"), addr("fd00:30::102"), []netip.Addr{addr("fd20::2")}
	n.Gateways = []netip.Prefix{prefix("fd00:1::1/64")}
	return n
}

// stolen is what the host had on its NIC: an address, and a gateway unless there is to be none.
func stolen(d *datadriven.TestData) mode.Stolen {
	s := mode.Stolen{Link: "eth0", Addrs: []netip.Prefix{prefix("192.168.16.1/24")}}
	if d.HasArg("second") {
		s.Addrs = append(s.Addrs, prefix("192.168.17.9/30"))
	}
	if d.HasArg("gateway") {
		s.Routes = []vppwire.HostRoute{{Dst: prefix("0.0.0.0/0"), Via: addr("192.168.16.100"), Link: "eth0", Metric: 100}}
	}
	if d.HasArg("second") {
		s.Routes = append(s.Routes, vppwire.HostRoute{Dst: prefix("10.40.0.0/16"), Via: addr("192.168.17.10"), Link: "eth0"})
	}
	return s
}

func peerTwo(d *datadriven.TestData) mode.Peer {
	p := mode.Peer{ID: 2, Address: addr("192.168.16.2"), VXLAN: addr("192.168.30.2"), PodNetworks: []netip.Prefix{prefix("10.1.2.0/24")},
		HostSubnet: prefix("172.30.2.0/24"), Management: []netip.Addr{addr("10.20.0.10")}}
	if d.HasArg("managed-there") { // its own NIC is stolen too
		p.Management = []netip.Addr{p.Address}
	}
	if d.HasArg("draining") { // a block of the former pod subnet, which no cluster-wide route covers any more
		p.PodNetworks = append(p.PodNetworks, prefix("10.9.2.0/24"))
	}
	return p
}

func lines(objects []vppwire.Object) string {
	var b []byte
	for _, o := range objects {
		b = append(o.AppendText(b), '\n')
	}
	return string(b)
}

// Goal: outer addresses of services are kept from a second translation where what leaves is translated, and only there;
// no interface is in the table that NAT has them for. Method: three configurations.
func TestOuterAddresses(t *testing.T) {
	n := mode.Node{ID: 1, NIC: "uplink0", Address: netip.MustParsePrefix("192.168.16.1/24"), Gateway: netip.MustParseAddr("192.168.16.100")}
	outer := []netip.Addr{netip.MustParseAddr("20.20.20.20")}
	c := mode.Config{Node: mode.NodeVXLAN, PodTable: 1, NAT: mode.NAT{On: true, External: true}}
	for _, tc := range []struct {
		name string
		main uint32
		on   bool
		want string
	}{
		{"translated", 0, true, "table 2|nat-address 20.20.20.20 table 2|nat-identity table 0 20.20.20.20|nat-identity table 1 20.20.20.20"},
		{"tables of its own", 2, true, "table 3|nat-address 20.20.20.20 table 3|nat-identity table 2 20.20.20.20|nat-identity table 1 20.20.20.20"},
		{"not translated", 0, false, ""},
	} {
		c.MainTable, c.NAT.External = tc.main, tc.on
		var got []string
		for _, o := range c.OuterAddresses(n, outer) {
			got = append(got, string(o.AppendText(nil)))
		}
		if text := strings.Join(got, "|"); text != tc.want {
			t.Errorf("%s: %s", tc.name, text)
		}
	}
}

// MACs of nodes and pods differ wherever the things do: every node ID, every sandbox, both ends.
func TestMACs(t *testing.T) {
	seen := map[vppwire.MAC]string{}
	note := func(m vppwire.MAC, what string) {
		if m[0]&1 != 0 {
			t.Errorf("%s has the multicast address %s", what, m)
		}
		if other, ok := seen[m]; ok {
			t.Errorf("%s and %s share %s", what, other, m)
		}
		seen[m] = what
	}
	for _, id := range []uint32{1, 2, 255, 256, 257, 512, 1<<32 - 1} {
		note(mode.BVIMAC(id), fmt.Sprintf("BVI %d", id))
	}
	for k := range 500 {
		pod, vpp := mode.PodMACs(fmt.Sprintf("container-%d", k), "eth0")
		note(pod, fmt.Sprintf("pod %d", k))
		note(vpp, fmt.Sprintf("vpp end %d", k))
	}
}

// A pod's device name fits Linux and depends on container and interface.
func TestPodDevice(t *testing.T) {
	a, b := mode.PodDevice("c1", "eth0"), mode.PodDevice("c1", "net1")
	if len(a) != 15 || len(b) != 15 || a == b {
		t.Errorf("devices %q and %q", a, b)
	}
}

// NICs are the interfaces that VPP did not make.
func TestNICs(t *testing.T) {
	names := []string{"local0", "loop0", "host-vpp2", "tap0", "vxlan_tunnel1", "memif0/0", "GigabitEthernet0/8/0", "GigabitEthernet0/9/0"}
	if got := mode.NICs(names); !slices.Equal(got, names[6:]) {
		t.Errorf("picked %q", got)
	}
	if got := mode.NICs(names[:6]); len(got) != 0 {
		t.Errorf("picked %q where there is none", got)
	}
}
