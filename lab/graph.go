package lab

import (
	"cmp"
	"fmt"
	"html"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Graph is a picture of a lab: nodes with their VRFs and pods, and the tunnels between them.
type Graph struct {
	Nodes   []GraphNode
	Tunnels []GraphTunnel
}

// GraphNode is one node of the picture.
type GraphNode struct {
	Name, Title string
	// Up: the machine, VPP and the agent run.
	Up     bool
	Tables []GraphTable
}

// GraphTable is one VRF with what is in it.
type GraphTable struct {
	ID      uint32
	Ifaces  []string
	Pods    []string
	Routes  int
	Gateway string
}

// GraphTunnel joins two nodes; Both says that either end has it.
type GraphTunnel struct {
	A, B string
	VNI  uint32
	Both bool
}

// Draw makes a picture of a snapshot, in the order of node names.
func Draw(s fact.Snapshot) Graph {
	var g Graph
	byAddr := map[string]string{}
	for _, n := range s.Nodes {
		byAddr[n.Address.Addr().String()] = n.Name
	}
	found := map[[2]string]GraphTunnel{}
	for _, n := range s.Nodes {
		g.Nodes = append(g.Nodes, drawNode(n))
		if n.VPP == nil {
			continue
		}
		for i := range n.VPP.Interfaces() {
			peer, ok := byAddr[i.Dst.String()]
			if i.Type != fact.TypeVXLAN || !ok {
				continue
			}
			ends := [2]string{min(n.Name, peer), max(n.Name, peer)}
			t, seen := found[ends]
			found[ends] = GraphTunnel{A: ends[0], B: ends[1], VNI: i.VNI, Both: seen || t.Both}
		}
	}
	for _, t := range found { //vppdrill:unordered sorted below
		g.Tunnels = append(g.Tunnels, t)
	}
	slices.SortFunc(g.Tunnels, func(a, b GraphTunnel) int { return cmp.Or(strings.Compare(a.A, b.A), strings.Compare(a.B, b.B)) })
	return g
}

func drawNode(n fact.NodeState) GraphNode {
	out := GraphNode{Name: n.Name, Title: fmt.Sprintf("%s  ID %d  %s", n.Name, n.ID, n.Address), Up: n.MachineUp && n.VPPUp && n.AgentUp}
	if n.VPP == nil {
		out.Title += "  no VPP"
		return out
	}
	netns, pods := map[string]bool{}, map[netip.Addr]string{}
	for _, p := range n.Pods {
		netns[p.Netns] = true
		pods[p.Addr] = fmt.Sprintf("%s %s", strings.TrimPrefix(p.Pod, "default/"), p.Addr)
	}
	for id := range n.VPP.Tables() {
		t := GraphTable{ID: id}
		for r := range n.VPP.Routes(id) {
			t.Routes++
			if pod := pods[r.Prefix.Addr()]; pod != "" && r.Prefix.IsSingleIP() {
				t.Pods = append(t.Pods, pod)
			}
		}
		for i := range n.VPP.Interfaces() {
			if i.Table4 != id || i.Type == fact.TypeLocal || i.Type == fact.TypeVXLAN {
				continue
			}
			if leadsToPod(n, i, netns) {
				continue
			}
			text := i.Name
			for _, a := range i.Addrs {
				text += " " + a.String()
			}
			if i.Bridge != 0 {
				text += fmt.Sprintf(" (bridge %d)", i.Bridge)
			}
			t.Ifaces = append(t.Ifaces, text)
		}
		slices.Sort(t.Pods)
		out.Tables = append(out.Tables, t)
	}
	return out
}

// leadsToPod reports whether an interface is one pod's own; pods that share one are seen by their routes alone.
func leadsToPod(n fact.NodeState, i fact.Interface, pods map[string]bool) bool {
	switch {
	case n.Linux == nil:
	case i.Type == fact.TypeTap:
		return pods[i.HostNetns]
	case i.Type == fact.TypeAFPacket:
		l, ok := n.Linux.Link(i.HostNetns, i.Host)
		return ok && pods[l.PeerNetns]
	}
	return false
}

// lines are what a table's box says.
func (t GraphTable) lines() []string {
	out := []string{fmt.Sprintf("VRF %d, %d routes", t.ID, t.Routes)}
	return append(append(out, t.Ifaces...), t.Pods...)
}

// Mermaid is the picture in mermaid's language.
func (g Graph) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for i, n := range g.Nodes {
		fmt.Fprintf(&b, "  subgraph n%d[\"%s\"]\n", i, escapeMermaid(n.Title))
		for _, t := range n.Tables {
			fmt.Fprintf(&b, "    n%dt%d[\"%s\"]\n", i, t.ID, escapeMermaid(strings.Join(t.lines(), "<br/>")))
		}
		if len(n.Tables) == 0 {
			fmt.Fprintf(&b, "    n%dx[\"down\"]\n", i)
		}
		b.WriteString("  end\n")
	}
	for _, t := range g.Tunnels {
		arrow := "-.->"
		if t.Both {
			arrow = "<-->"
		}
		fmt.Fprintf(&b, "  n%d %s|\"VXLAN %d\"| n%d\n", g.index(t.A), arrow, t.VNI, g.index(t.B))
	}
	return b.String()
}

