package controllers

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/ec2"
)

// sized is how far a node is from what AWS documents of its targets (amazon-vpc-cni-k8s, docs/eni-and-ip-target.md and
// docs/prefix-and-ip-target.md), in units: so many more it may ask EC2 for, and so many it is to give back. It is worked out here anew, so that ipamd is not
// judged by its own sums.
type sized struct{ short, over int }

func (d *ipamd) sized(s datastore.Stats) sized {
	t := d.system.env.Plan.Datastore
	unit, per := 1, d.system.limits.IPv4PerENI-1
	if t.PrefixDelegation {
		unit = unitSize
	}
	units := func(addresses int) int { return max(addresses+unit-1, 0) / unit }
	available := s.AvailableAddresses()
	switch taken := s.TotalIPs - available; {
	case t.WarmIP > 0 || t.MinimumIP > 0:
		z := sized{short: units(max(t.WarmIP-available, t.MinimumIP-s.TotalIPs))}
		if t.PrefixDelegation {
			z.over = min(s.FreePrefixes, s.TotalPrefixes-units(taken+t.WarmIP), s.TotalPrefixes-units(t.MinimumIP))
		} else {
			z.over = min(available-t.WarmIP, s.TotalIPs-t.MinimumIP)
		}
		z.over = max(z.over, 0)
		return z
	case t.PrefixDelegation && t.WarmPrefix > 0:
		return sized{max(t.WarmPrefix-s.FreePrefixes, 0), max(s.FreePrefixes-t.WarmPrefix, 0)}
	case available == 0:
		if t.PrefixDelegation {
			return sized{short: 1}
		}
		return sized{short: per}
	case t.PrefixDelegation:
		if available == s.FreePrefixes*unitSize { // nothing else is available
			return sized{over: max(s.FreePrefixes-1, 0)}
		}
		return sized{over: s.FreePrefixes}
	case available < t.WarmENI*per: // interfaces' worth of addresses are asked for, and only interfaces go back
		return sized{short: per}
	}
	return sized{}
}

// returning is since when a life of ipamd could have given back what it has too many of.
type returning struct {
	since time.Duration
	waits bool
	// shrunk is when it began to do so last, failed when a request of its failed last, both by the agent's own time.
	shrunk, failed time.Time
}

// pauseLongest is how long ipamd leaves EC2 alone at the most behind a failure.
const pauseLongest = 5 * time.Minute

// returns tells how long ipamd, when it begins to give units back, could have done so, and of one that could and does not.
func (d *ipamd) returns(begins bool) {
	r, now := &d.returning, d.system.env.Clock.Now()
	told := func() {
		since := now
		if r.waits {
			since = r.since
		}
		if paced := d.system.env.Paced; paced != nil {
			paced(d.node, scenarios.PacedReturn, now-since)
		}
	}
	if begins {
		told()
		r.shrunk, r.waits = d.side.Now(), false
		return
	}
	// What a subnet without whole prefixes gave instead stays.
	mixed := d.system.env.Plan.Datastore.PrefixDelegation && slices.ContainsFunc(d.told, func(p netip.Prefix) bool { return p.Bits() != 28 })
	able := d.manager.Ready() && d.idle() && !d.manager.Joining() && !mixed && d.sized(d.pool.GetIPStats()).over > 0 &&
		d.side.Now().Sub(r.shrunk) >= 30*time.Second && (r.failed.IsZero() || d.side.Now().Sub(r.failed) > pauseLongest)
	switch {
	case !able:
		r.waits = false
	case !r.waits:
		r.waits, r.since = true, now
	default:
		told()
	}
}

// idle reports whether no call is under way but a look at the metadata service.
func (d *ipamd) idle() bool { return d.leaving == nil && d.asked == d.looking }

