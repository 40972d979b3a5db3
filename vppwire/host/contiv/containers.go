package contiv

import (
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/containeridx"
)

// ContainersOf are the containers that an agent has wired and that its machine still runs, in the order of their IDs. It runs
// between two of the agent's steps.
func ContainersOf(a *agent.Agent) containeridx.List {
	var list containeridx.List
	for at := range a.Attachments() {
		if !at.Wired || at.Stale {
			continue
		}
		s := &at.Sandbox
		list.Put(s.Owner.ContainerID, s.PodNamespace, s.PodName, s.PodUID, containeridx.Interface{
			Network: s.Owner.Network, IfName: s.Owner.IfName, Netns: s.Netns, VppIf: at.Interface, IP: at.Lease.Addr, SecondIP: at.Second.Addr,
			Since: at.Lease.Since, Removing: at.Removing,
		})
	}
	return list
}
