package controllers

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/sim/cluster"
)

// blockView is what somebody knows of the blocks. It never goes back: what it wrote itself may be newer than what its watch tells.
type blockView struct {
	listed bool
	seen   map[string]*cluster.Resource
	// gone are the UIDs of blocks that it deleted itself, of which its watch may still tell older versions.
	gone map[string]bool
	// told is called when something has changed; own: of what the host has that of was asked for.
	told func(own bool)
	// host is whose addresses own are, by the names of their blocks; "" is nobody.
	host string
	own  map[string][]netip.Prefix
}

func newBlockView(told func(own bool)) *blockView {
	return &blockView{seen: make(map[string]*cluster.Resource), gone: make(map[string]bool), own: make(map[string][]netip.Prefix), told: told}
}

// Listed implements cluster.Handler.
func (v *blockView) Listed(objects []cluster.Object, _ int64) {
	before := v.seen
	v.listed, v.seen = true, make(map[string]*cluster.Resource, len(objects))
	clear(v.own)
	for _, o := range objects {
		r := o.(*cluster.Resource)
		if old := before[r.Name]; old != nil && old.UID == r.UID && old.ResourceVersion > r.ResourceVersion {
			r = old
		}
		v.see(r)
	}
	v.told(true)
}

// Changed implements cluster.Handler.
func (v *blockView) Changed(ch cluster.Change) {
	r := ch.Object.(*cluster.Resource)
	if ch.Type == cluster.Deleted {
		v.told(v.drop(r))
	} else {
		v.told(v.see(r))
	}
}

// see takes in a block, unless it is older than what is known of it, and reports whether the host has something else of it now.
func (v *blockView) see(r *cluster.Resource) bool {
	if _, ok := blockOf(r); !ok || v.gone[r.UID] {
		return false
	}
	if old := v.seen[r.Name]; old == nil || old.UID != r.UID && old.ResourceVersion < r.ResourceVersion || old.UID == r.UID && old.ResourceVersion <= r.ResourceVersion {
		v.seen[r.Name] = r
		return v.count(r)
	}
	return false
}

// count notes what the host has of a block, and reports whether that is something else than before.
func (v *blockView) count(r *cluster.Resource) bool {
	if v.host == "" {
		return false
	}
	b, _ := blockOf(r)
	var list []netip.Prefix
	for _, a := range b.Of(v.host) {
		list = append(list, unit(a))
	}
	before := v.own[r.Name]
	if len(list) == 0 {
		delete(v.own, r.Name)
	} else {
		v.own[r.Name] = list
	}
	return !slices.Equal(before, list)
}

func (v *blockView) drop(r *cluster.Resource) bool {
	old := v.seen[r.Name]
	if old == nil || old.UID != r.UID {
		return false
	}
	had := len(v.own[r.Name]) > 0
	delete(v.seen, r.Name)
	delete(v.own, r.Name)
	return had
}

// wrote takes in the answer to a swap of old: nothing is a block that was deleted.
func (v *blockView) wrote(old *cluster.Resource, now cluster.Object) {
	if r, ok := now.(*cluster.Resource); ok {
		v.see(r)
	} else if old != nil {
		v.gone[old.UID] = true
		v.drop(old)
	}
}

// of is what a host has of the blocks that are known, ascending. A cluster has as many blocks as nodes, and each of its nodes asks
// at each of its pods: only for the first time, and for another host, it looks at them all.
func (v *blockView) of(host string) (list []netip.Prefix) {
	if v.host != host {
		v.host = host
		clear(v.own)
		for _, r := range v.seen { //vppdrill:unordered each by itself
			v.count(r)
		}
	}
	for _, part := range v.own { //vppdrill:unordered sorted below
		list = append(list, part...)
	}
	slices.SortFunc(list, netip.Prefix.Compare)
	return list
}

// blocks are those that are known, ascending.
func (v *blockView) blocks() []calico.Block {
	list := make([]calico.Block, 0, len(v.seen))
	for _, name := range sortedNames(v.seen) {
		b, _ := blockOf(v.seen[name])
		list = append(list, b)
	}
	return ascendingBlocks(list)
}
