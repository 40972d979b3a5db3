package scenarios

import (
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/ipam/contiv"
)

// Cilium is Cilium's operator, with its agents in most modes.
const Cilium System = "cilium"

type ciliumRules struct{}

var ciliumSystem = AddressSystem{Name: Cilium, Rules: ciliumRules{}, Draws: ciliumRules{}, Attachment: struct{ Store, API int64 }{2, 6}, Daemon: "cilium-operator",
	Requests: []string{"ledger-read", "ledger-check", "ledger-begin", "ledger-append", "ledger-strike", "resource-write", "resource-ask", "resource-make",
		"list-enis", "assign-ips", "unassign-ips"}}

func (ciliumRules) Traits(c IPAM) Traits {
	mode := c.Cilium.Mode
	t := Traits{Leader: true, Daemons: mode != ClusterPool, EC2: mode == ENI, Single: mode == ENI || mode == CRD, Ranges: RangesComeAndGo}
	t.IPv6, t.Dual = !t.Single, !t.Single
	t.NoWanted = "Cilium's plugin asks its agent for any address of a pool"
	if t.Single {
		t.NoDual = "cilium's mode " + string(mode) + " gives single addresses of one family here; modes cluster-pool and multi-pool give both"
		t.NoReuseDelay = "is nothing that cilium has with mode " + string(mode) + ": what a node gives back is releaseDelay's affair"
	}
	for _, p := range c.Cilium.Pools {
		t.Pools = append(t.Pools, NamedPool{p.Name, p.IPv4})
	}
	if mode == MultiPool {
		t.DefaultPool = DefaultCiliumPool
	}
	if mode == ClusterPool {
		t.Ranges = RangesGrow
	}
	return t
}

func (ciliumRules) Check(s *Scenario, p contiv.Plan) *InputError {
	c := s.Config.IPAM
	switch c.Cilium.Mode {
	case ClusterPool:
		for i, step := range s.Timeline {
			if _, ok := step.Action.(RemoveRange); ok {
				return s.wrongAt("timeline["+strconv.Itoa(i)+"]", "cluster-pool does not take ranges back")
			}
		}
	case CRD:
		if c.PodSubnetOneNodePrefixLen != 0 {
			return s.wrongAt("config.ipam.podSubnetOneNodePrefixLen", "is of no use with mode crd: nodes get single addresses")
		}
		return nil
	case ENI:
		const prefixes = "config.ipam.datastore.prefixDelegation"
		if _, said := s.at[prefixes]; said { // also what is its default: nobody who says it expects single addresses
			return s.wrongAt(prefixes, "is of datastore; Cilium's mode eni has config.ipam.cilium.prefixDelegation")
		}
		return s.checkEC2(c, p, "config.ipam.cilium.prefixDelegation", c.Cilium.PrefixDelegation)
	}
	for _, of := range p.Families() {
		if err := s.checkBlockCount(p, of); err != nil {
			return err
		}
		if c.Cilium.Mode == MultiPool && of.PodSubnet.Addr().Is4() {
			continue // blocks without room for a gateway have one outside
		}
		if err := s.checkBlockBits(lengthField(p, of), *of); err != nil {
			return err
		}
	}
	return s.checkRangesOfFamilies(p)
}

// blockCountBits is how many blocks a pool's range may be cut into, as a power of two: the operator counts no more.
const blockCountBits = 63

// checkBlockCount refuses ranges of a family with more blocks than a pool counts.
func (s *Scenario) checkBlockCount(p contiv.Plan, of *contiv.Plan) *InputError {
	ranges := []netip.Prefix{of.PodSubnet}
	if len(s.Config.IPAM.Ranges) > 0 {
		ranges = slices.Clone(s.Config.IPAM.Ranges)
	}
	for _, step := range s.Timeline {
		if a, ok := step.Action.(AddRange); ok {
			ranges = append(ranges, a.CIDR)
		}
	}
	for _, r := range ranges {
		if of.PodSubnet.Contains(r.Addr()) && of.PodSubnetOneNodePrefixLen-r.Bits() > blockCountBits {
			return s.wrongAt(lengthField(p, of), "/%d in %s: cilium cuts a range into at most 2^%d blocks", of.PodSubnetOneNodePrefixLen, r, blockCountBits)
		}
	}
	return nil
}

func (ciliumRules) Draw(d Chooser, c *IPAM) bool {
	c.PodSubnetOneNodePrefixLen = One(d, "prefix length", 26, 27, 28)
	usual := c.Cilium.PreAllocate
	c.Cilium.PreAllocate = One(d, "pre-allocate", 0, 2, 8)
	c.Cilium.Mode = One(d, "mode", MultiPool, ClusterPool, ENI, CRD)
	switch c.Cilium.Mode {
	case ClusterPool:
		c.Cilium.PreAllocate = usual // of blocks, and a node has one
	case ENI, CRD:
		c.PodSubnetOneNodePrefixLen = 0
		c.Cilium.MinAllocate, c.Cilium.MaxAboveWatermark = One(d, "min-allocate", 0, 10), One(d, "max-above-watermark", 0, 4)
		c.Cilium.ReleaseDelay = One(d, "release delay", time.Second, 3*time.Minute)
		if c.Cilium.Mode == ENI {
			c.Datastore.Requests = One(d, "requests", 0, 2)
			c.Cilium.PrefixDelegation = d.Pick("prefix delegation", 2) == 0
		} else {
			c.Cilium.Expiration = One(d, "expiration", 30*time.Second, 10*time.Minute)
		}
	}
	return false
}

// Life implements Draws: a block more when pods come, and one back when they have gone.
func (ciliumRules) Life(c *IPAM, _ PodWiring) int {
	c.PodSubnetOneNodePrefixLen = 28
	c.Cilium.PreAllocate = 2
	return 12
}
