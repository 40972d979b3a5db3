package hostmodel_test

import (
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// Goal: the model and a kernel stay alike under any sequence of operations. Method: random operations on few names and
// addresses, told to both; every answer and every dump must agree. Needs VPPDRILL_KERNEL and root.
func TestModelMatchesKernel(t *testing.T) {
	if os.Getenv("VPPDRILL_KERNEL") == "" {
		t.Skip("VPPDRILL_KERNEL is not set")
	}
	kernel := newKernel(t)
	rapid.Check(t, func(rt *rapid.T) {
		kernel.fresh()
		model := newModel(t)
		lines := []string{"netns add p", "veth a0 p:c0", "veth b0 p:d0", "up a0", "up b0", "up p:c0", "addr+ a0 10.0.0.1/24"}
		lines = append(lines, rapid.SliceOfN(rapid.Custom(drawLine), 1, 30).Draw(rt, "operations")...)
		for i, line := range lines {
			want, got := kernel.do(t, line), model.do(t, line)
			if want != got {
				rt.Fatalf("operation %d, %s: kernel %s, model %s", i, line, want, got)
			}
			for _, ns := range []string{"", "p"} {
				if want, got := dumpText(t, kernel, ns), dumpText(t, model, ns); want != got {
					rt.Fatalf("after operation %d, %s, namespace %q: kernel\n%smodel\n%s", i, line, ns, want, got)
				}
			}
		}
	})
}

func dumpText(t testing.TB, m machine, ns string) string {
	s, err := m.state(t, ns)
	if err != nil {
		return outcome(err)
	}
	return format(s)
}

// drawLine draws an operation on links a0 and b0 of the host's namespace and c0 and d0 of p.
func drawLine(t *rapid.T) string {
	pick := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, what) }
	link := func() string { return pick("link", "a0", "b0", "p:c0", "p:d0") }
	addr4 := func() string { return pick("addr", "10.0.0.1", "10.0.0.2", "10.0.1.1", "10.0.1.200", "10.9.0.1") }
	addr6 := func() string { return pick("addr", "fd00::1", "fd00::2", "fd00:0:0:1::1", "fe80::9") }
	dst := func() string {
		return pick("destination", "0.0.0.0/0", "10.0.0.0/24", "10.0.1.0/24", "10.0.0.0/16", "10.0.1.1/32", "10.0.1.1/24",
			"::/0", "fd00::/64", "fd00::2/128", "fd00::/48", "fd00::2/64")
	}
	ns := func() string { return pick("namespace", ":", "p:") }
	switch pick("operation", "veth", "veth", "del", "netns", "tap", "up", "up", "up", "down", "addr+", "addr+", "addr-", "addr6+", "addr6-",
		"route+", "route+", "route-", "gateway-", "gateway", "gateway", "gateway6", "neigh+", "neigh-") {
	case "veth":
		return pick("veth", "veth a0 p:c0", "veth b0 p:d0", "veth a0 b0", "veth p:c0 p:d0", "veth p:c0 b0")
	case "del":
		return "del " + link()
	case "netns":
		return pick("netns", "netns add p", "netns add p", "netns add p", "netns add p", "netns del p")
	case "tap":
		return pick("tap", "tap ", "drop-taps ") + link()
	case "up":
		return "up " + link() + pick("set", "", "", " mtu=1450", " mac=02:00:00:00:00:07")
	case "down":
		return "down " + link()
	case "addr+":
		return "addr+ " + link() + " " + addr4() + pick("length", "/24", "/24", "/32", "/16")
	case "addr-":
		return "addr- " + link() + " " + addr4() + pick("length", "/24", "/24", "/32", "/16")
	case "addr6+":
		return "addr+ " + link() + " " + pick("addr", "fd00::1/64", "fd00::2/64", "fd00::1/128", "fd00:0:0:1::1/64")
	case "addr6-":
		return "addr- " + link() + " " + pick("addr", "fd00::1/64", "fd00::2/64", "fd00::1/128", "fd00:0:0:1::1/64")
	case "route+":
		return "route+ " + ns() + dst() + " dev " + pick("dev", "a0", "b0", "c0", "d0")
	case "gateway":
		return "route+ " + ns() + pick("destination", "0.0.0.0/0", "10.0.0.0/24", "10.5.0.0/16", "10.0.1.1/32") + " via " + addr4() +
			pick("dev", "", "", " dev a0", " dev c0")
	case "gateway6":
		return "route+ " + ns() + pick("destination", "::/0", "fd00::/64", "fd05::/64") + " via " + addr6() + pick("dev", "", " dev a0", " dev c0")
	case "route-":
		return "route- " + ns() + dst() + pick("dev", "", "", " dev a0", " dev c0")
	case "gateway-":
		return "route- " + ns() + "0.0.0.0/0 via " + addr4()
	case "neigh+":
		return "neigh+ " + link() + " " + pick("addr", addr4(), addr6()) + fmt.Sprintf(" 02:00:00:00:00:%02x", rapid.IntRange(1, 3).Draw(t, "mac"))
	default:
		return "neigh- " + link() + " " + pick("addr", addr4(), addr6())
	}
}
