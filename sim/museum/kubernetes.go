package museum

import (
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/sim"
)

// kubernetes are the faults of Kubernetes' node IPAM controller, and of others that give nodes pod CIDRs as it does.
func kubernetes() []Exhibit {
	return []Exhibit{
		{
			Name: "blocks-counted-twice", Incidents: []string{"kubernetes/kubernetes#96416"}, Law: "nodes-served",
			Upstream: "Occupying a CIDR that was occupied already counted it again, until a range with free blocks looked full.",
			Fault:    "Each time that a node is seen its block counts once more, and nobody gets one when the count reaches the range's size.",
			Plant: func() *sim.Plant {
				counted := map[int]int{}
				return controllerManagers(func(c *controller, now time.Time, ev nodeipam.Event) []nodeipam.Effect {
					for _, n := range seen(ev) {
						if len(n.PodCIDRs) > 0 {
							counted[c.life]++
						}
					}
					rest, given := patches(c.inner(now, ev), func(nodeipam.PatchNodeCIDRs) bool { return counted[c.life] >= c.blocks() })
					for _, p := range given {
						rest = append(rest, nodeipam.RecordEvent{Name: p.Name, UID: p.UID, Type: "Normal", Reason: "CIDRNotAvailable", Message: "the range is full"})
					}
					return rest
				})
			},
		},
		{
			Name: "existing-not-occupied", Incidents: []string{"kubernetes/kubernetes#29058", "kubernetes/kubernetes#29062"}, Law: "grants-disjoint",
			Upstream: "A restarted allocator gave blocks out before it had occupied those of existing nodes: 27 duplicates in a cluster of 800.",
			Fault:    "A controller that takes over does not see nodes that have a block.",
			Plant: func() *sim.Plant {
				has := func(n nodeipam.KubeNode) bool { return len(n.PodCIDRs) > 0 }
				return controllerManagers(func(c *controller, now time.Time, ev nodeipam.Event) []nodeipam.Effect {
					if c.life > 1 {
						if list, ok := ev.(nodeipam.Listed); ok {
							list.Nodes = slices.DeleteFunc(slices.Clone(list.Nodes), has)
							ev = list
						} else if slices.ContainsFunc(seen(ev), has) {
							return c.Run(now)
						}
					}
					return c.inner(now, ev)
				})
			},
		},
		{
			Name: "patch-never-retried", Incidents: []string{"kubernetes/kubernetes#28879", "kubernetes/kubernetes#29101"}, Law: "nodes-served",
			Upstream: "A write of a node's CIDR that failed was never tried again.",
			Fault:    "What came of a write is told only when it succeeded.",
			Plant: func() *sim.Plant {
				return controllerManagers(func(c *controller, now time.Time, ev nodeipam.Event) []nodeipam.Effect {
					if a, ok := ev.(nodeipam.Answered); ok && a.Outcome != ipam.Done {
						return c.Run(now)
					}
					return c.inner(now, ev)
				})
			},
		},
		{
			Name: "deleted-node-loop", Incidents: []string{"kubernetes/kubernetes#98679"}, Law: "settles",
			Upstream: "A worker went on for ever with a node that had been deleted.",
			Fault:    "A request for a node that is not found is made again at once.",
			Plant: func() *sim.Plant {
				l := &loop{asked: map[uint64]nodeipam.PatchNodeCIDRs{}}
				return controllerManagers(l.step)
			},
		},
		{
			Name: "released-and-requeued", Law: "grants-disjoint",
			Incidents: []string{"kubernetes-sigs/cloud-provider-azure#4556", "kubernetes-sigs/cloud-provider-azure#4568"},
			Upstream:  "When the write had failed three times the block was released, and the node was queued again with it.",
			Fault:     "A block whose write failed is free for others and is written for its node again a minute later.",
			Plant: func() *sim.Plant {
				r := &requeued{asked: map[uint64]nodeipam.PatchNodeCIDRs{}}
				return controllerManagers(r.step)
			},
		},
		{
			Name: "strange-node-stops-all", Law: "nodes-served",
			Incidents: []string{
				"kubernetes/kubernetes#82773", "kubernetes/kubernetes#95948", "kubernetes/kubernetes#75461",
				"kubernetes/kubernetes#50305", "kubernetes-sigs/cloud-provider-azure#6670",
			},
			Upstream: "One node whose CIDR was outside the range, or garbage, stopped the whole controller.",
			Fault:    "A controller that sees a CIDR outside its ranges does nothing any more.",
			Plant: func() *sim.Plant {
				stopped := map[int]bool{}
				return controllerManagers(func(c *controller, now time.Time, ev nodeipam.Event) []nodeipam.Effect {
					for _, n := range seen(ev) {
						for _, cidr := range n.PodCIDRs {
							stopped[c.life] = stopped[c.life] || !c.inRange(cidr)
						}
					}
					if stopped[c.life] {
						return nil
					}
					return c.inner(now, ev)
				})
			},
		},
		{
			Name: "waiting-node-not-woken", Incidents: []string{"kubernetes/kubernetes#85866", "kubernetes/kubernetes#103898"}, Law: "nodes-served",
			Upstream: "A node that found the range full stayed without a CIDR when a block became free.",
			Fault:    "A node that was told CIDRNotAvailable is not looked at again.",
			Plant: func() *sim.Plant {
				refused := map[string]bool{}
				return controllerManagers(func(c *controller, now time.Time, ev nodeipam.Event) []nodeipam.Effect {
					effects, _ := patches(c.inner(now, ev), func(p nodeipam.PatchNodeCIDRs) bool { return refused[p.UID] })
					for _, e := range effects {
						if r, ok := e.(nodeipam.RecordEvent); ok && r.Reason == "CIDRNotAvailable" {
							refused[r.UID] = true
						}
					}
					return effects
				})
			},
		},
		{
			Name: "waits-for-resync", Incidents: []string{"kubernetes/kubernetes#61123"}, Law: "nodes-served",
			Upstream: "A new node waited for the periodic resync, up to 30 s.",
			Fault:    "A new node is looked at no earlier than 30 s after it came.",
			Plant: func() *sim.Plant {
				came := map[string]time.Time{}
				return controllerManagers(func(c *controller, now time.Time, ev nodeipam.Event) []nodeipam.Effect {
					if a, ok := ev.(nodeipam.NodeAdded); ok {
						came[a.Node.UID] = now
					}
					for _, n := range seen(ev) {
						if _, list := ev.(nodeipam.Listed); !list && !came[n.UID].IsZero() && now.Before(came[n.UID].Add(nodeipam.DefaultResync)) {
							return c.Run(now)
						}
					}
					return c.inner(now, ev)
				})
			},
		},
		{
			Name: "one-node-at-a-time", Incidents: []string{"kubernetes/kubernetes#52284", "kubernetes/kubernetes#52285"}, Law: "settles",
			Upstream: "The allocator handled one node after the other, and with thousands of them nodes waited for hours.",
			Fault:    "A pod CIDR is written every ten seconds, however many nodes wait.",
			Plant:    func() *sim.Plant { s := &serial{}; return controllerManagers(s.step) },
		},
		{
			Name: "recreated-node-swallowed", Incidents: []string{"kubernetes/kubernetes#25220"}, Law: "nodes-served",
			Upstream: "A node that was created again under its name waited long, because the entry of the earlier one was still being processed.",
			Fault:    "Another object of a name that is known is taken for the one that is being processed.",
			Plant: func() *sim.Plant {
				first := map[string]string{}
				return controllerManagers(func(c *controller, now time.Time, ev nodeipam.Event) []nodeipam.Effect {
					for _, n := range seen(ev) {
						if first[n.Name] == "" {
							first[n.Name] = n.UID
						}
						if _, list := ev.(nodeipam.Listed); !list && first[n.Name] != n.UID {
							return c.Run(now)
						}
					}
					return c.inner(now, ev)
				})
			},
		},
		{
			Name: "two-controllers", Incidents: []string{"gardener/gardener-extension-provider-gcp#937", "antrea-io/antrea#7893"}, Law: "grants-disjoint",
			Upstream: "Two controllers gave nodes their CIDRs at the same time, and two nodes had the same one.",
			Fault:    "A second allocator is at work, and each of the two learns late of what the other sees.",
			Plant:    func() *sim.Plant { r := &rivals{}; return controllerManagers(r.step) },
		},
	}
}
