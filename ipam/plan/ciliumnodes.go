package plan

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// CiliumNodes is a cluster whose operator keeps each CiliumNode supplied with single addresses by watermarks: of EC2 in
// Cilium's mode eni, of an address service in its mode crd.
type CiliumNodes struct {
	// Zones are the subnets of mode eni, Ranges those that an address service gives out; one of both is set.
	Zones  []Zone
	Ranges []netip.Prefix
	// ENIs and PerENI are what an instance may have of mode eni, PerENI in addresses or, with prefix delegation, prefixes; an
	// interface's own address does not count.
	ENIs, PerENI int
	// Watermark has the operator's targets. Its Limit is not used.
	Watermark Watermark
	// Keys are the configuration's names where they are not upstream's.
	Keys   Keys
	Fabric Fabric
}

func (CiliumNodes) System() string { return "cilium" }

func (s CiliumNodes) Draft(d *Draft, c Cluster) error {
	switch {
	case len(s.Zones) == 0 && len(s.Ranges) == 0:
		return errors.New("neither a subnet nor a range")
	case len(s.Zones) > 0 && (s.ENIs < 1 || s.PerENI < 0 || s.ENIs > unitsMax || s.PerENI > unitsMax):
		return fmt.Errorf("an instance with %d ENIs of %d addresses", s.ENIs, s.PerENI+1)
	}
	most := s.most(d)
	pods := min(c.PodsPerNode, most)
	note := fmt.Sprintf("nodes are counted at the expected %s each", plural(c.PodsPerNode, "pod"))
	if c.PodsPerNode == 0 && most < countMax || c.PodsPerNode > most {
		pods = most
		note = fmt.Sprintf("nodes are counted when full, with %s each", plural(most, "pod"))
	}
	row := s.row(int(min(pods, ciliumNumberMax)))
	d.Notes = append(d.Notes, fmt.Sprintf("%s: then a node has at most %s, %d of them ready for pods to come", note, plural(uint64(row.Held), "address"), row.Available))
	var err error
	if len(s.Zones) > 0 {
		d.podsEach = uint64(row.Assigned)
		d.Reserve("ENI", "the ENI's own address", 1, "ENI")
		if s.Watermark.Prefixes {
			d.Notes = append(d.Notes, "where a subnet has no whole /28 left, nodes get single addresses beside their prefixes, or instead of them, which are not counted here")
		}
		err = (Datastore{Zones: s.Zones, Sizing: datastore.Sizing{ENIsMax: s.ENIs, UnitsPerENI: s.PerENI, PrefixDelegation: s.Watermark.Prefixes}}).zones(d, row)
	} else {
		err = s.served(d, c, row)
	}
	s.Fabric.Draft(d)
	s.targets(d, c, row)
	return err
}

// most adds what ends the pods of a node whatever the subnets have.
func (s CiliumNodes) most(d *Draft) uint64 {
	most := uint64(countMax)
	add := func(what string, fits int, why string) {
		d.Pod(what, uint64(fits), why)
		most = min(most, uint64(fits))
	}
	if len(s.Zones) > 0 {
		unit := "addresses"
		if s.Watermark.Prefixes {
			unit = "/28 prefixes"
		}
		add("instance's ENIs", s.limit(), fmt.Sprintf("%s of %d %s", plural(uint64(s.ENIs), "ENI"), s.PerENI, unit))
	}
	m := s.Watermark.Marks
	if m.MaxAllocate > 0 {
		add(fmt.Sprintf("maxAllocate %d", m.MaxAllocate), m.MaxAllocate, "the operator gives a node no more")
	}
	if m.Unused() == 0 {
		add(fmt.Sprintf("minAllocate %d", m.MinAllocate), m.MinAllocate, "without preAllocate nothing more is asked for")
	}
	return most
}

// limit is how many addresses a node may have, 0 without one.
func (s CiliumNodes) limit() int { return s.ENIs * s.each() }

// each is how many addresses an interface may have.
func (s CiliumNodes) each() int {
	if s.Watermark.Prefixes {
		return s.PerENI * datastore.DelegatedIPs
	}
	return s.PerENI
}

