package kube

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// poolSpec is what is read of an IPPool's spec.
type poolSpec struct {
	CIDR      string `json:"cidr"`
	BlockSize int    `json:"blockSize"`
	Disabled  bool   `json:"disabled"`
}

// followWithPools tells what blocks are cut from and then, as they are of use once that is known, the blocks, on goroutines among followers
// until ctx ends. What cannot be read is logged and passed over.
func (b calicoBlocks) followWithPools(ctx context.Context, followers *sync.WaitGroup, base calico.Pools, tell func(calico.Event), log *slog.Logger) {
	refuse := func(err error) { log.Warn("Calico's object is passed over", "error", err) }
	pools := make(chan struct{})
	known := sync.OnceFunc(func() { close(pools) })
	followers.Go(func() {
		followIPPools(ctx, b.client, base, func(p calico.Pools) { tell(calico.PoolsChanged{Pools: p}); known() }, refuse)
	})
	followers.Go(func() {
		select {
		case <-pools:
			b.follow(ctx, tell, refuse)
		case <-ctx.Done():
		}
	})
}

// followIPPools tells what blocks are cut from, whenever IPPools change: those that are not disabled, in the order of their names. The other
// fields are base's. One that cannot be read is refused, and none.
func followIPPools(ctx context.Context, client kubernetes.Interface, base calico.Pools, tell func(calico.Pools), refuse func(error)) {
	specs := map[string]poolSpec{}
	said := func() {
		var names []string
		for name := range specs { // in any order: sorted below
			names = append(names, name)
		}
		slices.SortFunc(names, compareNumbered)
		now := base
		now.Ranges = nil
		for _, name := range names {
			r, err := space.ParsePrefix(specs[name].CIDR)
			switch {
			case err != nil:
				refuse(err)
			case !specs[name].Disabled:
				now.Ranges = append(now.Ranges, r)
				now.BlockBits = blockBits(r, specs[name].BlockSize)
			}
		}
		tell(now)
	}
	take := func(u *unstructured.Unstructured) {
		var s poolSpec
		text, err := kjson.Marshal(u.Object["spec"])
		if err == nil {
			err = kjson.Unmarshal(text, &s)
		}
		if err != nil {
			refuse(err)
		}
		specs[u.GetName()] = s
	}
	follow(ctx, client, custom{client, calicoPath + IPPoolResource}, "", &unstructured.Unstructured{}, sink[*unstructured.Unstructured]{
		listed: func(list []*unstructured.Unstructured) {
			clear(specs)
			for _, u := range list {
				take(u)
			}
			said()
		},
		put:  func(u *unstructured.Unstructured, _ bool) { take(u); said() },
		gone: func(u *unstructured.Unstructured) { delete(specs, u.GetName()); said() },
	})
}

// blockBits are a pool's, or Calico's default of the family.
func blockBits(r netip.Prefix, size int) int {
	switch {
	case size > 0:
		return size
	case r.Addr().Is6():
		return 122
	}
	return calico.DefaultBlockBits
}

// compareNumbered orders names, of the same length at first: pool-2 before pool-10.
func compareNumbered(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
