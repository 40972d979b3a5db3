package controllers

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/sim/ec2"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// How long requests take: EC2's calls that change something, those that only read, the metadata service on the
// instance, rules and routes on the host.
const (
	changeTime   = 500 * time.Millisecond
	describeTime = 200 * time.Millisecond
	metadataTime = 2 * time.Millisecond
	setUpTime    = 50 * time.Millisecond
)

// ipamd drives AWS VPC CNI's daemon on one node, for one life of its agent.
type ipamd struct {
	system  *cloudSystem
	node    string
	side    Side
	machine *datastore.IPAMD
	events  inTurn[datastore.Event]
	dead    bool
	wake    uint64
}

func newIPAMD(s *cloudSystem, node string, side Side, alloc *datastore.Node) *ipamd {
	pool, c := datastore.NewNodePool(alloc, side.Now), s.env.Plan.Datastore
	var keeper Manager = datastore.NewNodeManager(pool, datastore.Sizing{
		Targets: datastore.Targets{WarmIP: c.WarmIP, MinimumIP: c.MinimumIP, WarmPrefix: c.WarmPrefix, WarmENI: c.WarmENI},
		ENIsMax: s.limits.ENIs, UnitsPerENI: s.limits.IPv4PerENI - 1, PrefixDelegation: c.PrefixDelegation,
		TrunkSlot: c.TrunkENI, SkipPrimary: c.CustomNetworking(),
	})
	if plant := s.env.Plant.Manager; plant != nil {
		keeper = plant(node, pool, keeper)
	}
	if plant := s.env.Plant.Side; plant != nil {
		side = plant(node, side)
	}
	return &ipamd{system: s, node: node, side: side, machine: datastore.NewIPAMD(pool, keeper)}
}

func (d *ipamd) start() { d.after(0, "ipamd", func() { d.step(datastore.Woke{}) }) }

func (d *ipamd) after(t time.Duration, what string, do func()) {
	d.system.env.Clock.After(t, &step{d.node, what, func() {
		if !d.dead {
			do()
		}
	}})
}

func (d *ipamd) step(ev datastore.Event) {
	d.events.take(ev, func(ev datastore.Event) {
		for _, e := range d.machine.Step(d.side.Now(), ev) {
			if d.dead {
				return
			}
			d.perform(e)
		}
		d.system.env.decided(d.node, "%s", d.machine)
	})
}

func (d *ipamd) perform(e datastore.Effect) {
	switch e := e.(type) {
	case datastore.Perform:
		d.request(e.Call)
	case datastore.AskAgent:
		d.after(0, "ipamd gives back", d.changed)
	case datastore.TellAgent:
		d.system.env.Tell(d.node, e.Blocks)
	case datastore.WakeAt:
		d.wake++
		n := d.wake
		d.after(max(0, e.At.Sub(d.side.Now())), "ipamd wakes", func() {
			if d.wake == n {
				d.step(datastore.Woke{})
			}
		})
	case datastore.Note:
		d.system.env.Note(d.node, "ipamd "+e.Text)
	case datastore.WantTrunk:
		d.system.trunk(d.node)
	}
}

// changed says how the agent is, where that is waited for.
func (d *ipamd) changed() {
	if d.machine.AwaitsAgent() {
		d.step(datastore.AgentSeen{Blocks: d.side.Blocks(), Idle: d.side.Idle()})
	}
}

func (d *ipamd) answer(c datastore.Call, r datastore.Result) {
	r.Number = c.Number
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
	why := d.machine.Pending()
	if why == "" && d.machine.Short() && d.starved() {
		why = "ipamd is short of addresses that pods wait for, and looks at its pool every 5 s"
	}
	return why
}
