package controllers

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/blockranges"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// pool is the IPPool of a range.
type pool struct {
	name string
	cidr netip.Prefix
}

func calicoObject(kind, name string, spec apiserver.Object) apiserver.Object {
	return apiserver.Object{"apiVersion": kube.CalicoGroup + "/" + kube.CalicoVersion, "kind": kind, "metadata": apiserver.Object{"name": name}, "spec": spec}
}

// openPools makes the IPAMConfig, and an IPPool of each range that the plan starts with.
func (s *Set) openPools() error {
	own := scenarios.SectionOf[scenarios.CalicoIPAM](s.Plan)
	if err := s.Put(apiserver.CalicoConfigs, calicoObject(kube.CalicoConfigKind, "default",
		apiserver.Object{"strictAffinity": own.StrictAffinity, "autoAllocateBlocks": true, "maxBlocksPerHost": own.MaxBlocks})); err != nil {
		return err
	}
	ranges, err := blockranges.Start(s.Plan)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		if err := s.openPool(r); err != nil {
			return err
		}
	}
	for _, p := range own.Pools {
		if err := s.putPool(p.Name, p.CIDR, p.Selector()); err != nil {
			return err
		}
	}
	return nil
}

// openPool makes another part of the default pool, which is of all nodes.
func (s *Set) openPool(r netip.Prefix) error {
	s.mu.Lock()
	s.poolsMade++
	p := pool{name: "pool-" + strconv.Itoa(s.poolsMade), cidr: r}
	s.pools = append(s.pools, p)
	s.mu.Unlock()
	return s.putPool(p.name, r, "all()")
}

func (s *Set) putPool(name string, r netip.Prefix, selector string) error {
	return s.Put(kube.IPPoolResource, calicoObject(kube.IPPoolKind, name,
		apiserver.Object{"cidr": r.String(), "blockSize": s.Plan.Resolved().OfFamily(r.Addr()).PodSubnetOneNodePrefixLen, "nodeSelector": selector}))
}

// closePool deletes the IPPool of a range: its blocks give no more addresses.
func (s *Set) closePool(r netip.Prefix) error {
	s.mu.Lock()
	i := slices.IndexFunc(s.pools, func(p pool) bool { return p.cidr == r })
	var name string
	if i >= 0 {
		name = s.pools[i].name
		s.pools = slices.Delete(s.pools, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 {
		return fmt.Errorf("there is no range %s", r)
	}
	return s.Remove(kube.IPPoolResource, name)
}
