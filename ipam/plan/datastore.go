package plan

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Datastore is a cluster of EC2 instances whose pods have addresses of the VPC.
type Datastore struct {
	// Zones are the subnets that instances are started in.
	Zones []Zone
	// Sizing is what each instance keeps and may have.
	Sizing datastore.Sizing
	// Kept is how many addresses of each delegated prefix no pod gets: none with a gateway outside of it, as upstream has,
	// and 4 where datastore.Node has to find one inside.
	Kept int
	// Fabric has the ranges that the wiring needs beside the VPC.
	Fabric Fabric
}

// Zone is one subnet for instances.
type Zone struct {
	// Name is the subnet's key in the configuration; "subnet" when empty.
	Name   string
	Subnet netip.Prefix
	// Pods is the subnet of the pods' ENIs with custom networking; the zero Prefix is Subnet itself. Sizing.SkipPrimary
	// goes with it.
	Pods netip.Prefix
	// Usable are the parts of the pods' subnet that this cluster has; all of it when there are none.
	Usable []netip.Prefix
	// Taken are addresses and prefixes of it that others have.
	Taken []netip.Prefix
}

func (Datastore) System() string { return "datastore" }

func (s Datastore) Draft(d *Draft, c Cluster) error {
	z := s.Sizing
	switch {
	case len(s.Zones) == 0:
		return errors.New("no subnet")
	case s.Kept < 0 || s.Kept >= datastore.DelegatedIPs:
		return fmt.Errorf("%d addresses kept of a prefix of %d", s.Kept, datastore.DelegatedIPs)
	case z.ENIsMax < 1 || z.UnitsPerENI < 0 || z.UnitsPerENI > unitsMax || z.ENIsMax > unitsMax:
		return fmt.Errorf("an instance with %d ENIs of %d addresses", z.ENIsMax, z.UnitsPerENI+1)
	}
	full := s.perNode()
	w := Warm{Sizing: z, Kept: s.Kept}
	// Without a warm target a node that has its minimum asks for no more, whatever waits.
	most := uint64(w.Explain(int(full))[0].Assigned)
	pods := min(c.PodsPerNode, most)
	note := fmt.Sprintf("nodes are counted at the expected %s each", plural(c.PodsPerNode, "pod"))
	if c.PodsPerNode == 0 || c.PodsPerNode > most {
		pods = most
		note = fmt.Sprintf("nodes are counted when full, with %s each", plural(most, "pod"))
	}
	e := w.Explain(int(pods))[0]
	d.Notes = append(d.Notes, fmt.Sprintf("%s: then a node has %s with %s, %d of them ready for pods to come",
		note, plural(uint64(len(e.PerENI)), "ENI"), plural(uint64(e.Held), "address"), e.Available))
	if err := s.zones(d, e); err != nil {
		return err
	}
	unit := "addresses"
	if z.PrefixDelegation {
		unit = "/28 prefixes"
	}
	d.Pod("instance's ENIs", full, fmt.Sprintf("%s of %d %s", plural(uint64(s.usableENIs()), "ENI"), z.UnitsPerENI, unit))
	if most < full {
		d.Pod(fmt.Sprintf("MINIMUM_IP_TARGET %d", z.MinimumIP), most, "without WARM_IP_TARGET nothing more is asked for")
	}
	d.podsEach = uint64(e.Assigned)
	d.Reserve("ENI", "the ENI's own address", 1, "ENI")
	if s.Sizing.PrefixDelegation {
		d.Reserve("delegated prefix", "addresses that the wiring keeps", uint64(max(s.Kept, 0)), "prefix")
	}
	s.Fabric.Draft(d)
	s.targets(d, e, c)
	return nil
}

// unitsMax bounds what an instance may have; the largest types have 60 ENIs of 50 addresses.
const unitsMax = 128

func (s Datastore) usableENIs() int {
	if s.Sizing.SkipPrimary {
		return s.Sizing.ENIsMax - 1
	}
	return s.Sizing.ENIsMax
}

// perNode is how many pods an instance can have addresses for. A trunk takes an ENI.
func (s Datastore) perNode() uint64 {
	n := s.usableENIs()
	if s.Sizing.TrunkSlot {
		n--
	}
	each := 1
	if s.Sizing.PrefixDelegation {
		each = max(datastore.DelegatedIPs-s.Kept, 0)
	}
	return uint64(max(n, 0) * s.Sizing.UnitsPerENI * each)
}

// prefixSize is how many pods a delegated prefix is enough for, 0 without prefix delegation.
func (s Datastore) prefixSize() int {
	if !s.Sizing.PrefixDelegation {
		return 0
	}
	return max(datastore.DelegatedIPs-s.Kept, 1)
}

