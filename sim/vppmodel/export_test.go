package vppmodel

import (
	"fmt"
	"unsafe"
)

// InterfaceSize is what one interface costs beside its strings and device, in bytes.
const InterfaceSize = unsafe.Sizeof(iface{})

// CheckEmpty compares the state that Text does not show with those of a fresh VPP of as many interfaces: path lists,
// locks and counts.
func CheckEmpty(v *VPP) error {
	fresh := New(Config{NICs: []NIC{{}}})
	if a, b := len(v.paths.nodes)-len(v.paths.free), len(fresh.paths.nodes); a != b {
		return fmt.Errorf("%d path nodes, want %d", a, b)
	}
	if a, b := len(v.paths.single), len(fresh.paths.single); a != b || len(v.paths.multi) != 0 {
		return fmt.Errorf("%d and %d path lists, want %d and 0", a, len(v.paths.multi), b)
	}
	for i, n := range v.paths.on {
		if n != 0 {
			return fmt.Errorf("%d paths on interface %d", n, i)
		}
	}
	for i, n := range v.neighborsOn {
		if n != 0 {
			return fmt.Errorf("%d neighbors on interface %d", n, i)
		}
	}
	for _, f := range families {
		t, u := v.tables[f][0], fresh.tables[f][0]
		if len(v.tables[f]) != 1 || t.bound != u.bound || t.adjacent != 0 || t.lookups != 0 || t.size() != u.size() || len(t.others) != 0 {
			return fmt.Errorf("table 0: bound %d of %d, adjacent %d, lookups %d, size %d of %d, others %d", t.bound, u.bound, t.adjacent, t.lookups,
				t.size(), u.size(), len(t.others))
		}
		if v.neighborLimits[f].have != 0 {
			return fmt.Errorf("%d neighbors", v.neighborLimits[f].have)
		}
	}
	if len(v.numbered) != 0 || len(v.macs) != 0 || len(v.tunnels.names) != 0 || len(v.packets) != 0 {
		return fmt.Errorf("numbered %v, MACs %v, tunnels %v, packets %v", v.numbered, v.macs, v.tunnels.names, v.packets)
	}
	return nil
}
