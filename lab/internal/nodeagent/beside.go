package nodeagent

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// beside is what works beside the agent to get its node addresses. What is nil there is not needed.
type beside struct {
	// cluster adds what the node has got to what the agent hears.
	cluster func(host.Cluster) host.Cluster
	// stepped is called after each step of the agent, and pending, which says what is under way, between two; short: there is less than there
	// should be.
	stepped func(now time.Time, a *agent.Agent, effects []agent.Effect)
	pending func(a *agent.Agent) (why string, short bool)
	// kept are addresses that wait for pods to come, between two steps.
	kept func() []netip.Addr
	// run works until ctx ends.
	run func(ctx context.Context, d *host.Driver)
	// metrics are shown beside the agent's own.
	metrics *ipamd.Metrics
	// asked stands before the agent where its CNI plugin asks.
	asked func(kube.CNI) kube.CNI
}

// beside is that of the node's address management, nil where the agent needs nothing beside what it hears.
func (c *Config) beside(ctx context.Context, alloc ipam.NodeAllocator, kernel vppwire.Linux, log *slog.Logger) (*beside, error) {
	node := c.Agent.NodeName
	switch {
	case c.EC2 != nil:
		r, err := c.EC2.requester(ctx, node, alloc.(*datastore.Node), log)
		return &beside{cluster: r.Cluster, run: r.Run, metrics: r.Metrics(),
			stepped: func(now time.Time, _ *agent.Agent, _ []agent.Effect) { r.Stepped(now) },
			pending: func(a *agent.Agent) (string, bool) { return r.Pending(a) }}, err
	case c.Pools != nil:
		r, err := c.Pools.requester(node, alloc.(*cilium.Node), log)
		return &beside{cluster: r.Cluster,
			stepped: func(now time.Time, a *agent.Agent, effects []agent.Effect) { r.Stepped(now, a, effects) },
			pending: func(*agent.Agent) (string, bool) { return r.Pending(), false }}, err
	case c.Addresses != nil:
		r, err := c.Addresses.requester(node, alloc.(*cilium.ExpiringNode), kernel, log)
		return &beside{cluster: r.Cluster, kept: r.Waiting,
			run:     func(ctx context.Context, d *host.Driver) { r.Run(ctx, kube.OwnerOf(d)) },
			stepped: func(_ time.Time, _ *agent.Agent, effects []agent.Effect) { r.Stepped(effects) },
			pending: func(*agent.Agent) (string, bool) { return r.Pending(), false }}, err
	case c.Calico != nil:
		h, err := c.Calico.host(node, alloc.(calico.Node), log)
		return &beside{cluster: h.Cluster, asked: h.Agent,
			run:     func(ctx context.Context, d *host.Driver) { h.Run(ctx, kube.OwnerOf(d)) },
			stepped: func(time.Time, *agent.Agent, []agent.Effect) { h.Stepped() },
			pending: func(*agent.Agent) (string, bool) { return h.Pending(), false }}, err
	}
	return nil, nil
}