// zones counts the nodes that come to rest with e in each zone. Nodes are spread evenly, as autoscaling groups and
// schedulers do, so that the smallest zone ends the cluster.
func (s Datastore) zones(d *Draft, e Row) error {
	least, most, sum, room := uint64(countMax), uint64(0), uint64(0), uint64(0)
	var first string
	for _, z := range s.Zones {
		nodes, pods := space.Normal(z.Subnet), space.Normal(z.Pods)
		if pods == nodes {
			pods = netip.Prefix{}
		}
		own, err := newSubnet(d, cmp.Or(z.Name, "subnet"), "nodes and pods", nodes, usableOf(z, !pods.IsValid()))
		if err != nil {
			return err
		}
		other := own
		if pods.IsValid() {
			d.Ranges[len(d.Ranges)-1].Purpose = "nodes"
			if other, err = newSubnet(d, "podSubnet", "pods", pods, z.Usable); err != nil {
				return err
			}
		}
		if own == nil || other == nil {
			continue
		}
		other.take(d, z.Taken)
		room = max(room, s.room(other))
		blocks, n := other.blocks(), uint64(0)
		for takeNode(own, other, e, s.prefixSize()) {
			n++
		}
		if sum = plus(sum, n); n < least {
			least, first = n, cmp.Or(z.Name, "subnet")+" "+z.Subnet.String()
		}
		most = max(most, n)
		if each := uint64(e.Prefixes); s.Sizing.PrefixDelegation && each > 0 && n < blocks/each {
			d.Find(rulePieces, Warning, d.Ranges[len(d.Ranges)-1].String(),
				fmt.Sprintf("its %d whole /28 prefixes are enough for %s, but ENIs' own addresses break some, and %s", blocks, plural(blocks/each, "node"), countText(n)+fit(n)),
				"reserve a part of the subnet for prefixes (EC2's subnet CIDR reservation), or give prefixes a subnet of their own")
		}
	}
	what, total := cmp.Or(s.Zones[0].Name, "subnet")+" "+s.Zones[0].Subnet.String(), sum
	if len(s.Zones) > 1 {
		what = fmt.Sprintf("%d subnets", len(s.Zones))
	}
	if sum > 0 && least < most {
		total = times(least, uint64(len(s.Zones)))
		d.Find(ruleZones, Warning, first, fmt.Sprintf("it ends at %s and another subnet at %d: spread evenly over %d subnets %s, %s if the others are filled up", plural(least, "node"),
			most, len(s.Zones), plural(total, "node")+fit(total), countText(sum)), "give all zones subnets of one size")
	}
	if full := s.perNode(); room < full {
		d.Pod(what, room, "one node may have what a subnet has free beside its ENIs' own addresses")
	}
	units := e.Held
	if s.Sizing.PrefixDelegation {
		units = e.Prefixes
		d.Node(what, total, fmt.Sprintf("%s and %s of /28 each", plural(uint64(len(e.PerENI)), "ENI address"), plural(uint64(units), "prefix")))
		return nil
	}
	d.Node(what, total, fmt.Sprintf("%d addresses each: %d for ENIs, %d for pods", len(e.PerENI)+units, len(e.PerENI), units))
	return nil
}

// room is how many pods one node can have addresses for in a subnet of which nobody else has taken anything yet, once it
// has all its ENIs.
func (s Datastore) room(of *subnet) uint64 {
	free, blocks := of.without(s.Sizing.ENIsMax)
	if s.Sizing.PrefixDelegation {
		return times(blocks, uint64(s.prefixSize()))
	}
	return free
}

// usableOf are the usable parts of a zone's first subnet.
func usableOf(z Zone, podsToo bool) []netip.Prefix {
	if podsToo {
		return z.Usable
	}
	return nil
}

// takeNode takes what a node needs, in the order in which it asks, and reports whether it got all.
func takeNode(own, pods *subnet, e Row, perPrefix int) bool {
	for i, addresses := range e.PerENI {
		from := pods
		if i == 0 {
			from = own
		}
		if !from.address() {
			return false
		}
		if perPrefix > 0 {
			for range addresses / perPrefix {
				if !pods.block() {
					return false
				}
			}
			continue
		}
		for range addresses {
			if !pods.address() {
				return false
			}
		}
	}
	return true
}

// targets judges the warm targets.
func (s Datastore) targets(d *Draft, e Row, c Cluster) {
	z := s.Sizing
	key := "WARM_ENI_TARGET"
	nothing := z.WarmENI == 0
	if z.PrefixDelegation {
		key, nothing = "WARM_PREFIX_TARGET", z.WarmPrefix == 0
	}
	if !z.Addressed() && nothing {
		d.Find(ruleWarmNothing, Warning, key+" 0", "nothing is kept ready, so a pod that finds no address waits for EC2, up to 10 s for an ENI",
			"keep one, or set WARM_IP_TARGET and MINIMUM_IP_TARGET")
	}
	if z.Addressed() && z.WarmIP == 0 {
		d.Find(ruleWarmNothing, Error, "WARM_IP_TARGET 0", fmt.Sprintf("a node with the addresses of MINIMUM_IP_TARGET %d asks for no more, so further pods wait for ever", z.MinimumIP),
			"set WARM_IP_TARGET to the pods that start at once, at least 1")
	}
	if c.PodsPerNode == 0 {
		return
	}
	if idle := e.Available; uint64(idle) > uint64(e.Assigned) {
		d.Find(ruleWarmIdle, Warning, key, fmt.Sprintf("a node with %s keeps %d more addresses ready", plural(c.PodsPerNode, "pod"), idle),
			fmt.Sprintf("WARM_IP_TARGET 2 with MINIMUM_IP_TARGET %d would keep few", c.PodsPerNode+2))
	}
	if z.Addressed() && !z.PrefixDelegation && uint64(z.MinimumIP) < c.PodsPerNode && len(e.Steps) > 2*len(e.PerENI) {
		d.Find(ruleWarmCalls, Warning, fmt.Sprintf("MINIMUM_IP_TARGET %d", z.MinimumIP),
			fmt.Sprintf("it is below the expected %s, so a node asks EC2 %d times until it has what they need", plural(c.PodsPerNode, "pod"), len(e.Steps)),
			fmt.Sprintf("set it slightly above %d", c.PodsPerNode))
	}
}
