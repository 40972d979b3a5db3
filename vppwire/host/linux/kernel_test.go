package linux

import (
	"errors"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/vppwire"
)

var compareAddrs = cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})

func host(t testing.TB, path string) *Host {
	t.Helper()
	h, err := New(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func apply(t testing.TB, h vppwire.Linux, ops ...vppwire.LinuxOp) {
	t.Helper()
	for _, op := range ops {
		if err := h.Apply(op); err != nil {
			t.Fatalf("%T %+v: %v", op, op, err)
		}
	}
}

var (
	nearMAC = vppwire.MAC{2, 0, 0, 0, 0, 1}
	farMAC  = vppwire.MAC{2, 0, 0, 0, 0, 2}
	gateway = netip.MustParseAddr("10.1.1.1")
	podAddr = netip.MustParseAddr("10.1.1.2")
)

// podOps wire a pod's Linux side as mode.PodObjects does.
func podOps(pod string) []vppwire.LinuxOp {
	return []vppwire.LinuxOp{
		vppwire.VethAdd{Name: "vd0123", Peer: "eth0", PeerNetns: pod, MAC: nearMAC},
		vppwire.LinkSet{Name: "vd0123", Up: true, MTU: 1450},
		vppwire.LinkSet{Netns: pod, Name: "eth0", Up: true, MTU: 1450, MAC: farMAC},
		vppwire.OffloadSet{Name: "vd0123", Off: true},
		vppwire.OffloadSet{Netns: pod, Name: "eth0", Off: true},
		vppwire.AddrAdd{Netns: pod, Link: "eth0", Addr: netip.PrefixFrom(podAddr, 32)},
		vppwire.RouteSet{Route: vppwire.HostRoute{Netns: pod, Link: "eth0", Dst: netip.PrefixFrom(gateway, 32)}},
		vppwire.RouteSet{Route: vppwire.HostRoute{Netns: pod, Link: "eth0", Dst: netip.MustParsePrefix("0.0.0.0/0"), Via: gateway}},
		vppwire.NeighSet{Netns: pod, Link: "eth0", Addr: gateway, MAC: nearMAC},
	}
}

// Goal: a pod's wiring, once made, is dumped as it was asked for, by this process and by a later one; a namespace that
// dies takes it along. Method: the kernel, and a second Host as the next life.
func TestPod(t *testing.T) {
	paths := namespaces(t, 2)
	own, pod := paths[0], paths[1]
	apply(t, host(t, own), podOps(pod)...)
	h := host(t, own)
	got, err := h.Dump("")
	if err != nil {
		t.Fatal(err)
	}
	want := vppwire.LinuxState{Links: []vppwire.LinuxLink{{Name: "vd0123", Type: "veth", Peer: "eth0", PeerNetns: pod,
		MAC: nearMAC, MTU: 1450, Up: true, OffloadOff: true}}}
	if d := cmp.Diff(want, got, compareAddrs, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("host (-want +got):\n%s", d)
	}
	got, err = h.Dump(pod)
	if err != nil {
		t.Fatal(err)
	}
	want = vppwire.LinuxState{
		Links: []vppwire.LinuxLink{{Name: "eth0", Type: "veth", MAC: farMAC, MTU: 1450, Up: true, OffloadOff: true,
			Addrs: []netip.Prefix{netip.PrefixFrom(podAddr, 32)}}},
		Routes: []vppwire.HostRoute{
			{Netns: pod, Link: "eth0", Dst: netip.MustParsePrefix("0.0.0.0/0"), Via: gateway},
			{Netns: pod, Link: "eth0", Dst: netip.PrefixFrom(gateway, 32)}},
		Neighbors: []vppwire.LinuxNeighbor{{Link: "eth0", Addr: gateway, MAC: nearMAC}},
	}
	if d := cmp.Diff(want, got, compareAddrs, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("pod (-want +got):\n%s", d)
	}
	if err := h.Apply(podOps(pod)[0]); !errors.Is(err, vppwire.ErrLinuxExists) {
		t.Errorf("a veth twice: %v", err)
	}
	apply(t, h, vppwire.LinkDel{Name: "vd0123"})
	if got, err := h.Dump(pod); err != nil || len(got.Links) != 0 {
		t.Errorf("after the near end's deletion: %+v, %v", got, err)
	}
}

// Goal: a note that says something else than the kernel is not believed.
func TestStaleNote(t *testing.T) {
	paths := namespaces(t, 3)
	h := host(t, paths[0])
	apply(t, h, podOps(paths[1])[0])
	p, err := h.at("")
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.link("vd0123")
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range []string{"", "peer eth0", peerNote("eth0", paths[2]), peerNote("eth0", "/nowhere")} {
		if err := p.LinkSetAlias(l, note); err != nil {
			t.Fatal(err)
		}
		got, err := h.Dump("")
		if err != nil || got.Links[0].Peer != "" || got.Links[0].PeerNetns != "" {
			t.Errorf("note %q: %+v, %v", note, got, err)
		}
	}
}

// Goal: what is no namespace is told as such, and is success for a deletion.
func TestNoNamespace(t *testing.T) {
	h := host(t, namespaces(t, 1)[0])
	for _, path := range []string{"/nowhere/at/all", "/etc/passwd", "/proc/self/ns/mnt", "/etc/passwd/x"} {
		if _, err := h.Dump(path); !errors.Is(err, vppwire.ErrNoNamespace) {
			t.Errorf("dump of %s: %v", path, err)
		}
		if err := h.Apply(vppwire.VethAdd{Name: "a0", Peer: "b0", PeerNetns: path}); !errors.Is(err, vppwire.ErrNoNamespace) {
			t.Errorf("veth into %s: %v", path, err)
		}
		if err := h.Apply(vppwire.LinkDel{Netns: path, Name: "a0"}); err != nil {
			t.Errorf("delete in %s: %v", path, err)
		}
	}
}

// word names what came of an operation.
func word(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, vppwire.ErrLinuxExists):
		return "exists"
	case errors.Is(err, vppwire.ErrLinuxMissing):
		return "missing"
	case errors.Is(err, vppwire.ErrNoNamespace):
		return "no namespace"
	}
	return "refused"
}

