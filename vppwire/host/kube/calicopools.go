package kube

import (
	"context"
	"fmt"
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
	CIDR              string   `json:"cidr"`
	BlockSize         int      `json:"blockSize"`
	Disabled          bool     `json:"disabled"`
	NodeSelector      string   `json:"nodeSelector"`
	NamespaceSelector string   `json:"namespaceSelector"`
	AssignmentMode    string   `json:"assignmentMode"`
	AllowedUses       []string `json:"allowedUses"`
}

// calicoConfigSpec is what is read of an IPAMConfig's spec.
type calicoConfigSpec struct {
	Strict       bool `json:"strictAffinity"`
	AutoAllocate bool `json:"autoAllocateBlocks"`
	MaxBlocks    int  `json:"maxBlocksPerHost"`
	Cooldown     int  `json:"ipCooldownSeconds"`
}

// followWithPools tells what blocks are cut from and then, as they are of use once that is known, the blocks, on goroutines among followers
// until ctx ends. What cannot be read is logged and passed over.
func (b calicoBlocks) followWithPools(ctx context.Context, followers *sync.WaitGroup, tell func(calico.Event), log *slog.Logger) {
	refuse := func(err error) { log.Warn("Calico's object is passed over", "error", err) }
	pools := make(chan struct{})
	known := sync.OnceFunc(func() { close(pools) })
	m := &calicoSettings{refuse: refuse, tell: func(p calico.Pools) { tell(calico.PoolsChanged{Pools: p}); known() }, specs: map[string]poolSpec{}, config: calico.DefaultConfig()}
	followers.Go(func() { m.followPools(ctx, b.client) })
	followers.Go(func() { m.followConfig(ctx, b.client) })
	followers.Go(func() {
		select {
		case <-pools:
			b.follow(ctx, tell, refuse)
		case <-ctx.Done():
		}
	})
}

// calicoSettings are what a cluster's objects say of blocks, IPPools and the IPAMConfig; tell is told whenever that changes, once both are
// known.
type calicoSettings struct {
	tell   func(calico.Pools)
	refuse func(error)

	mu sync.Mutex
	// specs are the pools by name; pooled and configured: they, and the configuration, are known.
	specs              map[string]poolSpec
	config             calico.Config
	pooled, configured bool
}

// said tells what the objects amount to: pools that are in use, in the order of their names. One that cannot be read or is not ours to use is
// refused, by name.
func (m *calicoSettings) said() {
	if !m.pooled || !m.configured {
		return
	}
	var names []string
	for name := range m.specs { // in any order: sorted below
		names = append(names, name)
	}
	slices.SortFunc(names, compareNumbered)
	pools := calico.Pools{BlockBits: calico.DefaultBlockBits, BlockBits6: calico.DefaultBlockBits6, Lengths: map[netip.Prefix]int{}, Names: map[string]netip.Prefix{},
		Selectors: map[netip.Prefix]calico.Selector{}, Namespaces: map[netip.Prefix]calico.Selector{}}
	for _, name := range names {
		if r, err := space.ParsePrefix(m.specs[name].CIDR); err == nil {
			pools.Names[name] = r
		}
		r, err := m.specs[name].usable()
		if err != nil {
			m.refuse(fmt.Errorf("IPPool %s: %w", name, err))
			continue
		}
		if r.IsValid() {
			pools.Ranges = append(pools.Ranges, r)
			pools.Lengths[r] = blockBits(r, m.specs[name].BlockSize)
			pools.Selectors[r], _ = calico.ParseSelector(m.specs[name].NodeSelector) // usable has read it
			if sel, _ := calico.ParseSelector(m.specs[name].NamespaceSelector); !sel.All() {
				pools.Namespaces[r] = sel
			}
		}
	}
	now, err := pools.Configured(m.config)
	if err != nil {
		m.refuse(fmt.Errorf("IPAMConfig %s: %w", calicoConfigName, err))
		now, _ = pools.Configured(calico.DefaultConfig()) // which is never refused
	}
	m.tell(now)
}

