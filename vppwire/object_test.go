package vppwire

import (
	"net/netip"
	"testing"
)

// every is one object of each kind and form.
var every = []Object{
	Table{ID: 1}, Table{ID: 7, IP6: true},
	Loopback{Instance: 3, MAC: MAC{0x12, 0x2b, 0, 0, 0, 1}},
	Tap{ID: 9, MAC: MAC{2, 0xfe, 1, 2, 3, 4}, Host: "eth0", Netns: "/var/run/netns/cni-1", HostMAC: MAC{2, 0xfe, 5, 6, 7, 8}, HostMTU: 1450, RxRing: 256, TxRing: 512, Tag: "pod/default/web-0"},
	Tap{Host: "vpp1"},
	Memif{Socket: 7, MAC: MAC{2, 0xfe, 1, 2, 3, 4}}, Memif{Socket: 7, ID: 3, MAC: MAC{2}, Slave: true, Ring: 512, Buffer: 4096},
	MemifFolder{Path: "/run/vppdrill/memif/1/eth0", Socket: 7, Listens: true, Settings: "address=10.1.1.2/32,mtu=1450"}, MemifFolder{Path: "/run/vppdrill/memif/1/net1"},
	MemifSocket{Number: 7, File: "/run/vppdrill/memif/7/memif.sock"},
	AFPacket{Device: "vpptrunk", MAC: MAC{2, 0x38}, Shared: true}, SourceTable{}, SourceTable{IP6: true}, Guard{If: "host-vpptrunk"}, Guard{If: "host-vpptrunk", Bridged: true}, Guard{If: "host-vpptrunk", IP6: true},
	Source{Addr: netip.MustParseAddr("10.1.1.2"), MAC: MAC{2, 0x39}}, Source{Addr: netip.MustParseAddr("fd00:1::2"), MAC: MAC{2, 0x39}},
	Macvlan{Netns: "/n", Name: "eth0", Parent: "vpppods", MAC: MAC{2, 0x39}}, LinkState{Netns: "/n", Name: "eth0", Of: OfMacvlan},
	AFPacket{Device: "vd0123456789abc", MAC: MAC{2, 0xfe, 1, 2, 3, 4}},
	VXLAN{Instance: 2, Src: netip.MustParseAddr("192.168.16.1"), Dst: netip.MustParseAddr("192.168.16.2"), VNI: 10, Table: 5},
	VXLAN{Instance: 2, Src: netip.MustParseAddr("fd00::1"), Dst: netip.MustParseAddr("fd00::2"), VNI: 16777215},
	Up{If: "loop0"}, Up{If: "host-vpptrunk", IP6: true}, Up{If: "host-vpptrunk", Both: true}, Tag{If: "loop0", Text: "vxlanBVI"}, InTable{If: "tap3", Table: 1}, InTable{If: "tap3", Table: 1, IP6: true},
	MTU{If: "tap3", Bytes: 1450},
	Address{If: "loop0", Addr: netip.MustParsePrefix("192.168.30.1/24"), Table: 1},
	Unnumbered{If: "tap3", Donor: "loop2", Table: 1}, Unnumbered{If: "tap3", Donor: "loop2", Table: 1, Both: true},
	DHCPClient{If: "uplink0", Hostname: "node-1"}, DHCPClient{If: "uplink0", Table: 5},
	Bridge{ID: 1}, Member{Bridge: 1, If: "loop0", BVI: true, SHG: 1}, Member{Bridge: 1, If: "vxlan_tunnel2", SHG: 1},
	FIB{Bridge: 1, MAC: MAC{0x12, 0x2b, 0, 0, 0, 2}, If: "vxlan_tunnel2"},
	Neighbor{If: "loop0", Addr: netip.MustParseAddr("192.168.30.2"), MAC: MAC{0x12, 0x2b, 0, 0, 0, 2}},
	NeighborConfig{MaxNumber: 50000, MaxAge: 240}, NeighborConfig{IP6: true},
	Route{Table: 1, Prefix: netip.MustParsePrefix("10.1.0.0/16"), Drop: true},
	Route{Prefix: netip.MustParsePrefix("10.1.0.0/16"), ToTable: true, Lookup: 1},
	Route{Table: 1, Prefix: netip.MustParsePrefix("10.1.2.0/24"), Via: netip.MustParseAddr("192.168.30.2"), If: "loop0"},
	Route{Prefix: netip.MustParsePrefix("10.1.2.0/24"), Via: netip.MustParseAddr("192.168.16.2")},
	Route{Table: 1, Prefix: netip.MustParsePrefix("fd00::/64"), If: "tap3"},
	Up{If: "tap3", Filtered: true},
	ACL{Name: "policy/tap3/in", Rules: "reflect/10.1.1.2/32>0.0.0.0/0+tcp+80-90,deny/fd00::/8>::/0"}, ACL{Name: "policy/tap3/out", Held: true}, ACLList{If: "tap3", In: "policy/tap3/in", Out: "policy/tap3/out"},
	NAT{Table: 3, Sessions: 1000}, NATForwarding{}, natTimeoutsDefault,
	NATAddress{Addr: netip.MustParseAddr("10.1.1.254")}, NATAddress{Addr: netip.MustParseAddr("10.1.1.254"), Twice: true},
	NATAddress{Addr: netip.MustParseAddr("20.20.20.20"), Table: 2},
	NATInterface{If: "loop0"}, NATInterface{If: "loop0", Outside: true}, NATOutput{If: "GigabitEthernet0/8/0"},
	Identity{Addr: netip.MustParseAddr("192.168.16.1"), Table: 1}, Identity{Addr: netip.MustParseAddr("192.168.16.1"), Proto: UDP, Port: 4789},
	Service{Addr: netip.MustParseAddr("10.96.0.10"), Port: 53, Proto: UDP, Endpoints: "10.1.1.2:53@1*1"},
	Service{Addr: netip.MustParseAddr("10.96.0.10"), Port: 53, Proto: TCP, Twice: TwiceSelf, Affinity: 10800, Tag: "default/dns", Endpoints: "10.1.1.2:53@1*1,172.30.1.2:53@0*200"},
	Veth{Device: "vpp2", Peer: "vpp1"}, Veth{Device: "vd1", Peer: "eth0", PeerNetns: "/n"},
	LinkState{Name: "vpp1", MTU: 1450, Of: "tap0"}, LinkState{Netns: "/n", Name: "eth0", MAC: MAC{2}},
	Offload{Netns: "/n", Name: "eth0"}, LinuxAddress{Netns: "/n", Link: "eth0", Addr: netip.MustParsePrefix("10.1.1.2/32")},
	LinuxRoute{Netns: "/n", Link: "eth0", Dst: netip.MustParsePrefix("0.0.0.0/0"), Via: netip.MustParseAddr("10.1.1.1")},
	LinuxRoute{Link: "vpp1", Dst: netip.MustParsePrefix("10.1.1.1/32")},
	ProxyARP{Table: 1, Low: netip.MustParseAddr("192.168.16.1"), High: netip.MustParseAddr("192.168.16.254")}, ProxyARPOn{If: "host-vpp2"},
	STN{Addr: netip.MustParseAddr("10.1.1.2"), If: "tap3"}, STN{Addr: netip.MustParseAddr("192.168.16.1"), If: "host-vpp2", Bits: 24, Table: 1, Routes: "0.0.0.0/0,10.0.0.0/8"},
	Address{If: "uplink0", Addr: netip.MustParsePrefix("192.168.16.1/24"), Stolen: true}, LinuxAddress{Link: "vpp1", Addr: netip.MustParsePrefix("192.168.16.1/24"), Stolen: true}, OwnARP{Link: "eth0"},
	LinuxRoute{Link: "vpp1", Dst: netip.MustParsePrefix("0.0.0.0/0"), Via: netip.MustParseAddr("192.168.16.100"), Metric: 100, By: netip.MustParsePrefix("192.168.16.1/24"), NIC: "eth0", Uplink: "uplink0"},
	Stolen{Link: "eth0", Addr: netip.MustParsePrefix("192.168.16.1/24")}, Stolen{Link: "eth0", Addr: netip.MustParsePrefix("192.168.16.1/24"), Uplink: "uplink0", Routes: "0.0.0.0/0,10.0.0.0/8"},
	LinuxNeighborEntry{Netns: "/n", Link: "eth0", Addr: netip.MustParseAddr("10.1.1.1"), MAC: MAC{3}},
}

