package gen

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Systems is Small with another address management system than Contiv's: its controllers lose their leaders and ranges come
// and go.
func Systems() Profile {
	p := Small()
	p.Name, p.Systems = "systems", true
	return p
}

// Ranges of a run with another system. The first one is always there; the second comes and goes.
var (
	systemSubnet = netip.MustParsePrefix("10.1.0.0/16")
	systemFirst  = netip.MustParsePrefix("10.1.0.0/18")
	systemSecond = netip.MustParsePrefix("10.1.64.0/18")
	// systemTight has a few blocks, so that nodes borrow.
	systemTight = netip.MustParsePrefix("10.1.0.0/26")
)

// Zones of AWS' subnets, without and with custom networking.
var (
	systemZones  = []scenarios.VPCSubnet{{CIDR: netip.MustParsePrefix("10.1.0.0/20")}, {CIDR: netip.MustParsePrefix("10.1.16.0/20")}}
	systemCustom = []scenarios.VPCSubnet{
		{CIDR: netip.MustParsePrefix("10.200.0.0/24"), Pods: netip.MustParsePrefix("10.1.0.0/20")},
		{CIDR: netip.MustParsePrefix("10.200.1.0/24"), Pods: netip.MustParsePrefix("10.1.64.0/20")}}
)

// drawSystem gives a scenario another system. What changed the address plan becomes what happens to controllers and ranges.
func (d drawer) drawSystem(s *scenarios.Scenario) {
	c := &s.Config.IPAM
	c.System = one(d, "system", scenarios.NodeIPAM, scenarios.Cilium, scenarios.Datastore, scenarios.Calico)
	c.ClientQPS = one(d, "client qps", 0, 0, 5)
	c.PodSubnetCIDR, c.Ranges = scenarios.CIDR(systemSubnet), []netip.Prefix{systemFirst}
	switch c.System {
	case scenarios.NodeIPAM:
		c.PodSubnetOneNodePrefixLen = one(d, "prefix length", 24, 26, 28)
		c.NodeIPAM.Allocator = one(d, "allocator", scenarios.RangeAllocator, scenarios.RangeAllocator, scenarios.CloudAllocator, scenarios.IPAMFromCluster, scenarios.IPAMFromCloud)
	case scenarios.Cilium:
		c.PodSubnetOneNodePrefixLen = one(d, "prefix length", 26, 27, 28)
		c.Cilium.PreAllocate = one(d, "pre-allocate", 0, 2, 8)
		c.Cilium.Mode = one(d, "mode", scenarios.MultiPool, scenarios.ClusterPool, scenarios.ENI, scenarios.CRD)
		if c.SingleAddresses() {
			c.PodSubnetOneNodePrefixLen = 0
			c.Cilium.MinAllocate, c.Cilium.MaxAboveWatermark = one(d, "min-allocate", 0, 10), one(d, "max-above-watermark", 0, 4)
			c.Cilium.ReleaseDelay = one(d, "release delay", time.Second, 3*time.Minute)
			if c.OnEC2() {
				c.Datastore.Requests = one(d, "requests", 0, 2)
			} else {
				c.Cilium.Expiration = one(d, "expiration", 30*time.Second, 10*time.Minute)
			}
		}
	case scenarios.Datastore:
		c.PodSubnetOneNodePrefixLen = 0
		c.Datastore.Cooling = one(d, "cooling", time.Second, 30*time.Second)
		c.Datastore.WarmIP = one(d, "warm ip", 0, 3, 20)
		c.Datastore.MetadataLag = one(d, "metadata lag", time.Second, time.Minute)
		c.Datastore.Requests = one(d, "requests", 0, 2)
		c.Datastore.PrefixDelegation = d.coin("prefix delegation", 2)
		c.Datastore.TrunkENI = d.coin("trunk", 4)
		c.Datastore.Subnets = one(d, "subnets", nil, nil, systemZones, systemCustom)
	case scenarios.Calico:
		c.PodSubnetOneNodePrefixLen = one(d, "prefix length", 26, 28, 29)
		if d.coin("tight", 3) {
			c.Ranges[0] = systemTight
		}
		c.Calico.StrictAffinity = d.coin("strict affinity", 3)
		c.Calico.MaxBlocks = one(d, "blocks", 20, 2)
		c.Calico.EmptyBlockGrace = one(d, "grace", time.Second, 15*time.Minute)
	}
	if c.System == scenarios.Datastore {
		c.ClientQPS = 0 // ipamd asks EC2
	}
	if c.System == scenarios.Cilium && c.Cilium.Mode == scenarios.ClusterPool {
		c.Cilium.PreAllocate = scenarios.DefaultConfig().IPAM.Cilium.PreAllocate // of blocks, and a node has one
	}
	second := false
	for i := range s.Timeline {
		if _, ok := s.Timeline[i].Action.(scenarios.ChangeCIDR); !ok {
			continue
		}
		aliases := c.System == scenarios.NodeIPAM && c.NodeIPAM.Allocator != scenarios.RangeAllocator
		switch leads := c.System != scenarios.Datastore; {
		case aliases: // such allocators keep the range that they started with
			s.Timeline[i].Action = lostLeader(d)
		case leads && d.coin("leader lost", 2):
			s.Timeline[i].Action = lostLeader(d)
		case second && c.Cilium.Mode != scenarios.ClusterPool:
			s.Timeline[i].Action = scenarios.RemoveRange{CIDR: systemSecond}
			second = false
		case second:
			s.Timeline[i].Action = scenarios.LoseLeader{Pause: d.between("pause", time.Second, time.Minute)} // cluster-pool takes no range back
		default:
			s.Timeline[i].Action = scenarios.AddRange{CIDR: systemSecond}
			second = true
		}
	}
}