func escapeMermaid(text string) string { return strings.ReplaceAll(text, `"`, "#quot;") }

func (g Graph) index(name string) int {
	return slices.IndexFunc(g.Nodes, func(n GraphNode) bool { return n.Name == name })
}

// Dot is the picture in Graphviz' language.
func (g Graph) Dot() string {
	var b strings.Builder
	b.WriteString("graph lab {\n  compound=true; rankdir=LR; node [shape=box, fontname=monospace];\n")
	for i, n := range g.Nodes {
		fmt.Fprintf(&b, "  subgraph cluster%d {\n    label=%q;\n", i, n.Title)
		for _, t := range n.Tables {
			fmt.Fprintf(&b, "    n%dt%d [label=\"%s\"];\n", i, t.ID, strings.ReplaceAll(strings.Join(t.lines(), "\\l")+"\\l", `"`, `\"`))
		}
		fmt.Fprintf(&b, "    n%d [style=invis, shape=point];\n  }\n", i)
	}
	for _, t := range g.Tunnels {
		a, z := g.index(t.A), g.index(t.B)
		style := "dashed"
		if t.Both {
			style = "solid"
		}
		fmt.Fprintf(&b, "  n%d -- n%d [ltail=cluster%d, lhead=cluster%d, label=\"VXLAN %d\", style=%s];\n", a, z, a, z, t.VNI, style)
	}
	b.WriteString("}\n")
	return b.String()
}

// SVG is the picture, needing nothing to be shown: nodes in a column, tunnels as arcs on their right.
func (g Graph) SVG() string {
	const left, width, line, gap = 20, 560, 16, 24
	y := 20
	middle := make([]int, len(g.Nodes))
	var boxes strings.Builder
	for i, n := range g.Nodes {
		rows := 1
		for _, t := range n.Tables {
			rows += len(t.lines()) + 1
		}
		height := rows*line + 16
		middle[i] = y + height/2
		color := "#2b6cb0"
		if !n.Up {
			color = "#c53030"
		}
		fmt.Fprintf(&boxes, `<rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="#fff" stroke="%s"/>`+"\n", left, y, width, height, color)
		text := y + line
		row := func(indent int, weight, s string) {
			fmt.Fprintf(&boxes, `<text x="%d" y="%d" font-weight="%s">%s</text>`+"\n", left+10+indent, text, weight, html.EscapeString(s))
			text += line
		}
		row(0, "bold", n.Title)
		for _, t := range n.Tables {
			for j, s := range t.lines() {
				row(map[bool]int{true: 0, false: 14}[j == 0], "normal", s)
			}
			text += line / 2
		}
		y += height + gap
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="monospace" font-size="12">`+"\n", left+width+260, y)
	b.WriteString(`<rect width="100%" height="100%" fill="#f7fafc"/>` + "\n" + boxes.String())
	for _, t := range g.Tunnels {
		a, z := middle[g.index(t.A)], middle[g.index(t.B)]
		dash := ""
		if !t.Both {
			dash = ` stroke-dasharray="5 4"`
		}
		bend := left + width + 30 + min(180, (z-a)/3)
		fmt.Fprintf(&b, `<path d="M%d %d C%d %d %d %d %d %d" fill="none" stroke="#718096"%s><title>%s to %s, VXLAN %d</title></path>`+"\n",
			left+width, a, bend, a, bend, z, left+width, z, dash, html.EscapeString(t.A), html.EscapeString(t.B), t.VNI)
	}
	b.WriteString("</svg>\n")
	return b.String()
}
