package hostmodel_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/yardstick"
	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/vppwire"
)

var (
	_ vppwire.Linux = (*hostmodel.Host)(nil)
	_ fact.Linux    = (*hostmodel.Host)(nil)
)

func node(t testing.TB) *hostmodel.Host {
	h, err := hostmodel.New(hostmodel.Config{
		ID: 7,
		Devices: []hostmodel.Device{{
			Name: "eth0", MTU: 9000,
			Addrs: []netip.Prefix{netip.MustParsePrefix("192.168.16.7/24"), netip.MustParsePrefix("fd16::7/64")},
		}},
		Routes: []vppwire.HostRoute{{Dst: netip.MustParsePrefix("0.0.0.0/0"), Via: netip.MustParseAddr("192.168.16.1")}},
	})
	check(t, err)
	return h
}

// Goal: a machine starts as configured and is that again after a reboot, with another boot ID and the same cards.
// Method: dump, change everything, reboot, dump.
func TestReboot(t *testing.T) {
	h := node(t)
	first, err := h.Dump("")
	check(t, err)
	want := "link eth0 device mtu 9000 up 192.168.16.7/24 fd16::7/64\n" +
		"route 0.0.0.0/0 via 192.168.16.1 dev eth0\nroute 192.168.16.0/24 dev eth0\nroute fd16::/64 dev eth0\n"
	if diff := cmp.Diff(want, format(first)); diff != "" {
		t.Errorf("at the start (-want +got):\n%s", diff)
	}
	boot := h.Boot()
	check(t, h.CreateNamespace("/run/netns/p"))
	check(t, h.Apply(vppwire.VethAdd{Name: "vd1", PeerNetns: "/run/netns/p", Peer: "eth0"}))
	check(t, h.TapCreate("", "tap0", [6]byte{}, 0))
	check(t, h.Apply(vppwire.LinkSet{Name: "eth0", MAC: vppwire.MAC{2, 0, 0, 0, 0, 1}}))
	vd1, _ := h.Link("", "vd1")

	h.Reboot()
	again, err := h.Dump("")
	check(t, err)
	if diff := cmp.Diff(first, again, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); diff != "" {
		t.Errorf("after a reboot (-first +again):\n%s", diff)
	}
	if h.Boot() == boot || len(h.Boot()) != 36 {
		t.Errorf("boot %s after boot %s", h.Boot(), boot)
	}
	if h.HasNamespace("/run/netns/p") || h.HasLink("vd1") {
		t.Error("namespace or veth survived a reboot")
	}
	h.DropTaps()
	check(t, h.CreateNamespace("/run/netns/p"))
	check(t, h.Apply(vppwire.VethAdd{Name: "vd1", PeerNetns: "/run/netns/p", Peer: "eth0"}))
	if next, _ := h.Link("", "vd1"); next.MAC == vd1.MAC || next.MAC[0]&3 != 2 {
		t.Errorf("drew MAC %s after %s", next.MAC, vd1.MAC)
	}
}

// Goal: what no machine can have is refused at once. Method: one Config per reason.
func TestBadConfig(t *testing.T) {
	for _, cfg := range []hostmodel.Config{
		{Devices: []hostmodel.Device{{Name: "eth0"}, {Name: "eth0"}}},
		{Devices: []hostmodel.Device{{Name: "a name that is too long"}}},
		{Devices: []hostmodel.Device{{Name: "eth0", MTU: 1}}},
		{Devices: []hostmodel.Device{{Name: "eth0", Addrs: []netip.Prefix{{}}}}},
		{Routes: []vppwire.HostRoute{{Dst: netip.MustParsePrefix("0.0.0.0/0"), Via: netip.MustParseAddr("192.168.16.1")}}},
	} {
		if _, err := hostmodel.New(cfg); err == nil {
			t.Errorf("%+v: no error", cfg)
		}
	}
}

