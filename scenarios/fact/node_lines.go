package fact

import "fmt"

// Lines are the node's state as text, with its own addresses and numbers: its programs and identity first, then the
// state of each, in a fixed order.
func (n *NodeState) Lines() []string {
	up := map[bool]string{true: "up", false: "down"}
	address := "none"
	if n.Address.IsValid() {
		address = n.Address.String()
	}
	lines := []string{fmt.Sprintf("%s: machine %s, agent %s, VPP %s, node ID %d, address %s", n.Name, up[n.MachineUp],
		up[n.AgentUp], up[n.VPPUp], n.ID, address)}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf("  "+format, args...)) }
	for _, b := range n.Blocks {
		add("block %s%s", b.Prefix, map[bool]string{true: " draining"}[b.Draining])
	}
	if n.Leases != nil {
		for l := range n.Leases() {
			add("lease %s %s", l.Addr, l.Owner)
		}
	}
	for _, p := range n.Pods {
		if p.Addr.IsValid() {
			add("pod %s %s", p.Pod, p.Addr)
		} else {
			add("pod %s without an address", p.Pod)
		}
	}
	if n.VPP == nil {
		return lines
	}
	for i := range n.VPP.Interfaces() {
		add("interface %d %s up=%v table %d mtu %d %v", i.Index, i.Name, i.Up, i.Table4, i.MTU, i.Addrs)
	}
	for t := range n.VPP.Tables() {
		for r := range n.VPP.Routes(t) {
			add("route table %d %s %s", t, r.Prefix, r.does())
		}
	}
	return lines
}

// does is what the route does with a packet, in words.
func (r *Route) does() string {
	switch {
	case r.Action == ActionDrop:
		return "drop"
	case r.Action == ActionLocal:
		return "local"
	case r.Action == ActionLookup:
		return fmt.Sprintf("lookup in table %d", r.Lookup)
	case r.Index == ^uint32(0):
		return fmt.Sprintf("via %s in table %d", r.Via, r.Lookup)
	case !r.Via.IsValid():
		return fmt.Sprintf("attached interface %d", r.Index)
	}
	return fmt.Sprintf("via %s interface %d", r.Via, r.Index)
}

// LinesWithout are the lines of a that b does not have as often, in a's order.
func LinesWithout(a, b []string) (only []string) {
	have := map[string]int{}
	for _, line := range b {
		have[line]++
	}
	for _, line := range a {
		if have[line]--; have[line] < 0 {
			only = append(only, line)
		}
	}
	return only
}
