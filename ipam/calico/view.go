package calico

import (
	"net/netip"
	"slices"
)

// Stored is a block as the cluster's store has it.
type Stored struct {
	Block
	// UID tells the object from another one of the same range, before or behind it. Version grows with each write to the
	// store.
	UID     string
	Version int64
}

// view is what a process knows of the blocks. It never goes back: what it wrote itself may be newer than what its watch
// reports.
type view struct {
	listed bool
	blocks []Stored // by range, ascending
	// gone are the UIDs of blocks that it deleted itself, of which its watch may still report older versions.
	gone map[string]bool
	// host is whose addresses own are, by the ranges of their blocks; "" is nobody.
	host string
	own  map[netip.Prefix][]netip.Prefix
}

func newView() view {
	return view{gone: make(map[string]bool), own: make(map[netip.Prefix][]netip.Prefix)}
}

func (v *view) find(cidr netip.Prefix) (int, bool) {
	return slices.BinarySearchFunc(v.blocks, cidr, func(s Stored, p netip.Prefix) int { return s.CIDR.Compare(p) })
}

// list takes in all blocks that there are.
func (v *view) list(list []Stored) {
	before := *v
	v.listed, v.blocks = true, make([]Stored, 0, len(list))
	clear(v.own)
	for _, s := range list {
		if i, ok := before.find(s.CIDR); ok && before.blocks[i].UID == s.UID && before.blocks[i].Version > s.Version {
			s = before.blocks[i]
		}
		v.see(s)
	}
}

// see takes in a block, unless it is older than what is known of it, and reports whether the host has other addresses
// of it now.
func (v *view) see(s Stored) bool {
	if v.gone[s.UID] {
		return false
	}
	i, known := v.find(s.CIDR)
	switch {
	case !known:
		v.blocks = slices.Insert(v.blocks, i, s)
	case v.blocks[i].Version > s.Version, v.blocks[i].Version == s.Version && v.blocks[i].UID != s.UID:
		return false
	default:
		v.blocks[i] = s
	}
	return v.count(s)
}

// count notes what the host has of a block, and reports whether that is something else than before.
func (v *view) count(s Stored) bool {
	if v.host == "" {
		return false
	}
	var list []netip.Prefix
	for _, a := range s.Of(v.host) {
		list = append(list, netip.PrefixFrom(a, a.BitLen()))
	}
	before := v.own[s.CIDR]
	if len(list) == 0 {
		delete(v.own, s.CIDR)
	} else {
		v.own[s.CIDR] = list
	}
	return !slices.Equal(before, list)
}

// drop takes in that a block is gone, and reports whether the host had something of it.
func (v *view) drop(s Stored) bool {
	i, known := v.find(s.CIDR)
	if !known || v.blocks[i].UID != s.UID {
		return false
	}
	had := len(v.own[s.CIDR]) > 0
	v.blocks = slices.Delete(v.blocks, i, i+1)
	delete(v.own, s.CIDR)
	return had
}

// wrote takes in that a write was applied.
func (v *view) wrote(w WriteBlock, now Stored) {
	if w.Op == Delete {
		v.gone[w.Block.UID] = true
		v.drop(w.Block)
		return
	}
	v.see(now)
}

// of is what a host has of the blocks that are known, ascending. A cluster has as many blocks as nodes, and each of its
// nodes asks at each of its pods: only the first time, and for another host, all of them are looked at.
func (v *view) of(host string) (list []netip.Prefix) {
	if v.host != host {
		v.host = host
		clear(v.own)
		for _, s := range v.blocks {
			v.count(s)
		}
	}
	for _, part := range v.own { // in any order: sorted below
		list = append(list, part...)
	}
	slices.SortFunc(list, netip.Prefix.Compare)
	return list
}

// all are the blocks of a family that are known, ascending.
func (v *view) all(family string) []Block {
	list := make([]Block, 0, len(v.blocks))
	for _, s := range v.blocks {
		if isOf(s.CIDR.Addr(), family) {
			list = append(list, s.Block)
		}
	}
	return list
}

// at is a block that is known, nil where there is none.
func (v *view) at(cidr netip.Prefix) *Stored {
	i, known := v.find(cidr)
	if !known {
		return nil
	}
	s := v.blocks[i]
	return &s
}

// holding is the block that an address is of, nil where none is known.
func (v *view) holding(a netip.Addr) *Stored {
	i, found := slices.BinarySearchFunc(v.blocks, a, func(s Stored, a netip.Addr) int {
		if s.CIDR.Contains(a) {
			return 0
		}
		return s.CIDR.Addr().Compare(a)
	})
	if !found {
		return nil
	}
	s := v.blocks[i]
	return &s
}
