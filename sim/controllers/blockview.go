package controllers

import (
	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/sim/cluster"
)

// blockView is what somebody knows of the blocks. It never goes back: what it wrote itself may be newer than what its watch tells.
type blockView struct {
	listed bool
	seen   map[string]*cluster.Resource
	// gone are the UIDs of blocks that it deleted itself, of which its watch may still tell older versions.
	gone map[string]bool
	// told is called when something has changed.
	told func()
}

func newBlockView(told func()) *blockView {
	return &blockView{seen: make(map[string]*cluster.Resource), gone: make(map[string]bool), told: told}
}

// Listed implements cluster.Handler.
func (v *blockView) Listed(objects []cluster.Object, _ int64) {
	before := v.seen
	v.listed, v.seen = true, make(map[string]*cluster.Resource, len(objects))
	for _, o := range objects {
		r := o.(*cluster.Resource)
		if old := before[r.Name]; old != nil && old.UID == r.UID && old.ResourceVersion > r.ResourceVersion {
			r = old
		}
		v.see(r)
	}
	v.told()
}

// Changed implements cluster.Handler.
func (v *blockView) Changed(ch cluster.Change) {
	r := ch.Object.(*cluster.Resource)
	if ch.Type == cluster.Deleted {
		v.drop(r)
	} else {
		v.see(r)
	}
	v.told()
}

// see takes in a block, unless it is older than what is known of it.
func (v *blockView) see(r *cluster.Resource) {
	if _, ok := blockOf(r); !ok || v.gone[r.UID] {
		return
	}
	if old := v.seen[r.Name]; old == nil || old.UID != r.UID && old.ResourceVersion < r.ResourceVersion || old.UID == r.UID && old.ResourceVersion <= r.ResourceVersion {
		v.seen[r.Name] = r
	}
}

func (v *blockView) drop(r *cluster.Resource) {
	if old := v.seen[r.Name]; old != nil && old.UID == r.UID {
		delete(v.seen, r.Name)
	}
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

// blocks are those that are known, ascending.
func (v *blockView) blocks() []calico.Block {
	list := make([]calico.Block, 0, len(v.seen))
	for _, name := range sortedNames(v.seen) {
		b, _ := blockOf(v.seen[name])
		list = append(list, b)
	}
	return ascendingBlocks(list)
}
