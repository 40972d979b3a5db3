package normalized

import (
	"fmt"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Of draws a cluster at rest: sorted lines, each beginning with its node's name. It costs a walk over everything that VPPs and
// machines hold.
func Of(s fact.Snapshot) []string {
	n := namesOf(s)
	var out []string
	for i := range s.Nodes {
		d := drawing{NodeState: &s.Nodes[i], names: n, roles: rolesOf(&s.Nodes[i], n)}
		d.node()
		d.vpp()
		d.linux(s)
		out = append(out, d.lines...)
	}
	slices.Sort(out)
	return out
}

// drawing is one node being drawn.
type drawing struct {
	*fact.NodeState
	*names
	roles roles
	lines []string
}

func (d *drawing) line(format string, args ...any) {
	d.lines = append(d.lines, d.Name+": "+fmt.Sprintf(format, args...))
}

// node draws what the agent and the runtime say.
func (d *drawing) node() {
	d.line("machine %s, agent %s, VPP %s", onOff(d.MachineUp), onOff(d.AgentUp), onOff(d.VPPUp))
	if d.AgentUp {
		d.line("ID %s, VRFs %d and %d, %d blocks", given(d.ID != 0), d.MainTable, d.PodTable, len(d.Blocks))
	}
	held := map[string]int{}
	if d.Leases != nil {
		for l := range d.Leases() {
			held[d.addr(l.Addr)]++
		}
	}
	for _, p := range d.Pods {
		lease := "no lease"
		if held["(pod "+p.Pod+")"] > 0 {
			lease = "leased"
		}
		d.line("pod %s: address %s, %s, gateway %s", p.Pod, given(p.Addr.IsValid()), lease, d.addr(p.Gateway))
		delete(held, d.addr(p.Addr))
	}
	if len(held) > 0 {
		d.line("%d leases of no pod", len(held))
	}
	if d.Waiting > 0 {
		d.line("%d pods wait for an address", d.Waiting)
	}
}

func onOff(on bool) string {
	if on {
		return "up"
	}
	return "down"
}

func given(is bool) string {
	if is {
		return "given"
	}
	return "none"
}