// Every object's line parses back to the same object, and keys tell objects apart exactly as strings do.
func TestObjectLines(t *testing.T) {
	kinds := map[Kind]bool{}
	s := NewSession()
	byString, byIdent := map[string]Key{}, map[ident]Key{}
	for _, o := range every {
		line := string(o.AppendText(nil))
		back, err := ParseObject(line)
		if err != nil || back != o {
			t.Errorf("%q parses to %#v, %v; want %#v", line, back, err, o)
		}
		k := o.Key()
		kinds[k.Kind] = true
		if other, ok := byString[k.String()]; ok && other != k {
			t.Errorf("keys %#v and %#v print alike", k, other)
		}
		if other, ok := byIdent[s.ident(&k)]; ok && other != k {
			t.Errorf("keys %#v and %#v pack alike", k, other)
		}
		byString[k.String()], byIdent[s.ident(&k)] = k, k
	}
	for k := Kind(1); int(k) < len(kinds); k++ {
		if !kinds[k] {
			t.Errorf("no object of kind %s here", k)
		}
	}
}

// Damaged lines are errors, and whatever is accepted prints as it was read.
func FuzzParseObject(f *testing.F) {
	for _, o := range every {
		f.Add(string(o.AppendText(nil)))
	}
	f.Fuzz(func(t *testing.T, line string) {
		o, err := ParseObject(line)
		if err != nil {
			return
		}
		if got := string(o.AppendText(nil)); got != line {
			t.Fatalf("%q reads as %q", line, got)
		}
	})
}
