package faults

import (
	"context"

	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
)

// Cluster is what an agent hears of its cluster, by watches that suffer what the Desk says. A nil Port's suffer nothing.
func (p *Port) Cluster(of host.Cluster) host.Cluster {
	if p == nil {
		return of
	}
	return &cluster{Cluster: of, port: p}
}

type cluster struct {
	host.Cluster
	port *Port
}

// Watch implements host.Cluster. Where a change is lost, what comes behind it on its way is lost too, and everything is listed
// again.
func (c *cluster) Watch(ctx context.Context, tell func(agent.Event)) {
	var changes queue
	for ctx.Err() == nil {
		watch, lose := context.WithCancel(ctx)
		c.Cluster.Watch(watch, func(ev agent.Event) {
			if watch.Err() != nil {
				return
			}
			v := c.port.judge(fault.APIChange(""))
			switch v.Action {
			case fault.Vanish, fault.Refuse:
				lose()
				return
			case fault.Duplicate:
				if !listed(ev) { // the end of a list comes once
					changes.put(0, func() { tell(ev) })
				}
			}
			changes.put(v.Delay, func() { tell(ev) })
		})
		lose()
	}
}

// listed reports whether an event is the end of a list.
func listed(ev agent.Event) bool {
	switch ev.(type) {
	case host.NodesListed, agent.PodsListed, agent.ServicesListed, agent.EndpointsListed, agent.SelectablesListed:
		return true
	}
	return false
}
