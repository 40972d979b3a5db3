package packettrace

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/walk"
)

// Node is one VPP with what it has traced.
type Node struct {
	Name    string
	Names   Names
	Packets []Packet
}

// Way is what VPPs have seen of one packet.
type Way struct {
	Hops []Hop
	// Graphs is a line for each VPP that it passed: the nodes of its graph.
	Graphs []string
	// Last is the packet's flow where it was seen last, Out the interface that it left by there: empty where it did not.
	Last Flow
	Node string
	Out  string
}

// Follow finds a packet of a flow among what VPPs have traced, first on the node where it was sent, and strings its passes
// together: the packet that comes into a VPP as it left another one is the same. False where no VPP has seen it.
func Follow(nodes []Node, from string, f Flow) (w Way, ok bool) {
	// A sender's next packet of the same connection looks like the one that has left: no VPP is passed twice.
	used := map[int]bool{}
	next := func(fits func(n Node, p Packet) bool) (int, int, bool) {
		for i, n := range nodes {
			for j, p := range n.Packets {
				if !used[i] && fits(n, p) {
					return i, j, true
				}
			}
		}
		return 0, 0, false
	}
	i, j, found := next(func(n Node, p Packet) bool { return n.Name == from && p.has(f) })
	for found {
		ok, used[i] = true, true
		n, p := nodes[i], nodes[i].Packets[j]
		w.Hops = append(w.Hops, n.hops(p)...)
		w.Graphs = append(w.Graphs, n.Name+": "+p.graph())
		_, w.Last = p.flows()
		w.Node, w.Out = n.Name, ""
		if last := w.Hops[len(w.Hops)-1]; last.act == walk.ActToLinux {
			w.Out = last.Place
		}
		if w.Out == "" {
			break
		}
		i, j, found = next(func(_ Node, p Packet) bool { first, _ := p.flows(); return first == w.Last })
	}
	return w, ok
}

var (
	hardwareIndex = regexp.MustCompile(`\bhw_if_index (\d+)`)
	softwareIndex = regexp.MustCompile(`\bsw_if_index (\d+)`)
	fibIndex      = regexp.MustCompile(`\bfib(?:-index:| )(\d+)`)
	txIndex       = regexp.MustCompile(`\btx_sw_if_index (\d+)`)
	adjacency     = regexp.MustCompile(`: ipv[46] via (\S+) (\S+):`)
	fibResult     = regexp.MustCompile(`result \[0x[0-9a-f]+, (-?\d+)\]`)
	encapVNI      = regexp.MustCompile(`\bvni (\d+)`)
	etherTo       = regexp.MustCompile(`(?m)^IP[46]: .*-> ((?:[0-9a-f]{2}:){5}[0-9a-f]{2})$`)
	frameDst      = regexp.MustCompile(`\bdst (\S+)`)
)

