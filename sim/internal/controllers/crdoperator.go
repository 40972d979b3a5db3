package controllers

import (
	"errors"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/sim/ec2"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// crdOperator is one life of the operator in a mode whose CiliumNodes have a pool.
type crdOperator struct {
	ciliumTerm
	term   *cilium.AddressTerm
	system *crdSystem
}

func newCRDOperator(s *crdSystem, l *leader) *crdOperator {
	c := s.env.Plan.Cilium
	term, err := cilium.NewAddressTerm(cilium.OperatorConfig{ReleaseExcessIPs: !c.KeepExcess, ReleaseDelay: c.ReleaseDelay})
	Accept(l.name, err)
	o := &crdOperator{term: term, system: s}
	o.ciliumTerm = ciliumTerm{leader: l, machine: term, also: o.performCloud, requests: &s.requests, again: func() {
		o.stop()
		s.again(l, s.lead)
	}}
	return o
}

func (o *crdOperator) start() { o.begin() }

// performCloud makes requests to the provider of addresses.
func (o *crdOperator) performCloud(e cilium.Effect) {
	switch e := e.(type) {
	case cilium.ListAddresses:
		o.ask(e.ID, e.Node, listENIs, e.Node, describeTime, o.listed)
	case cilium.AssignAddresses:
		o.ask(e.ID, e.Node, assignIPs, e.Node, changeTime, func(c Cloud) (cilium.AllocationMap, time.Duration, error) { return o.assign(c, e) })
	case cilium.UnassignAddresses:
		key := e.Node
		if len(e.IPs) == 1 {
			key = e.IPs[0].String()
		}
		o.ask(e.ID, e.Node, unassignIPs, key, changeTime, func(c Cloud) (cilium.AllocationMap, time.Duration, error) { return nil, 0, o.unassign(c, e.IPs) })
	default:
		panic("controllers: an effect of cilium-operator: " + string(e.AppendText(nil)))
	}
}

// ask is one call for a node. Its answer comes late if the new resource takes that long.
func (o *crdOperator) ask(id uint64, node, what, key string, wait time.Duration, act func(Cloud) (cilium.AllocationMap, time.Duration, error)) {
	if wait == changeTime {
		o.system.requests++
	}
	r := cilium.CloudAnswered{ID: id}
	var late time.Duration
	o.outside(fault.Op{Node: o.kind, Name: what, Key: key}, wait, func() (err error) {
		c := o.system.of(node)
		if c == nil {
			return cluster.ErrNotFound
		}
		r.Addresses, late, err = act(c)
		return err
	}, func(err error) {
		r.Err, r.Unknown = err, errors.Is(err, cluster.ErrNoAnswer)
		if r.Unknown {
			r.Addresses = nil
		}
		refused := (*ec2.APIError)(nil)
		r.Throttled = errors.As(err, &refused) && refused.Code == ec2.CodeThrottled
		o.after(late, "has what "+what+" made", func() { o.step(r) })
	}, o.crash)
}

// listed are the addresses that a node has.
func (o *crdOperator) listed(c Cloud) (cilium.AllocationMap, time.Duration, error) {
	enis, err := c.Describe(o.env.now())
	if err != nil {
		return nil, 0, err
	}
	m := make(cilium.AllocationMap)
	for _, e := range enis {
		m.AddUnits(e.ID, e.Units)
	}
	return m, 0, nil
}

// assign gets a node addresses. An interface is there for its addresses when it is attached.
func (o *crdOperator) assign(c Cloud, e cilium.AssignAddresses) (cilium.AllocationMap, time.Duration, error) {
	got, now := make(cilium.AllocationMap), o.env.now()
	enis, err := c.Describe(now)
	if err != nil {
		return got, 0, err
	}
	_, most := o.system.most()
	place := cilium.Placement{Most: most, Left: o.system.left(e.Node), Prefixes: o.env.Plan.Cilium.PrefixDelegation}
	for _, eni := range enis {
		place.Interfaces = append(place.Interfaces, cilium.Interface{ID: eni.ID, Units: eni.Units})
	}
	late := time.Duration(0)
	err = place.Assign(e.Count, func(u cilium.Units) error {
		if u.Interface != "" {
			units, err := c.Assign(now, u.Interface, u.Count, u.Prefixes)
			got.AddUnits(u.Interface, units)
			return err
		}
		eni, at, err := c.Create(now, u.Count, u.Prefixes)
		got.AddUnits(eni.ID, eni.Units)
		late = max(0, at.Sub(now))
		return err
	})
	return got, late, err
}

// unassign gives addresses back, in one request for each interface.
func (o *crdOperator) unassign(c Cloud, ips []netip.Addr) error {
	now := o.env.now()
	enis, err := c.Describe(now)
	if err != nil {
		return err
	}
	for _, e := range enis {
		units := cilium.Interface{ID: e.ID, Units: e.Units}.Singles(ips)
		if len(units) == 0 {
			continue
		}
		if err := c.Unassign(now, e.ID, units); err != nil {
			return err
		}
	}
	return nil
}

func (o *crdOperator) pending() string {
	if why := o.term.Pending(); why != "" {
		return o.name + " " + why
	}
	for _, name := range o.term.Names() {
		s, _ := o.term.Get(name)
		// others have given some back since its request failed
		if s.Needed > 0 && o.system.spare(name) > s.Needed && o.system.grows(name) ||
			s.Needed > 0 && s.Available == 0 && o.system.spare(name) > 0 { // and one that has none is content with one
			return o.name + " has addresses for " + name
		}
	}
	return ""
}
