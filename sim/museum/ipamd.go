package museum

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/ec2"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
)

// ipamd are the faults between AWS VPC CNI's daemon and EC2.
func ipamd() []Exhibit {
	return []Exhibit{
		{
			Name: "attached-not-adopted", Incidents: []string{"aws/amazon-vpc-cni-k8s#1204", "aws/amazon-vpc-cni-k8s#66"}, Law: "grants-used",
			Upstream: "A restart in the middle of an increase left an interface attached that nobody knew.",
			Fault:    "What EC2 gave and no daemon was told of is not seen when the next one looks.",
			Plant: func() *sim.Plant {
				t := &told{units: map[string]map[netip.Prefix]bool{}}
				return &sim.Plant{Controllers: controllers.Plant{Manager: t.manager, Cloud: t.cloud}}
			},
		},
		{
			Name: "refused-return-forgotten", Incidents: []string{"aws/amazon-vpc-cni-k8s#69"}, Law: "grants-used",
			Upstream: "An interface whose detaching or deletion failed was forgotten and leaked.",
			Fault:    "Whatever EC2 answers to a return, the daemon takes it for done.",
			Plant: func() *sim.Plant {
				return managers(func(m *manager, now time.Time, ev datastore.Event) []datastore.Effect {
					if c, ok := ev.(datastore.Called); ok && (m.asked.Op == datastore.UnassignUnits || m.asked.Op == datastore.DeleteENI) {
						c.Result.Err = nil
						ev = c
					}
					return m.inner(now, ev)
				})
			},
		},
		{
			Name: "stale-metadata-believed", Incidents: []string{"aws/amazon-vpc-cni-k8s#3887", "aws/amazon-vpc-cni-k8s#3019"}, Law: "grants-used",
			Upstream: "Metadata that was behind made addresses in use vanish from the data store.",
			Fault:    "What the metadata service says is believed without asking EC2.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Controllers: controllers.Plant{Cloud: func(_ string, c controllers.Cloud) controllers.Cloud { return stale{c} }}}
			},
		},
		{
			Name: "readded-and-deleted", Incidents: []string{"aws/amazon-vpc-cni-k8s#1967", "aws/amazon-vpc-cni-k8s#2834", "aws/amazon-vpc-cni-k8s#3821"}, Law: "grants-used",
			Upstream: "An interface that the metadata omitted for a while came back as an empty one and was deleted under running pods.",
			Fault:    "A second interface is missing in every list for a minute, and is deleted another one after it came back, pods or no pods.",
			Plant: func() *sim.Plant {
				r := returning{}
				p := managers(r.step)
				p.Controllers.Cloud = func(_ string, c controllers.Cloud) controllers.Cloud { return &blinking{Cloud: c} }
				return p
			},
		},
		{
			Name: "endless-attach-loop", Incidents: []string{"aws/amazon-vpc-cni-k8s#1451"}, Law: "grants-steady",
			Upstream: "What was too little for one rule was too much for another: interfaces were allocated and freed for ever.",
			Fault:    "Every idle unit is given back after half a minute, whatever the targets say.",
			Plant: func() *sim.Plant {
				g := giveBack{}
				return managers(g.step)
			},
		},
		{
			Name: "full-subnet-crash-loop", Incidents: []string{"aws/amazon-vpc-cni-k8s#1773", "aws/amazon-vpc-cni-k8s#872"}, Law: "settles",
			Upstream: "A daemon that found its subnet without a free address at its start crashed, and again after each restart.",
			Fault:    "A restarted daemon that gets no more units never becomes ready.",
			Plant: func() *sim.Plant {
				return managers(func(m *manager, now time.Time, ev datastore.Event) []datastore.Effect {
					if c, ok := ev.(datastore.Called); ok && m.life > 1 && c.Result.Err != nil &&
						(m.asked.Op == datastore.AssignUnits || m.asked.Op == datastore.CreateENI) {
						m.crashed = true
					}
					return m.inner(now, ev)
				})
			},
		},
	}
}

// told records the units that EC2 has reported to a daemon when it gave them.
type told struct {
	units map[string]map[netip.Prefix]bool
}

func (t *told) of(node string) map[netip.Prefix]bool {
	if t.units[node] == nil {
		t.units[node] = map[netip.Prefix]bool{}
	}
	return t.units[node]
}

func (t *told) manager(node string, pool *datastore.NodePool, m controllers.Manager) controllers.Manager {
	return &manager{Manager: m, node: node, pool: pool, step: func(m *manager, now time.Time, ev datastore.Event) []datastore.Effect {
		if c, ok := ev.(datastore.Called); ok && (m.asked.Op == datastore.AssignUnits || m.asked.Op == datastore.CreateENI) {
			for _, p := range c.Result.Prefixes {
				t.of(node)[p] = true
			}
			for _, e := range c.Result.ENIs {
				for _, p := range e.Units {
					t.of(node)[p] = true
				}
			}
		}
		return m.inner(now, ev)
	}}
}

func (t *told) cloud(node string, c controllers.Cloud) controllers.Cloud {
	return &forgetful{c, t.of(node)}
}

// forgetful is EC2 without the units that were never reported.
type forgetful struct {
	controllers.Cloud
	told map[netip.Prefix]bool
}

// Describe implements controllers.Cloud.
func (f *forgetful) Describe(now time.Time) ([]ec2.ENI, error) {
	list, err := f.Cloud.Describe(now)
	return f.known(list), err
}

// Metadata implements controllers.Cloud.
func (f *forgetful) Metadata(now time.Time) []ec2.ENI { return f.known(f.Cloud.Metadata(now)) }

func (f *forgetful) known(list []ec2.ENI) (out []ec2.ENI) {
	for _, e := range list {
		e.Units = slices.DeleteFunc(slices.Clone(e.Units), func(p netip.Prefix) bool { return !f.told[p] })
		if e.Primary || len(e.Units) > 0 {
			out = append(out, e)
		}
	}
	return out
}

// stale is EC2 as the metadata service knows it.
type stale struct{ controllers.Cloud }

// Describe implements controllers.Cloud.
func (s stale) Describe(now time.Time) ([]ec2.ENI, error) { return s.Metadata(now), nil }

// blinking is EC2 that omits every interface but the first for a minute, one and a half after it was first asked.
type blinking struct {
	controllers.Cloud
	first time.Time
}

// Describe implements controllers.Cloud.
func (b *blinking) Describe(now time.Time) ([]ec2.ENI, error) {
	list, err := b.Cloud.Describe(now)
	return b.shown(now, list), err
}

// Metadata implements controllers.Cloud.
func (b *blinking) Metadata(now time.Time) []ec2.ENI { return b.shown(now, b.Cloud.Metadata(now)) }

func (b *blinking) shown(now time.Time, list []ec2.ENI) []ec2.ENI {
	if b.first.IsZero() {
		b.first = now
	}
	if age := now.Sub(b.first); age < 90*time.Second || age > 150*time.Second {
		return list
	}
	return slices.DeleteFunc(list, func(e ec2.ENI) bool { return !e.Primary })
}