// hops are the hops of a packet's pass through one VPP.
func (n Node) hops(p Packet) (out []Hop) {
	rx := "" // the interface that handed it to the present node of the graph
	add := func(act walk.Act, place, to, says string) {
		out = append(out, Hop{Node: n.Name, Place: place, Says: says, act: act, to: to})
	}
	frameTo := ""
	for i, s := range p.Steps {
		text := strings.Join(s.Text, "\n")
		find := func(re *regexp.Regexp) string {
			if m := re.FindStringSubmatch(text); m != nil {
				return m[1]
			}
			return ""
		}
		ip6 := strings.Contains(s.Node, "ip6")
		switch {
		case i == 0:
			rx = named(n.Names.hardware, find(hardwareIndex))
		case s.Node == "ip4-input" || s.Node == "ip6-input" || s.Node == "ip4-input-no-checksum":
			add(walk.ActTaken, rx, "", "takes the packet")
		case s.Node == "ip4-lookup" || s.Node == "ip6-lookup" || strings.HasPrefix(s.Node, "lookup-ip"):
			to := n.wentTo(p.Steps[i+1:])
			add(walk.ActRoute, n.Names.table(ip6, find(fibIndex)), to, "to "+to)
		case s.Node == "l2-input":
			rx = named(n.Names.software, find(softwareIndex))
		case s.Node == "l2-fwd":
			to := named(n.Names.software, find(fibResult))
			if find(fibResult) == "-1" {
				to = "nowhere"
			}
			add(walk.ActSwitched, bridgePlace, to, find(frameDst)+" to "+to)
			rx = to
		case s.Node == "l2-flood":
			add(walk.ActSwitched, bridgePlace, "everybody", "flooded")
		case strings.HasPrefix(s.Node, "vxlan") && strings.HasSuffix(s.Node, "-encap"):
			tunnel := rx
			if t := n.output(p.Steps[:i]); t != "" {
				tunnel = t
			}
			add(walk.ActWrapped, tunnel, "vni "+find(encapVNI), "VXLAN, vni "+find(encapVNI)+", to "+n.wentTo(p.Steps[i+1:]))
		case strings.HasPrefix(s.Node, "vxlan") && strings.HasSuffix(s.Node, "-input"):
			if i+1 < len(p.Steps) && !isDrop(p.Steps[i+1].Node) {
				rx = n.enters(p.Steps[i+1], rx)
				add(walk.ActUnwrapped, rx, "", "takes the frame out of VXLAN, vni "+find(encapVNI))
			} else {
				add(walk.ActUnwrapped, "no tunnel", "", "no tunnel takes vni "+find(encapVNI))
			}
		case s.Node != "l2-output" && strings.HasSuffix(s.Node, "-output"):
			frameTo = find(etherTo)
			rx = strings.TrimSuffix(s.Node, "-output")
		case strings.HasSuffix(s.Node, "-tx") && i == len(p.Steps)-1:
			name := strings.TrimSuffix(s.Node, "-tx")
			add(walk.ActToLinux, name, frameTo, "out to "+frameTo)
		case s.Node == "drop" || s.Node == "punt":
			if last := len(out) - 1; last >= 0 && out[last].act == walk.ActTaken {
				out = out[:last] // the walker's interface does not take what it turns away
			}
			out = append(out, Hop{Node: n.Name, Says: dropped(p.Steps[:i+1]), act: ends, to: lost})
		}
	}
	if last := len(out) - 1; last < 0 || out[last].act != ends && out[last].act != walk.ActToLinux {
		to, says := arrived, "ends in VPP's "+p.Steps[len(p.Steps)-1].Node
		if waits(p.Steps[len(p.Steps)-1].Node) {
			to, says = lost, "VPP asks for the next hop's MAC instead"
		}
		out = append(out, Hop{Node: n.Name, Place: "VPP", Says: says, act: ends, to: to})
	}
	return out
}

// isDrop tells the nodes that end a packet.
func isDrop(node string) bool {
	return strings.HasSuffix(node, "drop") || strings.HasSuffix(node, "punt")
}

// waits tells the nodes that ask for a MAC with the packet's end.
func waits(node string) bool {
	return strings.HasSuffix(node, "-arp") || strings.HasSuffix(node, "-glean") || strings.HasSuffix(node, "discover-neighbor")
}

// dropped says where a packet was dropped, and why. The counter that VPP names is no reason where a route drops: an earlier node of
// the graph may have chosen it for a drop of its own (vnet/classify/ip_in_out_acl.c, 25.10).
func dropped(steps []Step) string {
	byRoute := false
	for i := len(steps) - 1; i >= 0; i-- {
		s := steps[i]
		byRoute = byRoute || s.Node == "ip4-drop" || s.Node == "ip6-drop"
		switch {
		case isDrop(s.Node):
		case byRoute:
			return "dropped behind " + s.Node + " by a route, or for want of one"
		default:
			return "dropped behind " + s.Node + ", counted as " + strings.Join(steps[len(steps)-1].Text, " ")
		}
	}
	return "dropped"
}

// wentTo is what a lookup came to, by the steps behind it.
func (n Node) wentTo(steps []Step) string {
	for _, s := range steps {
		text := strings.Join(s.Text, "\n")
		switch {
		case strings.HasPrefix(s.Node, "lookup-ip"):
			if m := fibIndex.FindStringSubmatch(text); m != nil {
				return n.Names.table(strings.Contains(s.Node, "ip6"), m[1])
			}
		case txIndex.MatchString(text):
			to := named(n.Names.software, txIndex.FindStringSubmatch(text)[1])
			if m := adjacency.FindStringSubmatch(text); m != nil {
				return outWord(m[2], m[1])
			}
			return to
		case isDrop(s.Node):
			return "drop"
		case strings.HasSuffix(s.Node, "-local") || strings.HasSuffix(s.Node, "-receive"):
			return "local"
		case waits(s.Node):
			return "a neighbor that is asked for"
		}
	}
	return "nowhere"
}

// output is the interface that the last l2-output of some steps sends to.
func (n Node) output(steps []Step) string {
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].Node != "l2-output" {
			continue
		}
		if m := softwareIndex.FindStringSubmatch(strings.Join(steps[i].Text, "\n")); m != nil {
			return named(n.Names.software, m[1])
		}
	}
	return ""
}

// enters is the interface that a step says its packet came in by.
func (n Node) enters(s Step, otherwise string) string {
	if m := softwareIndex.FindStringSubmatch(strings.Join(s.Text, "\n")); m != nil {
		return named(n.Names.software, m[1])
	}
	return otherwise
}

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
