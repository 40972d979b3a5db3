package cilium

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// dump is the whole memory about a node for comparisons.
func (o *Operator) dump(name string) string {
	m := o.nodes[name]
	if m == nil {
		return "-"
	}
	return fmt.Sprintf("%s %v %d %v %v %v %v %s", m.node, m.cloud, m.asked, m.short, m.writing, m.excess, m.freeing, m.trouble)
}

// dump is the whole state for comparisons, one fact a line.
func (s *NodeStore) dump() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %v\n%v\n", s.restored, s.node, s.free)
	for _, ip := range slices.SortedFunc(maps.Keys(s.used), netip.Addr.Compare) {
		fmt.Fprintf(&b, "%s %s\n", ip, s.used[ip])
	}
	return b.String()
}