// calledFor says why a call is needless, "" where something calls for it: before is what the node had when ipamd decided on it for the reason ev.
func (d *ipamd) calledFor(c datastore.Call, before sized, ev datastore.Event) string {
	_, woke := ev.(datastore.Woke)
	switch c.Op {
	case datastore.AssignUnits, datastore.CreateENI:
		if !woke {
			return "" // for less, as what was asked for was refused
		}
		if c.Units < 1 {
			return "asks for no units at all"
		}
		if c.Op == datastore.CreateENI && d.full() {
			return "makes an interface, and the instance has as many as it may"
		}
		if c.Units > before.short {
			return fmt.Sprintf("asks for %d units, and the node is short of %d by its targets", c.Units, before.short)
		}
		if eni := d.room(); c.Op == datastore.CreateENI && eni != "" {
			return "makes an interface, and " + eni + " has room"
		}
	case datastore.UnassignUnits:
		if len(c.Prefixes) > before.over {
			return fmt.Sprintf("gives %d units back, and the node has %d too many by its targets", len(c.Prefixes), before.over)
		}
	case datastore.DeleteENI:
		if whose := d.kept(c.ENI); whose != "" {
			return "gives an interface back that " + whose
		}
		if rest := d.sized(d.pool.GetIPStats()); rest.short > before.short {
			return fmt.Sprintf("gives an interface back without which the node is short of %d units by its targets", rest.short)
		}
	case datastore.DescribeENIs:
		if d.sure {
			return "is made although the last answers said that all is as it is known"
		}
	case datastore.SetUpENI:
		if d.pool.Units(c.ENI) != nil {
			return "is made for an interface that is in use"
		}
	}
	return ""
}

// kept says why an interface is not ipamd's to give back, "" where it may be.
func (d *ipamd) kept(eni string) string {
	cloud := d.system.instances[d.node]
	if cloud == nil {
		return ""
	}
	list := cloud.Metadata(d.system.env.now().Add(time.Hour)) // as it is now, past the lag
	i := slices.IndexFunc(list, func(e ec2.ENI) bool { return e.ID == eni })
	switch {
	case i < 0:
		return ""
	case list[i].Trunk:
		return "is the trunk of pods with interfaces of their own"
	case list[i].Primary:
		return "is the instance's own"
	}
	for l := range d.system.allocs[d.node].Leases() {
		if slices.ContainsFunc(list[i].Units, func(p netip.Prefix) bool { return p.Contains(l.Addr) }) {
			return "has " + l.Addr.String() + ", a pod's address"
		}
	}
	return ""
}

// full reports whether ipamd has, and the metadata service shows, as many interfaces as the instance may have beside a trunk: what was deleted just now may
// be shown still.
func (d *ipamd) full() bool {
	cloud := d.system.instances[d.node]
	if cloud == nil {
		return false
	}
	most, list := d.system.limits.ENIs, cloud.Metadata(d.system.env.now())
	if d.system.env.Plan.Datastore.TrunkENI && !slices.ContainsFunc(list, func(e ec2.ENI) bool { return e.Trunk }) {
		most--
	}
	return min(len(list), d.pool.GetENIs()) >= most
}

// room is an interface that takes units and is not full, "" for none.
func (d *ipamd) room() string {
	cloud := d.system.instances[d.node]
	if cloud == nil {
		return ""
	}
	custom := d.system.env.Plan.Datastore.CustomNetworking()
	for _, e := range cloud.Metadata(d.system.env.now()) {
		if units := d.pool.Units(e.ID); units != nil && !e.Trunk && !(custom && e.Primary) && len(units) < d.system.limits.IPv4PerENI-1 {
			return e.ID
		}
	}
	return ""
}

// heardOf notes what an answer says of whether EC2 is to be asked what there is.
func (d *ipamd) heardOf(c datastore.Call, r datastore.Result) {
	if d.vain++; r.Err == nil {
		d.vain = 0
	}
	d.heardAt = d.system.env.Clock.Now()
	switch {
	case r.Err != nil:
		d.sure = false
		if c.Op != datastore.ReadIMDS {
			d.returning.failed = d.side.Now()
		}
	case c.Op == datastore.DescribeENIs:
		d.sure = true
	case c.Op == datastore.ReadIMDS && c.ENI == "":
		d.sure = d.agrees(r.ENIs)
	}
}

// agrees reports whether the metadata service shows what ipamd knows.
func (d *ipamd) agrees(list []datastore.AttachedENI) bool {
	if len(list) != d.pool.GetENIs() {
		return false
	}
	for _, e := range list {
		seen := slices.Clone(e.Units)
		slices.SortFunc(seen, netip.Prefix.Compare)
		if units := d.pool.Units(e.ID); units == nil || !slices.Equal(units, seen) {
			return false
		}
	}
	return true
}
