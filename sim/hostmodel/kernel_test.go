package hostmodel_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire"
)

// kernel tells stories to the kernel that the test runs on, through iproute2 in a shell with network and mount
// namespaces of its own: when the shell ends, nothing is left. It needs root.
type kernel struct {
	in   io.WriteCloser
	out  *bufio.Scanner
	taps []string
}

func newKernel(t testing.TB) *kernel {
	shell := exec.Command("unshare", "--net", "--mount", "sh")
	in, err := shell.StdinPipe()
	check(t, err)
	out, err := shell.StdoutPipe()
	check(t, err)
	shell.Stderr = shell.Stdout
	check(t, shell.Start())
	t.Cleanup(func() {
		in.Close()
		if err := shell.Wait(); err != nil {
			t.Errorf("shell: %v", err)
		}
	})
	k := &kernel{in: in, out: bufio.NewScanner(out)}
	k.out.Buffer(nil, 1<<20)
	if out, ok := k.run("mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && ip link set lo up"); !ok {
		t.Skipf("no namespaces for a kernel's stories: %s", out)
	}
	return k
}

// fresh removes what stories made.
func (k *kernel) fresh() {
	k.run("ip netns del p; for l in a0 b0 t0; do ip link del $l; done 2>/dev/null; sleep 0.1; true")
	k.taps = nil
}

// run performs one shell command and returns what it printed and whether it succeeded.
func (k *kernel) run(command string) (string, bool) {
	fmt.Fprintf(k.in, "{ %s; } </dev/null; echo \"== $?\"\n", command)
	var b strings.Builder
	for k.out.Scan() {
		if code, ok := strings.CutPrefix(k.out.Text(), "== "); ok {
			return b.String(), code == "0"
		}
		b.WriteString(k.out.Text() + "\n")
	}
	return b.String() + "shell ended", false
}

func (k *kernel) do(t testing.TB, line string) string {
	words := strings.Fields(line)
	switch words[0] {
	case "netns":
		word := k.outcome("ip netns " + words[1] + " " + words[2])
		if words[1] == "del" {
			// The kernel takes links away some milliseconds after their namespace's name.
			k.run("sleep 0.3")
		}
		return word
	case "tap":
		ns, name := nsLink(words[1])
		word := k.outcome(in(ns) + " tuntap add " + name + " mode tap && " + in(ns) + " link set " + name + " up")
		if word == "ok" {
			k.taps = append(k.taps, in(ns)+" link del "+name)
		}
		return word
	case "drop-taps":
		for _, del := range k.taps {
			k.run(del)
		}
		k.taps = nil
		return "ok"
	}
	op := storyOp(t, words)
	word := k.outcome(command(op))
	switch op.(type) {
	case vppwire.LinkDel:
		if word == "no-namespace" {
			return "ok"
		}
	case vppwire.LinkSet:
		if word == "no-address" {
			return "invalid"
		}
	}
	if word == "no-address" {
		return "missing"
	}
	return word
}

// in is ip for a namespace.
func in(ns string) string {
	if ns = strings.TrimPrefix(ns, "/run/netns/"); ns != "" {
		return "ip -n " + ns
	}
	return "ip"
}

// command is an operation as iproute2's command line.
func command(op vppwire.LinuxOp) string {
	switch op := op.(type) {
	case vppwire.VethAdd:
		peer := op.Peer
		if ns := strings.TrimPrefix(op.PeerNetns, "/run/netns/"); ns != "" {
			peer += " netns " + ns
		} else if op.Netns != "" {
			peer += " netns $$"
		}
		return in(op.Netns) + " link add " + op.Name + " type veth peer name " + peer
	case vppwire.LinkDel:
		return in(op.Netns) + " link del dev " + op.Name
	case vppwire.LinkSet:
		s := in(op.Netns) + " link set dev " + op.Name
		if op.MTU != 0 {
			s += fmt.Sprint(" mtu ", op.MTU)
		}
		if op.MAC != (vppwire.MAC{}) {
			s += " address " + op.MAC.String()
		}
		if op.Up {
			return s + " up"
		}
		return s + " down"
	case vppwire.OffloadSet:
		return "true"
	case vppwire.AddrAdd:
		return in(op.Netns) + " addr add " + op.Addr.String() + " dev " + op.Link + nodad(op.Addr.Addr())
	case vppwire.AddrDel:
		return in(op.Netns) + " addr del " + op.Addr.String() + " dev " + op.Link
	case vppwire.RouteSet:
		return in(op.Route.Netns) + " route replace " + routeWords(op.Route)
	case vppwire.RouteDel:
		return in(op.Route.Netns) + " route del " + routeWords(op.Route)
	case vppwire.NeighSet:
		return in(op.Netns) + " neigh replace " + op.Addr.String() + " lladdr " + op.MAC.String() + " nud permanent dev " + op.Link
	case vppwire.NeighDel:
		return in(op.Netns) + " neigh del " + op.Addr.String() + " dev " + op.Link
	}
	panic(fmt.Sprintf("operation %T", op))
}

func nodad(a netip.Addr) string {
	if a.Is6() {
		return " nodad"
	}
	return ""
}

func routeWords(r vppwire.HostRoute) string {
	s := r.Dst.String()
	if r.Via.IsValid() {
		s += " via " + r.Via.String()
	}
	if r.Link != "" {
		s += " dev " + r.Link
	}
	if r.Metric != 0 {
		s += fmt.Sprint(" metric ", r.Metric)
	}
	return s
}