// drawTight leaves some of the other systems' clusters, too, few blocks or addresses, so that ranges run out until there is a second one or pods and
// nodes go.
func (d drawer) drawTight(c *scenarios.IPAM) {
	if c.System == scenarios.Calico || len(c.Datastore.Subnets) > 0 || !d.coin("tight ranges", 4) {
		return
	}
	bits := c.Ranges[0].Bits() + 8
	if c.PodSubnetOneNodePrefixLen != 0 {
		bits = c.PodSubnetOneNodePrefixLen - 2 - d.c.Pick("eight blocks, not four", 2)
	}
	c.Ranges[0] = netip.PrefixFrom(c.Ranges[0].Addr(), bits)
}

// asked are the requests of each system's programs, by their names in faults.
var asked = map[scenarios.System][]string{
	scenarios.NodeIPAM: {"node-list", "node-get", "node-touch", "node-patch", "node-condition", "alias-read", "alias-add"},
	scenarios.Cilium: {"ledger-read", "ledger-check", "ledger-begin", "ledger-append", "ledger-strike", "resource-write", "resource-ask", "resource-make",
		"list-enis", "assign-ips", "unassign-ips"},
	scenarios.Datastore: {"describe-enis", "read-imds", "set-up-eni", "assign-units", "unassign-units", "create-eni", "delete-eni"},
	scenarios.Calico:    {"block-assign", "block-release", "block-tend"},
}

// drawAsked has something go wrong with one kind of the system's requests: chance strikes all kinds alike, and most requests are of few.
func (d drawer) drawAsked(s *scenarios.Scenario) {
	if d.coin("request of the system", 3) {
		s.Faults.Inject = append(s.Faults.Inject, d.askedFault(s.Config.IPAM.System))
	}
}

// askedFault draws what goes wrong with a system's request.
func (d drawer) askedFault(system scenarios.System) string {
	names := asked[system]
	name := names[d.c.Pick("which request of the system", len(names))]
	when := one(d, "when it goes wrong", "Nth", "First") + " " + strconv.Itoa(1+d.c.Pick("how often it goes wrong", 4))
	outcome := one(d, "how it goes wrong", "Mute", "Vanish", "(Refuse 0)", "(Refuse 0)", "(Delay 3s)", "CrashBefore", "CrashAfter")
	return "(" + when + " (Request " + name + " " + outcome + "))"
}

// lostLeader is a leader that is cut off or, sometimes, stands still for longer than its lease.
func lostLeader(d drawer) scenarios.LoseLeader {
	a := scenarios.LoseLeader{Pause: d.between("pause", time.Second, time.Minute), Within: d.coin("within takeover", 2)}
	a.Asleep = !a.Within && a.Pause >= 20*time.Second && d.coin("asleep", 2)
	return a
}
