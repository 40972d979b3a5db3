package peers

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

var (
	epoch   = time.Unix(1700000000, 0).UTC()
	errNone = errors.New("nothing is free")
)

func epochClock() time.Time { return epoch }

// ourSets are our allocators that know no owner.
func ourSets() []contestant {
	return []contestant{
		{name: "ours: ipam/space Bitmap", class: bare, fill: fillBitmap},
		{name: "ours: ipam/space Pool", class: bare, fill: fillPool},
		{name: "ours: ipam/cilium CIDRRange", class: bare, fill: fillRange(new(cilium.Spread))},
		{name: "ours: ipam/cilium CIDRRange, dice", class: bare, fill: fillRange(dice{}), note: "it draws as the peer does, and dice alone take most of what 5x would leave"},
		{name: "math/rand/v2 dice alone", class: draw, fill: rollDice},
	}
}

func fillBitmap(fill int) (func(int) error, error) {
	m := space.NewBitmap(1 << 16)
	for i := range 1 << 16 {
		if scattered(i, fill) {
			m.Set(uint64(i))
		}
	}
	from := uint64(0)
	return func(n int) error {
		for range n {
			i, ok := m.NextClear(from)
			if !ok {
				if i, ok = m.NextClear(0); !ok {
					return errNone
				}
			}
			m.Set(i)
			m.Clear(i)
			from = i + 1
		}
		return nil
	}, nil
}

func fillPool(fill int) (func(int) error, error) {
	p, err := space.NewPool(space.PoolConfig{Prefix: slash16})
	if err != nil {
		return nil, err
	}
	for i := range 1 << 16 {
		if scattered(i, fill) {
			if err := p.Restore(nth(i)); err != nil {
				return nil, err
			}
		}
	}
	return func(n int) error {
		for range n {
			a, ok := p.Allocate(epoch)
			if !ok {
				return errNone
			}
			p.Release(epoch, a)
		}
		return nil
	}, nil
}

func fillRange(pick cilium.Picker) func(fill int) (func(int) error, error) {
	return func(fill int) (func(int) error, error) {
		r, err := cilium.NewCIDRRange(slash16, cilium.RangeOptions{}, pick)
		if err != nil {
			return nil, err
		}
		for i := 1; i < 1<<16-1; i++ {
			if scattered(i, fill) {
				if err := r.Allocate(nth(i)); err != nil {
					return nil, err
				}
			}
		}
		return func(n int) error {
			for range n {
				a, err := r.AllocateNext()
				if err != nil {
					return err
				}
				r.Release(a)
			}
			return nil
		}, nil
	}
}

// rollDice is what a random start of the search costs whoever wants one, and so a floor.
func rollDice(int) (func(int) error, error) {
	var pick cilium.Picker = dice{}
	sum := 0
	return func(n int) error {
		for range n {
			sum += pick.Pick("", 1<<16-2)
		}
		if sum < 0 {
			return errNone // it never is; the sum is looked at so that it is worked out
		}
		return nil
	}, nil
}

// ourOwners are our allocators that know who holds what.
func ourOwners() []contestant {
	node := func(name string, fresh func() (ipam.NodeAllocator, error)) contestant {
		return contestant{name: "ours: " + name, class: owning, fill: func(fill int) (func(int) error, error) {
			return fillNode(fresh, fill)
		}}
	}
	all := []contestant{{name: "ours: ipam/datastore DataStore", class: owning, fill: fillDataStore}}
	for _, s := range systems {
		all = append(all, node(s.name, s.fresh))
	}
	return all
}