// Goal: the live view agrees with the dump, and finds routes, neighbors and own addresses. Method: one pod, each
// question.
func TestView(t *testing.T) {
	h := node(t)
	const p = "/run/netns/p"
	gw, pod := netip.MustParseAddr("10.1.1.1"), netip.MustParseAddr("10.1.1.2")
	for _, path := range []string{"/run/netns/z", p, "/run/netns/a"} {
		check(t, h.CreateNamespace(path))
	}
	for _, op := range []vppwire.LinuxOp{
		vppwire.VethAdd{Name: "vd1", PeerNetns: p, Peer: "eth0"},
		vppwire.LinkSet{Netns: p, Name: "eth0", Up: true},
		vppwire.LinkSet{Netns: p, Name: "lo", Up: true},
		vppwire.OffloadSet{Netns: p, Name: "eth0", Off: true},
		vppwire.AddrAdd{Netns: p, Link: "eth0", Addr: netip.PrefixFrom(pod, 32)},
		vppwire.RouteSet{Route: vppwire.HostRoute{Netns: p, Dst: netip.PrefixFrom(gw, 32), Link: "eth0"}},
		vppwire.RouteSet{Route: vppwire.HostRoute{Netns: p, Dst: netip.MustParsePrefix("0.0.0.0/0"), Via: gw, Link: "eth0"}},
		vppwire.NeighSet{Netns: p, Link: "eth0", Addr: gw, MAC: vppwire.MAC{2, 0, 0, 0, 0, 9}},
	} {
		if err := h.Apply(op); err != nil {
			t.Fatalf("%#v: %v", op, err)
		}
	}
	if got := slices.Collect(h.Namespaces()); !slices.Equal(got, []string{"/run/netns/a", p, "/run/netns/z"}) {
		t.Errorf("namespaces %v", got)
	}
	dump, err := h.Dump(p)
	check(t, err)
	if diff := cmp.Diff(dump.Links, slices.Collect(h.Links(p)), cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Errorf("links (-dump +view):\n%s", diff)
	}
	l, ok := h.Link(p, "eth0")
	if !ok || l.Peer != "vd1" || l.PeerNetns != "" || l.Type != "veth" || !l.OffloadOff || l.MTU != 1500 {
		t.Errorf("link %+v, %v", l, ok)
	}
	if l, _ = h.Link("", "vd1"); l.Peer != "eth0" || l.PeerNetns != p || l.Up {
		t.Errorf("its end %+v", l)
	}
	got := fmt.Sprintln(h.Route(p, gw)) + fmt.Sprintln(h.Route(p, netip.MustParseAddr("8.8.8.8"))) + fmt.Sprintln(h.Route(p, netip.MustParseAddr("fd00::1"))) +
		fmt.Sprintln(h.Neighbor(p, "eth0", gw)) + fmt.Sprintln(h.Neighbor(p, "eth0", pod)) + fmt.Sprintln(h.Neighbor(p, "eth1", gw)) +
		fmt.Sprintln(h.Local(p, pod)) + fmt.Sprintln(h.Local(p, gw)) + fmt.Sprintln(h.Local(p, netip.MustParseAddr("127.0.0.8"))) +
		fmt.Sprintln(h.Local("/run/netns/a", netip.MustParseAddr("::1"))) + fmt.Sprintln(h.Local("/nowhere", pod)) + fmt.Sprintln(h.Route("/nowhere", gw))
	want := `{/run/netns/p 10.1.1.1/32 invalid IP eth0 0} true
{/run/netns/p 0.0.0.0/0 10.1.1.1 eth0 0} true
{ invalid Prefix invalid IP  0} false
02:00:00:00:00:09 true
00:00:00:00:00:00 false
00:00:00:00:00:00 false
eth0 true
 false
lo true
 false
 false
{ invalid Prefix invalid IP  0} false
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	check(t, h.Apply(vppwire.LinkSet{Netns: p, Name: "eth0"}))
	if link, ok := h.Local(p, pod); ok {
		t.Errorf("%s is down and answers", link)
	}
}

// Goal: VPP's part of a machine. Method: each method once where there is a link and once where there is none.
func TestTaps(t *testing.T) {
	h := node(t)
	mac := [6]byte{2, 0, 0, 0, 0, 5}
	check(t, h.TapCreate("", "tap0", mac, 1450))
	if l, _ := h.Link("", "tap0"); l.Type != "tun" || !l.Up || l.MAC != mac || l.MTU != 1450 {
		t.Errorf("tap %+v", l)
	}
	for name, err := range map[string]error{
		"taken":        h.TapCreate("", "eth0", mac, 0),
		"no namespace": h.TapCreate("/nowhere", "tap1", mac, 0),
		"MTU":          h.TapCreate("", "tap1", mac, 9),
	} {
		want := map[string]error{"taken": vppwire.ErrLinuxExists, "no namespace": vppwire.ErrNoNamespace, "MTU": hostmodel.ErrInvalid}[name]
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !h.HasLink("eth0") || !h.HasLink("tap0") || h.HasLink("tap1") || h.LinkMAC("tap0") != mac || h.LinkMAC("tap1") != [6]byte{} {
		t.Error("links of the host's namespace are not found")
	}
	h.LinkDown("tap0")
	h.LinkDown("tap1")
	if l, _ := h.Link("", "tap0"); l.Up {
		t.Error("tap0 is up")
	}
	h.LinkUp("tap0")
	if l, _ := h.Link("", "tap0"); !l.Up {
		t.Error("tap0 is down")
	}
	h.TapDelete("", "eth0")
	h.TapDelete("", "tap0")
	h.TapDelete("", "tap0")
	h.TapDelete("/nowhere", "tap0")
	if !h.HasLink("eth0") || h.HasLink("tap0") {
		t.Error("deleted the wrong link")
	}
	for _, name := range []string{"tap1", "tap2", "tap3", "tap4"} {
		check(t, h.TapCreate("", name, mac, 0))
	}
	h.TapDelete("", "tap1")
	h.TapDelete("", "tap4")
	h.TapDelete("", "tap2")
	check(t, h.TapCreate("", "tap1", mac, 0))
	h.DropTaps()
	if names := slices.Collect(h.Links("")); len(names) != 1 {
		t.Errorf("after VPP's death %v", names)
	}
}

// One pod comes and goes on a host that has others; the figure is per pod.
func BenchmarkPod(b *testing.B) {
	for _, others := range []int{0, 250, 2500} {
		b.Run(fmt.Sprint(others, "-others"), func(b *testing.B) {
			yardstick.Beside(b)
			h := node(b)
			for i := range others {
				addPod(b, h, fmt.Sprint("/run/netns/other", i), fmt.Sprint("o", i))
			}
			b.ReportAllocs()
			for b.Loop() {
				addPod(b, h, "/run/netns/p", "vd1")
				h.RemoveNamespace("/run/netns/p")
			}
		})
	}
}

func addPod(t testing.TB, h *hostmodel.Host, netns, name string) {
	gw := netip.AddrFrom4([4]byte{10, 1, 1, 1})
	check(t, h.CreateNamespace(netns))
	for _, op := range [...]vppwire.LinuxOp{
		vppwire.VethAdd{Name: name, PeerNetns: netns, Peer: "eth0"},
		vppwire.LinkSet{Name: name, Up: true, MTU: 1450},
		vppwire.OffloadSet{Name: name, Off: true},
		vppwire.LinkSet{Netns: netns, Name: "eth0", Up: true, MTU: 1450},
		vppwire.AddrAdd{Netns: netns, Link: "eth0", Addr: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, 1, 2}), 32)},
		vppwire.RouteSet{Route: vppwire.HostRoute{Netns: netns, Dst: netip.PrefixFrom(gw, 32), Link: "eth0"}},
		vppwire.RouteSet{Route: vppwire.HostRoute{Netns: netns, Dst: netip.PrefixFrom(netip.IPv4Unspecified(), 0), Via: gw, Link: "eth0"}},
		vppwire.NeighSet{Netns: netns, Link: "eth0", Addr: gw, MAC: vppwire.MAC{2, 0, 0, 0, 0, 9}},
	} {
		check(t, h.Apply(op))
	}
}