// Goal: the kernel answers and shows what the model that agents are tried on does. Method: random operations told to
// both.
func TestAgreesWithModel(t *testing.T) {
	paths := namespaces(t, 2)
	there := paths[1]
	h := host(t, paths[0])
	rapid.Check(t, func(rt *rapid.T) {
		// what the last story left; namespaces themselves take long to go
		for _, name := range []string{"a0", "b0", "c0", "eth0"} {
			for _, ns := range []string{"", there} {
				if err := h.Apply(vppwire.LinkDel{Netns: ns, Name: name}); err != nil && !errors.Is(err, vppwire.ErrLinuxMissing) {
					rt.Fatal(err)
				}
			}
		}
		model, err := hostmodel.New(hostmodel.Config{})
		if err != nil {
			rt.Fatal(err)
		}
		if err := model.CreateNamespace(pod); err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(5, 25).Draw(rt, "operations") {
			agree(rt, h, model, there, drawOp(rt, pod))
		}
	})
}

// Goal: an IPv4 address that comes after another of its subnet brings no route, also when the first one's was deleted.
func TestSecondAddressBringsNoRoute(t *testing.T) {
	paths := namespaces(t, 2)
	h := host(t, paths[0])
	model, err := hostmodel.New(hostmodel.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := model.CreateNamespace(pod); err != nil {
		t.Fatal(err)
	}
	subnet := netip.MustParsePrefix("10.0.0.0/24")
	for _, op := range []vppwire.LinuxOp{
		vppwire.VethAdd{Name: "a0", Peer: "a0", PeerNetns: pod, MAC: vppwire.MAC{2, 0, 0, 0, 1, 1}, PeerMAC: vppwire.MAC{2, 0, 0, 0, 2, 1}},
		vppwire.LinkSet{Netns: pod, Name: "a0", Up: true},
		vppwire.AddrAdd{Netns: pod, Link: "a0", Addr: netip.MustParsePrefix("10.0.0.1/24")},
		vppwire.RouteDel{Route: vppwire.HostRoute{Netns: pod, Link: "a0", Dst: subnet}},
		vppwire.AddrAdd{Netns: pod, Link: "a0", Addr: netip.MustParsePrefix("10.0.0.2/24")},
		vppwire.LinkSet{Netns: pod, Name: "a0"},
		vppwire.LinkSet{Netns: pod, Name: "a0", Up: true},
		vppwire.AddrDel{Netns: pod, Link: "a0", Addr: netip.MustParsePrefix("10.0.0.2/24")},
	} {
		agree(t, h, model, paths[1], op)
	}
}

// pod is the model's path of the namespace that the kernel has elsewhere.
const pod = "/run/netns/pod"

// agree tells one operation to the kernel and to the model: both must answer and show the same.
func agree(t rapid.TB, h *Host, model *hostmodel.Host, there string, op vppwire.LinuxOp) {
	want := word(model.Apply(op))
	is := h.Apply(moved(op, pod, there))
	got := word(is)
	if _, ok := op.(vppwire.RouteSet); ok && got == "missing" && want == "refused" {
		got = want // a gateway behind a link that is down: the kernel looks at the one first, the model at the other
	}
	if got != want {
		t.Fatalf("%T %+v: the kernel %s (%v), the model %s", op, op, got, is, want)
	}
	for _, ns := range []string{"", pod} {
		want, err := model.Dump(ns)
		if err != nil {
			t.Fatal(err)
		}
		real := ns
		if ns == pod {
			real = there
		}
		got, err := h.Dump(real)
		if err != nil {
			t.Fatal(err)
		}
		back(&got, there, pod)
		if ns == pod { // who is at the far end is known on the host's side only
			for i := range want.Links {
				if want.Links[i].PeerNetns != pod {
					want.Links[i].Peer, want.Links[i].PeerNetns = "", ""
				}
			}
		}
		if d := cmp.Diff(want, got, compareAddrs, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("after %T %+v, namespace %q (-model +kernel):\n%s", op, op, ns, d)
		}
	}
}

// drawOp draws an operation on few names and addresses, so that they meet.
func drawOp(t *rapid.T, pod string) vppwire.LinuxOp {
	netns := rapid.SampledFrom([]string{"", pod}).Draw(t, "netns")
	name := rapid.SampledFrom([]string{"a0", "b0", "c0"}).Draw(t, "link")
	mac := vppwire.MAC{2, 0, 0, 0, 1, byte(rapid.IntRange(1, 3).Draw(t, "mac"))}
	addr := netip.AddrFrom4([4]byte{10, 0, byte(rapid.IntRange(0, 1).Draw(t, "net")), byte(rapid.IntRange(1, 3).Draw(t, "host"))})
	bits := rapid.SampledFrom([]int{24, 32}).Draw(t, "bits")
	switch rapid.IntRange(0, 12).Draw(t, "operation") {
	case 0, 1, 2:
		peer := rapid.SampledFrom([]string{"", pod}).Draw(t, "peer netns")
		op := vppwire.VethAdd{Netns: "", Name: name, PeerNetns: peer, Peer: rapid.SampledFrom([]string{"a0", "b0", "eth0"}).Draw(t, "peer"), MAC: mac,
			PeerMAC: vppwire.MAC{2, 0, 0, 0, 2, mac[5]}}
		return op
	case 3:
		return vppwire.LinkDel{Netns: netns, Name: name}
	case 4, 5, 6:
		op := vppwire.LinkSet{Netns: netns, Name: name, Up: rapid.IntRange(0, 3).Draw(t, "up") > 0}
		if rapid.Bool().Draw(t, "with mtu") {
			op.MTU = 1450
		}
		if rapid.Bool().Draw(t, "with mac") {
			op.MAC = mac
		}
		return op
	case 7:
		return vppwire.AddrAdd{Netns: netns, Link: name, Addr: netip.PrefixFrom(addr, bits)}
	case 8:
		return vppwire.AddrDel{Netns: netns, Link: name, Addr: netip.PrefixFrom(addr, bits)}
	case 9, 10:
		r := vppwire.HostRoute{Netns: netns, Link: name, Dst: netip.PrefixFrom(addr, bits).Masked()}
		if rapid.Bool().Draw(t, "with gateway") {
			r.Dst, r.Via = netip.MustParsePrefix("0.0.0.0/0"), addr
		}
		if rapid.IntRange(0, 3).Draw(t, "delete") == 0 {
			return vppwire.RouteDel{Route: r}
		}
		return vppwire.RouteSet{Route: r}
	case 11:
		return vppwire.NeighSet{Netns: netns, Link: name, Addr: addr, MAC: mac}
	}
	return vppwire.NeighDel{Netns: netns, Link: name, Addr: addr}
}

// moved is op with one namespace's path replaced.
func moved(op vppwire.LinuxOp, from, to string) vppwire.LinuxOp {
	m := func(s string) string {
		if s == from {
			return to
		}
		return s
	}
	switch op := op.(type) {
	case vppwire.VethAdd:
		op.Netns, op.PeerNetns = m(op.Netns), m(op.PeerNetns)
		return op
	case vppwire.LinkDel:
		op.Netns = m(op.Netns)
		return op
	case vppwire.LinkSet:
		op.Netns = m(op.Netns)
		return op
	case vppwire.AddrAdd:
		op.Netns = m(op.Netns)
		return op
	case vppwire.AddrDel:
		op.Netns = m(op.Netns)
		return op
	case vppwire.RouteSet:
		op.Route.Netns = m(op.Route.Netns)
		return op
	case vppwire.RouteDel:
		op.Route.Netns = m(op.Route.Netns)
		return op
	case vppwire.NeighSet:
		op.Netns = m(op.Netns)
		return op
	case vppwire.NeighDel:
		op.Netns = m(op.Netns)
		return op
	}
	return op
}

// back gives a dump the model's path.
func back(s *vppwire.LinuxState, from, to string) {
	for i := range s.Links {
		if s.Links[i].PeerNetns == from {
			s.Links[i].PeerNetns = to
		}
	}
	for i := range s.Routes {
		if s.Routes[i].Netns == from {
			s.Routes[i].Netns = to
		}
	}
}

// Goal: the note fits into the kernel's field for any path that a runtime uses, and what does not fit is refused whole.
func TestLongPath(t *testing.T) {
	paths := namespaces(t, 2)
	h := host(t, paths[0])
	long := paths[1]
	for len(long) < aliasMax {
		long = "/proc/.." + long
	}
	if err := h.Apply(vppwire.VethAdd{Name: "a0", Peer: "b0", PeerNetns: long}); !errors.Is(err, unix.ENAMETOOLONG) {
		t.Errorf("long path: %v", err)
	}
	for _, path := range paths {
		got, err := h.Dump(path)
		if err != nil || slices.ContainsFunc(got.Links, func(l vppwire.LinuxLink) bool { return l.Type == "veth" }) {
			t.Errorf("left in %s: %+v, %v", path, got, err)
		}
	}
}

// Goal: a route goes whoever has set it, the kernel itself among them: a dump shows it all the same, and what was seen
// must be deletable.
func TestDeletesAnyRoute(t *testing.T) {
	h := host(t, namespaces(t, 1)[0])
	for _, op := range []vppwire.LinuxOp{
		vppwire.VethAdd{Name: "a0", Peer: "b0", MAC: vppwire.MAC{2, 0, 0, 0, 1, 1}, PeerMAC: vppwire.MAC{2, 0, 0, 0, 2, 1}},
		vppwire.LinkSet{Name: "a0", Up: true},
		vppwire.AddrAdd{Link: "a0", Addr: netip.MustParsePrefix("10.0.0.1/24")},
		vppwire.RouteDel{Route: vppwire.HostRoute{Dst: netip.MustParsePrefix("10.0.0.0/24"), Link: "a0"}},
	} {
		if err := h.Apply(op); err != nil {
			t.Fatalf("%T: %v", op, err)
		}
	}
}
