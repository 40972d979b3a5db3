package controllers

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/sim/cluster"
	"github.com/vppdrill/vppdrill/sim/ec2"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// How long requests take: EC2's calls that change something, those that only read, the metadata service on the instance,
// rules and routes on the host.
const (
	changeTime   = 500 * time.Millisecond
	describeTime = 200 * time.Millisecond
	metadataTime = 2 * time.Millisecond
	setUpTime    = 50 * time.Millisecond
)

// ipamd is AWS VPC CNI's daemon on one node, for one life of its agent.
type ipamd struct {
	system  *cloudSystem
	node    string
	side    Side
	manager Manager
	pool    *datastore.NodePool
	dead    bool
	wake    uint64
	told    []netip.Prefix
	// leaving is a request to give units back that waits until the agent has dropped them.
	leaving *datastore.Call
	// asked counts calls under way.
	asked int
	// again: EC2 refused for now or did not answer; the manager asks again. unset are ENIs whose host's side could not be set up:
	// the next reconciliation tries again.
	again bool
	unset map[string]bool
	begun bool
}

func newIPAMD(s *cloudSystem, node string, side Side, alloc *datastore.Node) *ipamd {
	d := &ipamd{system: s, node: node, side: side, unset: make(map[string]bool), pool: datastore.NewNodePool(alloc, side.Now)}
	c := s.env.Plan.Datastore
	d.manager = datastore.NewNodeManager(d.pool, datastore.Sizing{
		Targets: datastore.Targets{WarmIP: c.WarmIP, MinimumIP: c.MinimumIP, WarmPrefix: c.WarmPrefix, WarmENI: c.WarmENI},
		ENIsMax: s.limits.ENIs, UnitsPerENI: s.limits.IPv4PerENI - 1, PrefixDelegation: c.PrefixDelegation,
		TrunkSlot: c.TrunkENI, SkipPrimary: c.CustomNetworking(),
	})
	if plant := s.env.Plant.Manager; plant != nil {
		d.manager = plant(node, d.pool, d.manager)
	}
	if plant := s.env.Plant.Side; plant != nil {
		d.side = plant(node, side)
	}
	return d
}

func (d *ipamd) soon() { d.after(0, "ipamd", func() { d.step(datastore.Woke{}) }) }

func (d *ipamd) after(t time.Duration, what string, do func()) {
	d.system.env.Clock.After(t, &step{d.node, what, func() {
		if !d.dead {
			do()
		}
	}})
}

func (d *ipamd) step(ev datastore.Event) {
	effects := slices.Clone(d.manager.Step(d.side.Now(), ev))
	d.begun = true
	if d.leaving != nil && !d.manager.Waits(*d.leaving) { // its units may be in use again
		d.leaving = nil
		d.asked--
	}
	for _, e := range effects {
		if d.dead {
			return
		}
		switch e := e.(type) {
		case datastore.Perform:
			d.perform(e.Call)
		case datastore.WakeAt:
			d.wakeAt(e.At)
		case datastore.Note:
			d.system.env.Note(d.node, "ipamd "+e.Text)
		case datastore.WantTrunk:
			d.system.trunk(d.node)
		}
	}
	stats := d.pool.GetIPStats()
	d.system.env.decided(d.node, "has %d addresses on %d ENIs, %d taken and %d resting; %s", stats.TotalIPs, d.pool.GetENIs(), stats.AssignedIPs, stats.CooldownIPs, cmp.Or(d.pending(), "asks for nothing"))
	d.tell()
}

// tell gives the agent its blocks once the manager knows what there is.
func (d *ipamd) tell() {
	if blocks := d.pool.Blocks(); d.manager.Ready() && !slices.Equal(blocks, d.told) {
		d.told = blocks
		d.system.env.Tell(d.node, blocks)
	}
}

func (d *ipamd) wakeAt(at time.Time) {
	d.wake++
	n := d.wake
	d.after(max(0, at.Sub(d.side.Now())), "ipamd wakes", func() {
		if d.wake == n {
			d.step(datastore.Woke{})
		}
	})
}

// perform makes a call: what gives units back only when the agent has dropped them.
func (d *ipamd) perform(c datastore.Call) {
	d.asked++
	if c.Op == datastore.UnassignUnits || c.Op == datastore.DeleteENI {
		d.leaving = &c
		d.after(0, "ipamd gives back", d.changed)
		return
	}
	d.request(c)
}

// changed goes on with what waits for the agent.
func (d *ipamd) changed() {
	if d.leaving == nil || !d.begun {
		return
	}
	blocks := d.pool.Blocks()
	for _, b := range d.side.Blocks() {
		if slices.Contains(blocks, b.Prefix) {
			continue
		}
		if d.occupied(b) {
			c := *d.leaving
			d.leaving = nil
			d.after(0, "ipamd keeps "+b.Prefix.String(), func() { d.answer(c, datastore.Result{Err: datastore.ErrIPInUse}) })
		}
		return
	}
	if d.side.Idle() {
		c := *d.leaving
		d.leaving = nil
		d.request(c)
	}
}

