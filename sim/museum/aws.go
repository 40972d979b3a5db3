package museum

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// aws are the faults of AWS VPC CNI's data store.
func aws() []Exhibit {
	return []Exhibit{
		{
			Name: "empty-list-frees-all", Incidents: []string{"aws/amazon-vpc-cni-k8s#711"}, Law: "one-owner",
			Upstream: "After a restart that saw no local pods, addresses of running pods were given out again.",
			Fault:    "A starting agent that has not heard of any pod takes all of them for gone.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Agent: agents(func(l *life, now time.Time, ev agent.Event) []agent.Effect {
					effects := l.inner(now, ev)
					if _, ok := ev.(agent.HostAddresses); ok && l.number > 1 {
						effects = append(effects, l.nobodyLives(now)...)
					}
					return effects
				})}
			},
		},
		{
			Name: "del-names-another-container", Incidents: []string{"aws/amazon-vpc-cni-k8s#712", "aws/amazon-vpc-cni-k8s#714"}, Law: "books-agree",
			Upstream: "The container ID of a DEL was not the one of the ADD, and the address leaked.",
			Fault:    "A DEL names a container that no ADD has named.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Agent: agents(func(l *life, now time.Time, ev agent.Event) []agent.Effect {
					if del, ok := ev.(agent.PodDel); ok {
						del.Owner.ContainerID += "-infra"
						ev = del
					}
					return l.PlantedAgent.Step(now, ev)
				})}
			},
		},
		{
			Name: "checkpoint-buffered", Law: "add-not-forgotten",
			Incidents: []string{"aws/amazon-vpc-cni-k8s#1010", "aws/amazon-vpc-cni-k8s#972", "aws/amazon-vpc-cni-k8s#1123"},
			Upstream:  "What was assigned was known to nobody but the process for a while, so a crash in between lost it.",
			Fault:     "The last write of each agent stays in its memory until the next one.",
			Plant: func() *sim.Plant {
				b := &buffered{last: map[string][]agent.Record{}}
				return &sim.Plant{Journal: b.write, Records: b.restart}
			},
		},
		{
			Name: "unknown-taken-for-dead", Incidents: []string{"aws/amazon-vpc-cni-k8s#2110", "aws/amazon-vpc-cni-k8s#3876"}, Law: "add-not-forgotten",
			Upstream: "A start-up check that could not find pods' interfaces yet wiped their live assignments.",
			Fault:    "An agent that starts while VPP is away finds no interfaces and takes every pod for dead.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Agent: agents(unseenIsDead)}
			},
		},
		{
			Name: "del-after-restart-lost", Law: "books-agree",
			Incidents: []string{"aws/amazon-vpc-cni-k8s#1939", "aws/amazon-vpc-cni-k8s#3109", "aws/amazon-vpc-cni-k8s#3113"},
			Upstream:  "A DEL without a namespace, or around a restart, was skipped, and the address leaked for ever.",
			Fault:     "A DEL of a sandbox that was added before the agent's last restart succeeds and does nothing.",
			Plant: func() *sim.Plant {
				type owned struct {
					ipam.Owner
					node string
				}
				added := map[owned]int{}
				return &sim.Plant{Agent: agents(func(l *life, now time.Time, ev agent.Event) []agent.Effect {
					switch e := ev.(type) {
					case agent.PodAdd:
						added[owned{e.Sandbox.Owner, l.node}] = l.number
					case agent.PodDel:
						if was := added[owned{e.Owner, l.node}]; was > 0 && was < l.number {
							return []agent.Effect{agent.Answer{Request: e.Request}}
						}
					}
					return l.PlantedAgent.Step(now, ev)
				})}
			},
		},
		{
			Name: "cooling-too-short", Incidents: []string{"aws/amazon-vpc-cni-k8s#62", "aws/amazon-vpc-resource-controller-k8s#306"}, Law: "address-rests",
			Upstream: "Addresses came back before connection tracking and neighbors had forgotten the pod before.",
			Fault:    "An address cools for a third of the time.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Allocator: func(_ string, a ipam.NodeAllocator) ipam.NodeAllocator { return ahead{a} }}
			},
		},
		{
			Name: "cooling-lost-on-restart", Incidents: []string{"aws/amazon-vpc-cni-k8s#1127", "aws/amazon-vpc-cni-k8s#1188"}, Law: "address-rests",
			Upstream: "A restart forgot which addresses were cooling, and a new pod shared one with a pod that was terminating.",
			Fault:    "The journal knows nothing of addresses that were released.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Records: func(_ string, records []agent.Record) []agent.Record {
					left := map[ipam.Owner]bool{}
					for _, r := range records {
						if r.Kind == agent.RecordIPAM && r.IPAM.Op == ipam.OpRelease {
							left[r.IPAM.Owner] = true
						}
					}
					return without(records, func(r *agent.Record) bool { return r.Kind == agent.RecordIPAM && left[r.IPAM.Owner] })
				}}
			},
		},
	}
}

// unseenIsDead removes every attachment when the first thing that a restarted agent hears is not that VPP is there.
func unseenIsDead(l *life, now time.Time, ev agent.Event) []agent.Effect {
	if l.number == 1 || l.looked {
		return l.PlantedAgent.Step(now, ev)
	}
	switch ev.(type) {
	case agent.Restored, agent.HostAddresses, agent.OwnAddress:
		return l.PlantedAgent.Step(now, ev)
	case agent.VPPUp:
		l.looked = true
		return l.PlantedAgent.Step(now, ev)
	}
	l.looked = true
	return append(l.inner(now, ev), l.nobodyLives(now)...)
}

// buffered is a journal whose last write is still in the process.
type buffered struct{ last map[string][]agent.Record }

func (b *buffered) write(node string, e agent.Persist) agent.Persist {
	before := b.last[node]
	if e.Replace {
		before = nil
	}
	b.last[node], e.Records = e.Records, before
	return e
}

func (b *buffered) restart(node string, records []agent.Record) []agent.Record {
	delete(b.last, node)
	return records
}

// ahead is an allocator whose clock is ahead where addresses are picked.
type ahead struct{ ipam.NodeAllocator }

// Allocate implements ipam.Allocator.
func (x ahead) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	return x.NodeAllocator.Allocate(now.Add(20*time.Second), o, w)
}
