package controllers

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/sim/ec2"
)

// instance is an EC2 instance that reports each change of its assigned addresses: EC2's word, not ipamd's.
type instance struct {
	Cloud
	units map[string][]netip.Prefix // by ENI
	tell  func(blocks []netip.Prefix)
}

func newInstance(c Cloud, tell func(blocks []netip.Prefix)) *instance {
	return &instance{Cloud: c, units: make(map[string][]netip.Prefix), tell: tell}
}

func (i *instance) changed() {
	var list []netip.Prefix
	for _, eni := range slices.Sorted(maps.Keys(i.units)) {
		list = append(list, i.units[eni]...)
	}
	i.tell(list)
}

// Create implements Cloud.
func (i *instance) Create(now time.Time, units int, prefixes bool) (ec2.ENI, time.Time, error) {
	e, at, err := i.Cloud.Create(now, units, prefixes)
	if err == nil {
		i.units[e.ID] = slices.Clone(e.Units)
		i.changed()
	}
	return e, at, err
}

// Assign implements Cloud.
func (i *instance) Assign(now time.Time, eni string, units int, prefixes bool) ([]netip.Prefix, error) {
	list, err := i.Cloud.Assign(now, eni, units, prefixes)
	if err == nil {
		i.units[eni] = append(i.units[eni], list...)
		i.changed()
	}
	return list, err
}

// Unassign implements Cloud.
func (i *instance) Unassign(now time.Time, eni string, units []netip.Prefix) error {
	err := i.Cloud.Unassign(now, eni, units)
	if err == nil {
		i.units[eni] = slices.DeleteFunc(i.units[eni], func(p netip.Prefix) bool { return slices.Contains(units, p) })
		i.changed()
	}
	return err
}

// Delete implements Cloud.
func (i *instance) Delete(now time.Time, eni string) error {
	err := i.Cloud.Delete(now, eni)
	if err == nil {
		delete(i.units, eni)
		i.changed()
	}
	return err
}

// Terminate implements Cloud.
func (i *instance) Terminate(now time.Time) {
	i.Cloud.Terminate(now)
	clear(i.units)
	i.changed()
}
