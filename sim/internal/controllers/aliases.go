package controllers

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// aliasTime is how long a read of an instance takes in GCE, a change of it changeTime.
const aliasTime = 200 * time.Millisecond

// aliases are a GCE network as Kubernetes' controllers see it: which block of the cluster's range is an alias of which
// instance. No two instances have one, and what an instance had is free when it is deleted.
type aliases struct {
	within netip.Prefix
	bits   int
	// given: each instance gets a block when it is created; otherwise the controller brings it.
	given bool
	// keep is a range that no instance gets.
	keep netip.Prefix
	of   map[string]netip.Prefix
}

// cloudAliases is the cloud of an allocator that has one, nil for RangeAllocator.
func cloudAliases(kind scenarios.NodeAllocator, within netip.Prefix, bits int, service netip.Prefix) *aliases {
	if !kind.InCloud() {
		return nil
	}
	return &aliases{within: within, bits: bits, given: kind != scenarios.IPAMFromCluster, keep: service, of: make(map[string]netip.Prefix)}
}

// create makes an instance, with the first free block as its alias where the cloud gives one and has one.
func (a *aliases) create(instance string) {
	a.of[instance] = netip.Prefix{}
	if !a.given {
		return
	}
	for block := netip.PrefixFrom(a.within.Masked().Addr(), a.bits); a.within.Contains(block.Addr()); block = netip.PrefixFrom(space.Last(block).Next(), a.bits) {
		if a.free(block) {
			a.of[instance] = block
			return
		}
	}
}

func (a *aliases) free(block netip.Prefix) bool {
	if a.keep.IsValid() && a.keep.Overlaps(block) {
		return false
	}
	for _, b := range a.of { //vppdrill:unordered all of them are asked
		if b.IsValid() && b.Overlaps(block) {
			return false
		}
	}
	return true
}

func (a *aliases) delete(instance string) { delete(a.of, instance) }

// add makes a block an instance's alias; one that it has already is done.
func (a *aliases) add(instance string, block netip.Prefix) error {
	switch have, ok := a.of[instance]; {
	case !ok:
		return cluster.ErrNotFound
	case have == block:
		return nil
	case !a.free(block):
		return fmt.Errorf("%s is another instance's", block)
	}
	a.of[instance] = block
	return nil
}

// aliasesOf asks the cloud for an instance's ranges. No node waits for that: an instance with a block is checked again
// indefinitely.
func (c *controller) aliasesOf(e nodeipam.GetAliases) {
	var texts []string
	c.outside(fault.Op{Node: c.kind, Name: aliasRead, Key: e.Name}, aliasTime, func() error {
		have, ok := c.system.cloud.of[e.Name]
		if !ok {
			return cluster.ErrNotFound
		}
		if have.IsValid() {
			texts = []string{have.String()}
		}
		return nil
	}, func(err error) {
		c.step(nodeipam.Aliases{ID: e.ID, Outcome: outcome(err), Why: because(err), CIDRs: texts})
	}, c.crash)
}

// addAlias reports a node's block to the cloud.
func (c *controller) addAlias(e nodeipam.AddAlias) {
	c.system.requests++
	c.asked++
	c.outside(fault.Op{Node: c.kind, Name: aliasAdd, Key: e.Name}, changeTime, func() error { return c.system.cloud.add(e.Name, e.CIDR) }, func(err error) {
		c.asked--
		c.step(nodeipam.Answered{ID: e.ID, Outcome: outcome(err), Why: because(err)})
	}, c.crash)
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