// outcome runs a command and names what came of it as outcome(error) does.
func (k *kernel) outcome(command string) string {
	out, ok := k.run(command)
	if ok {
		return "ok"
	}
	for _, x := range []struct{ text, word string }{
		{"Cannot open network namespace", "no-namespace"},
		{"Cannot remove namespace", "no-namespace"},
		{"Invalid \"netns\" value", "no-namespace"},
		{"already assigned", "exists"}, {"File exists", "exists"},
		{"not up", "down"}, {"Network is down", "down"},
		{"Operation not supported", "unsupported"},
		{"No such", "missing"}, {"Cannot find", "missing"}, {"not found", "missing"}, {"does not exist", "missing"},
		{"device not specified", "missing"},
		{"Cannot assign", "no-address"}, {"busy", "exists"},
		{"invalid gateway", "missing"}, {"No route to host", "missing"}, {"unreachable", "missing"},
		{"mtu", "invalid"}, {"Invalid", "invalid"}, {"policy validation", "invalid"}, {"wrong", "invalid"},
		{"nvalid", "invalid"}, {"not a valid", "invalid"},
	} {
		if strings.Contains(out, x.text) {
			return x.word
		}
	}
	return strings.TrimSpace(out)
}

// state lists a namespace as iproute2 shows it, less what the model leaves out.
func (k *kernel) state(t testing.TB, ns string) (s vppwire.LinuxState, err error) {
	var links []struct {
		Name     string   `json:"ifname"`
		Flags    []string `json:"flags"`
		MTU      uint32   `json:"mtu"`
		MAC      string   `json:"address"`
		LinkInfo struct {
			Kind string `json:"info_kind"`
		} `json:"linkinfo"`
		Addrs []struct {
			Local  netip.Addr `json:"local"`
			Length int        `json:"prefixlen"`
		} `json:"addr_info"`
	}
	out, ok := k.run(in(ns) + " -j -d addr show")
	if !ok {
		return s, fmt.Errorf("%s: %w", strings.TrimSpace(out), vppwire.ErrNoNamespace)
	}
	check(t, json.Unmarshal([]byte(out), &links))
	for _, l := range links {
		if l.Name == "lo" {
			continue
		}
		link := vppwire.LinuxLink{
			Name: l.Name, Type: l.LinkInfo.Kind, MTU: l.MTU, MAC: parseMAC(t, l.MAC), Up: slices.Contains(l.Flags, "UP"),
		}
		for _, a := range l.Addrs {
			if !a.Local.IsLinkLocalUnicast() {
				link.Addrs = append(link.Addrs, netip.PrefixFrom(a.Local, a.Length))
			}
		}
		slices.SortFunc(link.Addrs, func(a, b netip.Prefix) int {
			return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
		})
		s.Links = append(s.Links, link)
	}
	slices.SortFunc(s.Links, func(a, b vppwire.LinuxLink) int { return cmp.Compare(a.Name, b.Name) })
	s.Routes = append(k.routes(t, ns, "-4"), k.routes(t, ns, "-6")...)
	slices.SortStableFunc(s.Routes, func(a, b vppwire.HostRoute) int {
		return cmp.Or(cmp.Compare(a.Link, b.Link), a.Dst.Addr().Compare(b.Dst.Addr()),
			cmp.Compare(a.Dst.Bits(), b.Dst.Bits()), a.Via.Compare(b.Via))
	})
	s.Neighbors = k.neighbors(t, ns)
	return s, nil
}

func (k *kernel) routes(t testing.TB, ns, family string) (list []vppwire.HostRoute) {
	out, _ := k.run(in(ns) + " -j " + family + " route show table main")
	var routes []struct {
		Dst, Gateway, Dev string
	}
	check(t, json.Unmarshal([]byte(out), &routes))
	for _, r := range routes {
		if strings.HasPrefix(r.Dst, "fe80::/") {
			continue
		}
		if r.Dst == "default" {
			r.Dst = map[string]string{"-4": "0.0.0.0/0", "-6": "::/0"}[family]
		}
		if !strings.Contains(r.Dst, "/") {
			r.Dst += map[string]string{"-4": "/32", "-6": "/128"}[family]
		}
		route := vppwire.HostRoute{Netns: nsPath(ns), Dst: parsePrefix(t, r.Dst), Link: r.Dev}
		if r.Gateway != "" {
			route.Via = parseAddr(t, r.Gateway)
		}
		list = append(list, route)
	}
	return list
}

func (k *kernel) neighbors(t testing.TB, ns string) (list []vppwire.LinuxNeighbor) {
	out, _ := k.run(in(ns) + " -j neigh show nud permanent")
	var neighbors []struct {
		Dst    netip.Addr
		Dev    string
		LLAddr string
	}
	check(t, json.Unmarshal([]byte(out), &neighbors))
	for _, n := range neighbors {
		if n.LLAddr != "" {
			list = append(list, vppwire.LinuxNeighbor{Link: n.Dev, Addr: n.Dst, MAC: parseMAC(t, n.LLAddr)})
		}
	}
	slices.SortFunc(list, func(a, b vppwire.LinuxNeighbor) int {
		return cmp.Or(cmp.Compare(a.Link, b.Link), a.Addr.Compare(b.Addr))
	})
	return list
}