func (d *ipamd) occupied(b ipam.Block) bool {
	for l := range d.system.allocs[d.node].Leases() {
		if b.Prefix.Contains(l.Addr) {
			return true
		}
	}
	return false
}

func (d *ipamd) answer(c datastore.Call, r datastore.Result) {
	d.asked--
	r.Number = c.Number
	var refused *ec2.APIError
	if c.Op == datastore.SetUpENI {
		d.unset[c.ENI] = true
		if r.Err == nil {
			delete(d.unset, c.ENI)
		}
	}
	if c.Op == datastore.DeleteENI && r.Err == nil {
		delete(d.unset, c.ENI)
	}
	d.again = r.Err != nil && (!errors.As(r.Err, &refused) || refused.Code == ec2.CodeThrottled) && !errors.Is(r.Err, datastore.ErrIPInUse)
	d.step(datastore.Called{Result: r})
}

// request asks EC2, the metadata service or the host; the answer comes later.
func (d *ipamd) request(c datastore.Call) {
	cloud := d.system.instances[d.node]
	if cloud == nil {
		return // the instance is being terminated
	}
	wait := map[datastore.CallOp]time.Duration{
		datastore.DescribeENIs: describeTime, datastore.ReadIMDS: metadataTime, datastore.SetUpENI: setUpTime,
	}[c.Op]
	if wait == 0 {
		wait = changeTime
		d.system.requests++
	}
	muted := false
	d.system.env.request(request{
		op: fault.Op{Node: d.node, Name: c.Op.String(), Key: c.ENI},
		send: func() {
			// A request under way outlives the process that sent it.
			d.system.env.Clock.After(wait, &step{d.node, "ec2 " + c.String(), func() {
				r, late := d.ask(cloud, c)
				if !muted {
					d.after(late, "ec2 answers "+c.Op.String(), func() { d.answer(c, r) })
				}
			}})
		},
		forget: func() { muted = true },
		tell: func(silent bool) {
			if d.dead {
				return
			}
			r := datastore.Result{Err: &ec2.APIError{Code: ec2.CodeThrottled, Message: c.Op.String()}}
			if silent {
				r.Err = cluster.ErrNoAnswer
			}
			d.answer(c, r)
		},
		die: func() { d.system.env.Crash(d.node) },
	})
}

// ask is one request at EC2; late is how long its answer takes still.
func (d *ipamd) ask(cloud Cloud, c datastore.Call) (r datastore.Result, late time.Duration) {
	now := d.system.env.now()
	switch c.Op {
	case datastore.DescribeENIs:
		var list []ec2.ENI
		list, r.Err = cloud.Describe(now)
		r.ENIs = attached(list)
	case datastore.ReadIMDS:
		r.ENIs = attached(cloud.Metadata(now))
	case datastore.SetUpENI:
	case datastore.AssignUnits:
		r.Prefixes, r.Err = cloud.Assign(now, c.ENI, c.Units, c.Delegated)
	case datastore.UnassignUnits:
		r.Err = cloud.Unassign(now, c.ENI, c.Prefixes)
	case datastore.CreateENI:
		e, at, err := cloud.Create(now, c.Units, c.Delegated)
		if r.Err = err; err == nil {
			r.ENIs = attached([]ec2.ENI{e})
			late = at.Sub(now)
		}
	case datastore.DeleteENI:
		r.Err = cloud.Delete(now, c.ENI)
	}
	return r, late
}

func attached(list []ec2.ENI) []datastore.AttachedENI {
	out := make([]datastore.AttachedENI, len(list))
	for i, e := range list {
		out[i] = datastore.AttachedENI{ID: e.ID, Device: e.Device, Primary: e.Primary, Trunk: e.Trunk, Tags: e.Tags, Units: e.Units}
	}
	return out
}

// starved reports whether pods of the node wait for an address.
func (d *ipamd) starved() bool {
	k := d.system.env.Cluster.Kubelet(d.node)
	return k != nil && k.Starved() > 0
}

func (d *ipamd) pending() string {
	switch {
	case !d.manager.Ready():
		return "ipamd is starting"
	case d.asked > 0:
		return "ipamd waits for EC2"
	case d.manager.Joining():
		return "ipamd waits for an ENI to join"
	case d.manager.Unsure():
		return "ipamd does not know what EC2 has taken back"
	case d.again, len(d.unset) > 0:
		return "ipamd tries again"
	case d.manager.Short() && d.starved():
		return "ipamd is short of addresses that pods wait for, and looks at its pool every 5 s"
	}
	return ""
}