// systems are the four node allocators, empty. Nothing cools in them, as nothing cools in a peer here.
var systems = []struct {
	name  string
	fresh func() (ipam.NodeAllocator, error)
}{
	{"ipam/contiv Allocator", func() (ipam.NodeAllocator, error) { return contiv.New(contiv.Config{}) }},
	{"ipam/nodeipam Node", func() (ipam.NodeAllocator, error) { return nodeipam.NewNode(nodeipam.NodeConfig{}) }},
	{"ipam/cilium Node", func() (ipam.NodeAllocator, error) { return cilium.NewNode(cilium.NodeConfig{Pick: new(cilium.Spread)}) }},
	{"ipam/datastore Node", func() (ipam.NodeAllocator, error) {
		return datastore.NewNode(datastore.NodeConfig{Cooling: -1, Gateway: netip.MustParseAddr("169.254.1.1")})
	}},
}

func fillNode(fresh func() (ipam.NodeAllocator, error), fill int) (func(int) error, error) {
	a, err := fresh()
	if err != nil {
		return nil, err
	}
	if _, err := a.SetBlocks(epoch, []netip.Prefix{slash16}); err != nil {
		return nil, err
	}
	for i := range 1 << 16 {
		if !scattered(i, fill) {
			continue
		}
		_, _, err := a.Allocate(epoch, owner(i), ipam.Want{Addr: nth(i)})
		if err != nil && !errors.Is(err, ipam.ErrNotInPool) { // a reserved address
			return nil, err
		}
	}
	var owners [newcomers]ipam.Owner
	for i := range owners {
		owners[i] = owner(newcomer(i))
	}
	turn := 0
	return func(n int) error {
		for range n {
			o := owners[turn&(newcomers-1)]
			if _, _, err := a.Allocate(epoch, o, ipam.Want{}); err != nil {
				return err
			}
			if len(a.Release(epoch, o)) != 1 {
				return fmt.Errorf("%s held nothing", o)
			}
			turn++
		}
		return nil
	}, nil
}

// fillDataStore is one ENI with the /16 in delegated ranges, as AWS's store gets them.
func fillDataStore(fill int) (func(int) error, error) {
	ds := datastore.NewDataStore(nil, datastore.NullCheckpoint{}, epochClock)
	ds.Cooling, ds.CheckpointMigrationPhase = 0, 3
	if err := ds.AddENI("eni-0", 0, true, false); err != nil {
		return nil, err
	}
	for p := range delegated {
		if err := ds.AddIPv4CidrToStore("eni-0", p); err != nil {
			return nil, err
		}
	}
	key := func(n int) datastore.IPAMKey {
		o := owner(n)
		return datastore.IPAMKey{NetworkName: o.Network, ContainerID: o.ContainerID, IfName: o.IfName}
	}
	for i := range 1 << 16 {
		if a, _, err := ds.AssignPodIPv4Address(key(i)); err != nil || a != nth(i) {
			return nil, fmt.Errorf("address %d is %s: %w", i, a, err)
		}
	}
	for i := range 1 << 16 {
		if !scattered(i, fill) {
			if _, _, err := ds.UnassignPodIPv4Address(key(i)); err != nil {
				return nil, err
			}
		}
	}
	var keys [newcomers]datastore.IPAMKey
	for i := range keys {
		keys[i] = key(newcomer(i))
	}
	turn := 0
	return func(n int) error {
		for range n {
			k := keys[turn&(newcomers-1)]
			if _, _, err := ds.AssignPodIPv4Address(k); err != nil {
				return err
			}
			if _, _, err := ds.UnassignPodIPv4Address(k); err != nil {
				return err
			}
			turn++
		}
		return nil
	}, nil
}

// delegatedBits is the length of what an ENI has here. EC2 delegates /28s, but restoring a /16 of those takes AWS's
// store 20 seconds, as it looks at each prefix for each pod; longer ranges favor it.
const delegatedBits = 24

// delegated yields the /16 in ranges of that length.
func delegated(yield func(netip.Prefix) bool) {
	for i := 0; i < 1<<16; i += 1 << (32 - delegatedBits) {
		if !yield(netip.PrefixFrom(nth(i), delegatedBits)) {
			return
		}
	}
}
