package hostmodel_test

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/vppwire"
)

// machine is what stories are told to: the model, or a kernel.
type machine interface {
	// do performs one line of a story and returns what came of it as one word.
	do(t testing.TB, line string) string
	// state lists a namespace, "" the host's own.
	state(t testing.TB, ns string) (vppwire.LinuxState, error)
}

// Goal: the model answers as Linux does. Method: stories of operations and dumps; with VPPDRILL_KERNEL set a real
// kernel is told the same stories and must give the same answers; with -rewrite it records them (Linux 6.18, iproute2).
//
// "do" performs its input line by line (see vocabulary in storyOp) and prints what came of each; "dump [NS]" lists a
// namespace, with MACs only where a story chose them. Namespaces are named p for /run/netns/p; "ns:link" is a link.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		m := newMachine(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "do":
				var b strings.Builder
				for line := range strings.Lines(d.Input) {
					line = strings.TrimSpace(line)
					fmt.Fprintf(&b, "%s -> %s\n", line, m.do(t, line))
				}
				return b.String()
			case "dump":
				ns := ""
				if len(d.CmdArgs) > 0 {
					ns = d.CmdArgs[0].Key
				}
				s, err := m.state(t, ns)
				if err != nil {
					return outcome(err) + "\n"
				}
				return format(s)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

func newMachine(t testing.TB) machine {
	if os.Getenv("VPPDRILL_KERNEL") != "" {
		return newKernel(t)
	}
	return newModel(t)
}

func newModel(t testing.TB) machine {
	h, err := hostmodel.New(hostmodel.Config{ID: 1})
	if err != nil {
		t.Fatal(err)
	}
	return modelled{h}
}

type modelled struct{ *hostmodel.Host }

func (m modelled) state(_ testing.TB, ns string) (vppwire.LinuxState, error) {
	return m.Dump(nsPath(ns))
}

func (m modelled) do(t testing.TB, line string) string {
	words := strings.Fields(line)
	switch words[0] {
	case "netns":
		if words[1] == "add" {
			return outcome(m.CreateNamespace(nsPath(words[2])))
		}
		if !m.RemoveNamespace(nsPath(words[2])) {
			return outcome(vppwire.ErrNoNamespace)
		}
		return outcome(nil)
	case "tap":
		ns, name := nsLink(words[1])
		return outcome(m.TapCreate(nsPath(ns), name, [6]byte{}, 0))
	case "drop-taps":
		m.DropTaps()
		return outcome(nil)
	}
	return outcome(m.Apply(storyOp(t, words)))
}

func nsPath(ns string) string {
	if ns == "" {
		return ""
	}
	return "/run/netns/" + ns
}

func nsLink(s string) (ns, link string) {
	if ns, link, ok := strings.Cut(s, ":"); ok {
		return ns, link
	}
	return "", s
}

// storyOp reads one operation of a story.
func storyOp(t testing.TB, words []string) vppwire.LinuxOp {
	ns, link := nsLink(words[1])
	netns := nsPath(ns)
	switch words[0] {
	case "veth":
		peerNS, peer := nsLink(words[2])
		return vppwire.VethAdd{Netns: netns, Name: link, PeerNetns: nsPath(peerNS), Peer: peer}
	case "del":
		return vppwire.LinkDel{Netns: netns, Name: link}
	case "up", "down":
		op := vppwire.LinkSet{Netns: netns, Name: link, Up: words[0] == "up"}
		for _, w := range words[2:] {
			if mtu, ok := strings.CutPrefix(w, "mtu="); ok {
				n, err := strconv.ParseUint(mtu, 10, 32)
				check(t, err)
				op.MTU = uint32(n)
			} else if mac, ok := strings.CutPrefix(w, "mac="); ok {
				op.MAC = parseMAC(t, mac)
			}
		}
		return op
	case "offload":
		return vppwire.OffloadSet{Netns: netns, Name: link, Off: words[2] == "off"}
	case "addr+":
		return vppwire.AddrAdd{Netns: netns, Link: link, Addr: parsePrefix(t, words[2])}
	case "addr-":
		return vppwire.AddrDel{Netns: netns, Link: link, Addr: parsePrefix(t, words[2])}
	case "route+":
		return vppwire.RouteSet{Route: parseRoute(t, words[1:])}
	case "route-":
		return vppwire.RouteDel{Route: parseRoute(t, words[1:])}
	case "neigh+":
		return vppwire.NeighSet{Netns: netns, Link: link, Addr: parseAddr(t, words[2]), MAC: parseMAC(t, words[3])}
	case "neigh-":
		return vppwire.NeighDel{Netns: netns, Link: link, Addr: parseAddr(t, words[2])}
	}
	t.Fatalf("unknown operation %q", words)
	return nil
}