// row is what a node with so many pods has at most: as much as it asks for when it has too little by one.
func (s CiliumNodes) row(pods int) Row {
	w := s.Watermark
	w.Limit = s.limit()
	row := w.Explain(pods)[0]
	if m := w.Marks; row.Waiting == 0 && m.Unused() > 0 {
		held := max(row.Held, pods+m.Unused()+m.MaxAboveWatermark)
		if m.MaxAllocate > 0 {
			held = min(held, m.MaxAllocate)
		}
		if held = w.whole(held); w.Limit > 0 {
			held = min(held, w.Limit)
		}
		row.Held = max(row.Held, held)
		row.Available = row.Held - row.Assigned
	}
	each := s.each()
	row.PerENI = []int{min(row.Held, each)} // every instance has one
	for rest := row.Held - each; rest > 0 && each > 0; rest -= each {
		row.PerENI = append(row.PerENI, min(rest, each))
	}
	if w.Prefixes {
		row.Prefixes = row.Held / datastore.DelegatedIPs
	}
	return row
}

// served counts what an address service has.
func (s CiliumNodes) served(d *Draft, c Cluster, row Row) error {
	all, name := uint64(0), cmp.Or(s.Keys.Range, "ranges")
	for _, p := range s.Ranges {
		r := Range{Name: name, Prefix: space.Normal(p), Purpose: "pods", use: usePods}
		if !r.Prefix.IsValid() {
			return fmt.Errorf("%s: a range is empty", name)
		}
		d.Ranges = append(d.Ranges, r)
		all = plus(all, less(space.Count(r.Prefix), 2))
	}
	d.Reserve(name, "first and last address of a range", uint64(2*len(s.Ranges)), "cluster")
	what := fmt.Sprintf("%s, %s", name, plural(all, "address"))
	// What is ready on a node is for its pods. It is lost to those of other nodes, and the last node needs none.
	ready := uint64(row.Available)
	switch {
	case all == 0:
		d.Node(what, 0, "no address")
	case row.Held > 0:
		d.Node(what, plus(all, ready)/uint64(row.Held), fmt.Sprintf("%s each, %d of them ready, which the last node does without", plural(uint64(row.Held), "address"), ready))
	default:
		d.Node(what, countMax, "a node without pods has none")
	}
	switch {
	case c.Nodes > 1:
		d.Pod(what, less(all, times(c.Nodes-1, ready))/c.Nodes, fmt.Sprintf("an equal share for %s, but for the %d that each of the others keeps ready", plural(c.Nodes, "node"), ready))
	case c.Nodes == 1:
		d.Pod(what, all, "the node may have every address")
	default:
		d.Pod(what, all, "one node may have every address")
	}
	if c.Nodes > 0 && c.PodsPerNode > 0 && times(c.Nodes, uint64(row.Held)) > all {
		d.Find(ruleWarmShort, Warning, what, fmt.Sprintf("%s with %s ask for %d more than there are, so some have none ready", plural(c.Nodes, "node"), plural(uint64(row.Assigned), "pod"), times(c.Nodes, uint64(row.Held))-all),
			"add a range, or set preAllocate lower")
	}
	d.podsKnown, d.Pods = true, all
	return nil
}

// targets judges the watermarks.
func (s CiliumNodes) targets(d *Draft, c Cluster, row Row) {
	m := s.Watermark.Marks
	if m.Unused() == 0 {
		d.Find(ruleWarmNothing, Error, "preAllocate none", fmt.Sprintf("a node with the addresses of minAllocate %d asks for no more, so further pods wait for ever", m.MinAllocate),
			"set preAllocate to the pods that start at once, at least 1")
	}
	least := s.Watermark.Prefixes && row.Held <= datastore.DelegatedIPs // a node with pods has a prefix at least
	if c.PodsPerNode > 0 && row.Available > row.Assigned && !least {
		d.Find(ruleWarmIdle, Warning, fmt.Sprintf("preAllocate %d", m.Unused()), fmt.Sprintf("a node with %s keeps %d more addresses ready", plural(c.PodsPerNode, "pod"), row.Available),
			"set preAllocate, minAllocate and maxAboveWatermark lower")
	}
}
