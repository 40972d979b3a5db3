package peers

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"

	"github.com/cilium/cilium/pkg/ipam/service/ipallocator"
	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/space"
)

const (
	// live is how many leases an allocator holds when it is weighed: a /16 that is nearly full.
	live = 65_000
	// keyBytes is what an owner costs wherever it is kept: three string headers. The texts are the caller's.
	keyBytes = 48
)

// weight is what one live lease costs an allocator in bytes beyond its key.
type weight struct {
	title string
	class class
	ours  bool
	bytes float64
	err   error
}

// scale is an allocator that is to be weighed: fill returns what must stay alive.
type scale struct {
	contestant
	fill func(keys []ipam.Owner) (any, error)
}

func scales() []scale {
	var all []scale
	for _, s := range systems {
		all = append(all, scale{contestant{name: "ours: " + s.name, class: owning}, func(keys []ipam.Owner) (any, error) {
			return weighNode(s.fresh, keys)
		}})
	}
	return append(all,
		scale{contestant{name: "ours: ipam/datastore DataStore", class: owning}, weighDataStore},
		scale{contestant{name: "AWS ipamd datastore", module: awsModule, class: owning}, func(keys []ipam.Owner) (any, error) {
			b, err := newAWSAllocator(delegated)
			if err == nil {
				err = b.restore(func(i int) bool { return i < len(keys) })
			}
			return b, err
		}},
		scale{contestant{name: "ours: ipam/space Pool", class: bare}, func(keys []ipam.Owner) (any, error) {
			p, err := space.NewPool(space.PoolConfig{Prefix: slash16})
			for range keys {
				p.Allocate(epoch)
			}
			return p, err
		}},
		scale{contestant{name: "ours: ipam/cilium CIDRRange", class: bare}, func(keys []ipam.Owner) (any, error) {
			r, err := cilium.NewCIDRRange(slash16, cilium.RangeOptions{}, dice{})
			for i := 0; err == nil && i < len(keys); i++ {
				_, err = r.AllocateNext()
			}
			return r, err
		}},
		scale{contestant{name: "Cilium ipallocator", module: ciliumModule, class: bare}, func(keys []ipam.Owner) (any, error) {
			r := ipallocator.NewCIDRRange(slash16)
			var err error
			for i := 0; err == nil && i < len(keys); i++ {
				_, err = r.AllocateNext()
			}
			return r, err
		}},
		scale{contestant{name: "go-ipam", module: goIPAMModule, class: bare}, func([]ipam.Owner) (any, error) {
			return goIPAMFilled(context.Background(), 990) // 64,880 leases
		}},
	)
}

func weighNode(fresh func() (ipam.NodeAllocator, error), keys []ipam.Owner) (any, error) {
	a, err := fresh()
	if err == nil {
		_, err = a.SetBlocks(epoch, []netip.Prefix{slash16})
	}
	for i := 0; err == nil && i < len(keys); i++ {
		_, _, err = a.Allocate(epoch, keys[i], ipam.Want{})
	}
	return a, err
}

func weighDataStore(keys []ipam.Owner) (any, error) {
	ds := datastore.NewDataStore(nil, datastore.NullCheckpoint{}, epochClock)
	ds.CheckpointMigrationPhase = 3
	err := ds.AddENI("eni-0", 0, true, false)
	for p := range delegated {
		if err == nil {
			err = ds.AddIPv4CidrToStore("eni-0", p)
		}
	}
	for i := 0; err == nil && i < len(keys); i++ {
		o := keys[i]
		_, _, err = ds.AssignPodIPv4Address(datastore.IPAMKey{NetworkName: o.Network, ContainerID: o.ContainerID, IfName: o.IfName})
	}
	return ds, err
}

// weigh measures every scale once: the heap is counted exactly, so that nothing needs repeating.
func weigh() []weight {
	keys := make([]ipam.Owner, live)
	for i := range keys {
		keys[i] = owner(i)
	}
	// What packages allocate once, at their first use, belongs to no lease.
	for _, s := range scales() {
		_, _ = s.fill(keys[:1])
	}
	var all []weight
	for _, s := range scales() {
		before := heap()
		allocator, err := s.fill(keys)
		per := (float64(heap()) - float64(before)) / live
		if s.class == owning {
			per -= keyBytes
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", s.name, err)
		}
		all = append(all, weight{title: s.title(), class: s.class, ours: s.ours(), bytes: per, err: err})
		runtime.KeepAlive(allocator)
	}
	runtime.KeepAlive(keys)
	return all
}

// heap is the live bytes. Two collections, because the first one only marks what finalizers and pools let go.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