// usable is the range that pods get addresses of; none, without an error, where pods get none of it by themselves.
func (s poolSpec) usable() (netip.Prefix, error) {
	r, err := space.ParsePrefix(s.CIDR)
	_, bad := calico.ParseSelector(s.NodeSelector)
	_, worse := calico.ParseSelector(s.NamespaceSelector)
	switch {
	case err != nil:
		return r, err
	case s.Disabled, s.AssignmentMode == "Manual", len(s.AllowedUses) > 0 && !slices.Contains(s.AllowedUses, "Workload"):
		return netip.Prefix{}, nil
	case bad != nil:
		return r, fmt.Errorf("nodeSelector: %w", bad)
	case worse != nil:
		return r, fmt.Errorf("namespaceSelector: %w", worse)
	}
	least, most := 20, 32
	if r.Addr().Is6() {
		least, most = 116, 128
	}
	if n := blockBits(r, s.BlockSize); n < least || n > most || n < r.Bits() {
		return r, fmt.Errorf("blockSize %d: want %d to %d, and no less than the length of %s", n, least, most, r)
	}
	return r, nil
}

// followPools follows IPPools.
func (m *calicoSettings) followPools(ctx context.Context, client kubernetes.Interface) {
	m.follow(ctx, client, IPPoolResource, func(u *unstructured.Unstructured) {
		var s poolSpec
		if err := specInto(u, &s); err != nil {
			m.refuse(err)
			return
		}
		m.specs[u.GetName()] = s
	}, func(name string) { delete(m.specs, name) }, func() { clear(m.specs); m.pooled = true })
}

// followConfig follows the IPAMConfig of the cluster, of which there is one name; without it the defaults hold.
func (m *calicoSettings) followConfig(ctx context.Context, client kubernetes.Interface) {
	take := func(u *unstructured.Unstructured) {
		s := calicoConfigSpec{AutoAllocate: true}
		if u.GetName() != calicoConfigName {
			return
		}
		if err := specInto(u, &s); err != nil {
			m.refuse(err)
			return
		}
		if s.Cooldown > 0 {
			m.refuse(fmt.Errorf("IPAMConfig %s: ipCooldownSeconds %d: not built, the address that has been free for the longest is given first", calicoConfigName, s.Cooldown))
		}
		m.config = calico.Config{Strict: s.Strict, AutoAllocate: s.AutoAllocate, MaxBlocks: s.MaxBlocks}
	}
	none := func() { m.config = calico.DefaultConfig() }
	m.follow(ctx, client, CalicoConfigResource, take, func(name string) {
		if name == calicoConfigName {
			none()
		}
	}, func() { none(); m.configured = true })
}

// follow follows a kind of settings: take is told of each, drop of those that go, empty before all are told anew.
func (m *calicoSettings) follow(ctx context.Context, client kubernetes.Interface, resource string, take func(*unstructured.Unstructured), drop func(name string), empty func()) {
	change := func(what func()) {
		m.mu.Lock()
		defer m.mu.Unlock()
		what()
		m.said()
	}
	follow(ctx, client, custom{client, calicoPath + resource}, "", &unstructured.Unstructured{}, sink[*unstructured.Unstructured]{
		listed: func(list []*unstructured.Unstructured) {
			change(func() {
				empty()
				for _, u := range list {
					take(u)
				}
			})
		},
		put:  func(u *unstructured.Unstructured, _ bool) { change(func() { take(u) }) },
		gone: func(u *unstructured.Unstructured) { change(func() { drop(u.GetName()) }) },
	})
}

// specInto reads an object's spec.
func specInto(u *unstructured.Unstructured, spec any) error {
	text, err := kjson.Marshal(u.Object["spec"])
	if err == nil {
		err = kjson.Unmarshal(text, spec)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}

// blockBits are a pool's, or Calico's default of the family.
func blockBits(r netip.Prefix, size int) int {
	switch {
	case size > 0:
		return size
	case r.Addr().Is6():
		return calico.DefaultBlockBits6
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
