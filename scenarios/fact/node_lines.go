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
		add("pod %s %s", p.Pod, p.Addr)
	}
	if n.VPP == nil {
		return lines
	}
	for i := range n.VPP.Interfaces() {
		add("interface %d %s up=%v table %d mtu %d %v", i.Index, i.Name, i.Up, i.Table4, i.MTU, i.Addrs)
	}
	for t := range n.VPP.Tables() {
		for r := range n.VPP.Routes(t) {
			add("route table %d %s via %s interface %d", t, r.Prefix, r.Via, int32(r.Index))
		}
	}
	return lines
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