// parseRoute reads [NS:]DST [via ADDR] [dev LINK] [metric N]; IPv6 destinations need NS: or a leading colon.
func parseRoute(t testing.TB, words []string) (r vppwire.HostRoute) {
	ns, dst, ok := strings.Cut(words[0], ":")
	if !ok {
		ns, dst = "", words[0]
	}
	r.Netns = nsPath(ns)
	r.Dst = parsePrefix(t, dst)
	for i := 1; i+1 < len(words); i += 2 {
		switch words[i] {
		case "via":
			r.Via = parseAddr(t, words[i+1])
		case "metric":
			n, err := strconv.ParseUint(words[i+1], 10, 32)
			check(t, err)
			r.Metric = uint32(n)
		default:
			r.Link = words[i+1]
		}
	}
	return r
}

func parsePrefix(t testing.TB, s string) netip.Prefix {
	p, err := netip.ParsePrefix(s)
	check(t, err)
	return p
}

func parseAddr(t testing.TB, s string) netip.Addr {
	a, err := netip.ParseAddr(s)
	check(t, err)
	return a
}

func parseMAC(t testing.TB, s string) (m vppwire.MAC) {
	_, err := fmt.Sscanf(s, "%02x:%02x:%02x:%02x:%02x:%02x", &m[0], &m[1], &m[2], &m[3], &m[4], &m[5])
	check(t, err)
	return m
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// outcome is an error as one word.
func outcome(err error) string {
	for _, x := range []struct {
		err  error
		word string
	}{
		{vppwire.ErrLinuxExists, "exists"}, {vppwire.ErrLinuxMissing, "missing"}, {vppwire.ErrNoNamespace, "no-namespace"},
		{hostmodel.ErrInvalid, "invalid"}, {hostmodel.ErrDown, "down"}, {hostmodel.ErrUnsupported, "unsupported"},
	} {
		if errors.Is(err, x.err) {
			return x.word
		}
	}
	if err != nil {
		return err.Error()
	}
	return "ok"
}

func format(s vppwire.LinuxState) string {
	var b strings.Builder
	for _, l := range s.Links {
		fmt.Fprintf(&b, "link %s %s mtu %d", l.Name, l.Type, l.MTU)
		if l.MAC[0] == 2 && l.MAC[1] == 0 && l.MAC[2] == 0 {
			fmt.Fprintf(&b, " mac %s", l.MAC)
		}
		if l.Up {
			b.WriteString(" up")
		}
		if l.OffloadOff {
			b.WriteString(" offload-off")
		}
		for _, a := range l.Addrs {
			fmt.Fprintf(&b, " %s", a)
		}
		b.WriteByte('\n')
	}
	for _, r := range s.Routes {
		fmt.Fprintf(&b, "route %s", r.Dst)
		if r.Via.IsValid() {
			fmt.Fprintf(&b, " via %s", r.Via)
		}
		fmt.Fprintf(&b, " dev %s", r.Link)
		if r.Metric != 0 {
			fmt.Fprintf(&b, " metric %d", r.Metric)
		}
		b.WriteByte('\n')
	}
	for _, n := range s.Neighbors {
		fmt.Fprintf(&b, "neighbor %s on %s at %s\n", n.Addr, n.Link, n.MAC)
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}
