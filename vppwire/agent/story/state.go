package story

import (
	"fmt"
	"strconv"
	"strings"
)

// State is one node's allocation state in a few lines.
func (b *Machine) State() string {
	var out strings.Builder
	a := b.Agent
	if a == nil {
		return b.Name + " agent is down\n"
	}
	fmt.Fprintf(&out, "%s id %d address %s", b.Name, a.ID(), a.Node().Address)
	for _, block := range a.Blocks() {
		out.WriteString(" block " + block.Prefix.String())
		if block.Draining {
			out.WriteString(" draining")
		}
	}
	out.WriteString("\n")
	for t := range a.Attachments() {
		fmt.Fprintf(&out, "%s pod %s %s %s up=%t removing=%t stale=%t\n", b.Name, t.Sandbox.PodName, t.Sandbox.Owner.ContainerID, t.Lease.Addr, t.Up, t.Removing, t.Stale)
	}
	if p := a.Pending(); p != "" {
		out.WriteString(b.Name + " pending: " + p + "\n")
	}
	return out.String()
}

// Wrote reports whether VPP was written to since the last question.
func (b *Machine) Wrote() string {
	n := b.VPP.Writes()
	defer func() { b.writes = n }()
	return b.Name + " wrote to VPP: " + strconv.FormatBool(n != b.writes) + "\n"
}
