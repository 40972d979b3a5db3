package calico

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/ipam"
)

// cluster is blocks as a datastore keeps them, with versions, and what each host believes it has.
type cluster struct {
	pools Pools
	list  []Block // ascending
	alive map[string]bool
	has   map[string]map[netip.Addr]bool
}

func (c *cluster) set(b Block) {
	i, found := slices.BinarySearchFunc(c.list, b, func(x, y Block) int { return x.CIDR.Compare(y.CIDR) })
	switch {
	case b.Affinity == "" && b.Empty():
		if found {
			c.list = slices.Delete(c.list, i, i+1)
		}
	case found:
		c.list[i] = b
	default:
		c.list = slices.Insert(c.list, i, b)
	}
}

// blocks is how many the ranges of TestAssign have.
const blocks = 6

func (b Block) full() bool { return !slices.Contains(b.Hosts, "") }

// Goal: no address is ever two hosts'; a host is refused only when it has all the blocks that it may have or none is
// unclaimed, and with borrowing only when all that are there are full as well; within a block the longest free address
// comes first; what hosts that are gone had comes back, and at the end the datastore is empty. Method: rapid draws what
// hosts do; a map of addresses is the twin.
func TestAssign(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := &cluster{alive: map[string]bool{}, has: map[string]map[netip.Addr]bool{}, pools: Pools{
			Ranges: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/27"), netip.MustParsePrefix("10.2.0.0/28")}, BlockBits: 29,
			MaxBlocks: rapid.IntRange(1, 4).Draw(rt, "most"), Strict: rapid.Bool().Draw(rt, "strict"),
		}}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			host := fmt.Sprintf("h%d", rapid.IntRange(0, 5).Draw(rt, "host"))
			switch rapid.IntRange(0, 3).Draw(rt, "do") {
			case 0, 1:
				c.assign(rt, host, rapid.IntRange(1, 12).Draw(rt, "n"))
			case 2:
				c.release(rt, host)
			case 3:
				delete(c.alive, host)
				delete(c.has, host)
				c.tend(rt)
			}
		}
		clear(c.alive)
		clear(c.has)
		c.tend(rt)
		if len(c.list) > 0 {
			rt.Fatalf("left: %v", c.list)
		}
	})
}

func (c *cluster) assign(rt *rapid.T, host string, n int) {
	c.alive[host] = true
	if c.has[host] == nil {
		c.has[host] = map[netip.Addr]bool{}
	}
	b, err := c.pools.Assign(c.list, host, make([]Use, n)...)
	if err != nil {
		own := 0
		for _, b := range c.list {
			if b.Affinity == host {
				own++
			}
		}
		borrow := !c.pools.Strict && slices.ContainsFunc(c.list, func(b Block) bool { return !b.full() })
		if !errors.Is(err, ErrNoAddress) || borrow || own < c.pools.MaxBlocks && len(c.list) < blocks {
			rt.Fatalf("%s: %v", host, err)
		}
		return
	}
	before := Block{Affinity: host}
	if i := slices.IndexFunc(c.list, func(x Block) bool { return x.CIDR == b.CIDR }); i >= 0 {
		before = c.list[i]
	} else {
		before = NewBlock(b.CIDR, host)
	}
	if c.pools.Strict && b.Affinity != host {
		rt.Fatalf("%s borrows of %s", host, b.Affinity)
	}
	for i, index := range before.Free {
		a := before.Addr(index)
		if got := b.Hosts[index] == host; got != (i < n) {
			rt.Fatalf("of %v, %d wanted: %s is %v", before.Free, n, a, got)
		}
		if i < n {
			c.has[host][a] = true
		}
	}
	c.set(b)
	for a := range c.has[host] { // in any order: each by itself
		for other, held := range c.has {
			if other != host && held[a] {
				rt.Fatalf("%s is %s's and %s's", a, host, other)
			}
		}
	}
}

func (c *cluster) release(rt *rapid.T, host string) {
	for a := range c.has[host] { // in any order: all go
		i := slices.IndexFunc(c.list, func(x Block) bool { return x.CIDR.Contains(a) })
		b, n := c.list[i].Release(host, a)
		if _, again := b.Release(host, a); n != 1 || again != 0 {
			rt.Fatalf("%s of %s: released %d and %d", a, host, n, again)
		}
		c.set(b)
		delete(c.has[host], a)
	}
}

func (c *cluster) tend(rt *rapid.T) {
	for _, b := range slices.Clone(c.list) {
		others := -1
		for _, x := range c.list {
			if x.Affinity == b.Affinity {
				others++
			}
		}
		if next, changed := c.pools.Tend(b, b.Empty(), others, func(h string) bool { return c.alive[h] }); changed {
			c.set(next)
		}
	}
	for _, b := range c.list {
		for _, h := range b.Hosts {
			if h != "" && !c.alive[h] {
				rt.Fatalf("%s has something of %s", h, b.CIDR)
			}
		}
	}
}

// Goal: a host keeps one empty block, gives back the second, and all of a range that is gone. Method: a table.
func TestTend(t *testing.T) {
	p := Pools{Ranges: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/24")}, BlockBits: 26, MaxBlocks: 20}
	lives := func(h string) bool { return h == "a" }
	mine, foreign := netip.MustParsePrefix("10.1.0.0/26"), netip.MustParsePrefix("10.9.0.0/26")
	for _, s := range []struct {
		cidr     netip.Prefix
		affinity string
		empty    bool
		others   int
		used     string
		want     string
		changes  bool
	}{
		{mine, "a", true, 0, "", "a", false},
		{mine, "a", true, 1, "", "", true},
		{mine, "a", false, 1, "", "a", false},
		{mine, "a", true, 1, "a", "a", false},
		{mine, "gone", false, 0, "a", "", true},
		{mine, "a", false, 0, "gone", "a", true},
		{mine, "", false, 0, "", "", true},
		{mine, "", false, 0, "a", "", false},
		{foreign, "a", true, 0, "", "", true},
	} {
		b := NewBlock(s.cidr, s.affinity)
		if s.used != "" {
			b = b.assign(s.used, []Use{{}})
		}
		next, changed := p.Tend(b, s.empty, s.others, lives)
		if next.Affinity != s.want || changed != s.changes || len(next.Of("gone")) > 0 {
			t.Errorf("%+v: %q %v %v", s, next.Affinity, changed, next.Hosts)
		}
	}
}

// Goal: an agent gives what its host was assigned, in that order, with Calico's gateway, and drops what leaves when its
// pod has gone.
func TestNode(t *testing.T) {
	n := NewNode()
	one := func(s string) netip.Prefix { return netip.MustParsePrefix(s + "/32") }
	now := time.Unix(1700000000, 0)
	if _, err := n.SetBlocks(now, []netip.Prefix{one("10.1.0.9"), one("10.1.0.0")}); err != nil {
		t.Fatal(err)
	}
	owner := func(id string) ipam.Owner { return ipam.Owner{Network: "k8s", ContainerID: id, IfName: "eth0"} }
	for i, want := range []string{"10.1.0.9", "10.1.0.0"} {
		l, _, err := n.Allocate(now, owner(fmt.Sprint(i)), ipam.Want{})
		if err != nil || l.Addr.String() != want || l.Gateway != Gateway {
			t.Fatalf("%v %v", l, err)
		}
	}
	if _, _, err := n.Allocate(now, owner("x"), ipam.Want{}); !errors.Is(err, ipam.ErrExhausted) {
		t.Errorf("a third address: %v", err)
	}
	if _, err := n.SetBlocks(now, []netip.Prefix{one("10.1.0.0")}); err != nil || len(n.Blocks()) != 2 {
		t.Errorf("%v: %v", err, n.Blocks())
	}
	n.Release(now, owner("0"))
	if len(n.Blocks()) != 1 {
		t.Errorf("left: %v", n.Blocks())
	}
	if _, err := n.SetBlocks(now, []netip.Prefix{netip.MustParsePrefix("169.254.1.0/24")}); err == nil {
		t.Error("the gateway's block is accepted")
	}
}

// Goal: a node of two families gives an address of the pool that is asked for, with that family's gateway, and of none that it has no
// address of. Method: one address of each, then one of them leaves.
func TestNodeOfTwoFamilies(t *testing.T) {
	n := NewNode(ipam.PoolIPv6, ipam.PoolIPv4)
	now := time.Unix(1700000000, 0)
	four, six := netip.MustParsePrefix("10.1.0.9/32"), netip.MustParsePrefix("fd00::9/128")
	if _, err := n.SetBlocks(now, []netip.Prefix{six, four}); err != nil {
		t.Fatal(err)
	}
	if n.FreeIn(now, ipam.PoolIPv4) != 1 || n.FreeIn(now, ipam.PoolIPv6) != 1 {
		t.Errorf("free: %d and %d", n.FreeIn(now, ipam.PoolIPv4), n.FreeIn(now, ipam.PoolIPv6))
	}
	o := pod("p")
	for i, want := range []struct {
		pool          string
		addr, gateway netip.Addr
	}{{ipam.PoolIPv4, four.Addr(), Gateway}, {ipam.PoolIPv6, six.Addr(), Gateway6}} {
		l, _, err := n.Allocate(now, owner(o, i), ipam.Want{Pool: want.pool})
		if err != nil || l.Addr != want.addr || l.Gateway != want.gateway {
			t.Errorf("%s: %v %v", want.pool, l, err)
		}
	}
	again := NewNode(ipam.PoolIPv4, ipam.PoolIPv6)
	if _, err := again.Replay(n.Records()); err != nil || again.Len() != 2 {
		t.Errorf("replayed: %d leases, %v", again.Len(), err)
	}
	n.Release(now, owner(o, 1))
	if _, err := n.SetBlocks(now, []netip.Prefix{four}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := n.Allocate(now, owner(pod("q"), 1), ipam.Want{Pool: ipam.PoolIPv6}); !errors.Is(err, ipam.ErrNoBlock) {
		t.Errorf("of a family without addresses: %v", err)
	}
}

// Goal: blocks are cut from IPv6 ranges whose blocks no 64 bits count, and from those that are full. Method: hosts take blocks of a /48, and
// of a /125 with a block that a longer range left.
func TestBlocksOfIPv6(t *testing.T) {
	p := Pools{Ranges: []netip.Prefix{netip.MustParsePrefix("fd00::/48")}, BlockBits: 26, BlockBits6: DefaultBlockBits6, MaxBlocks: 20}
	var all []Block
	for _, host := range []string{"a", "b", "c"} {
		b, err := p.Assign(all, host, Use{})
		if err != nil || b.CIDR.Bits() != DefaultBlockBits6 || len(b.Hosts) != 64 {
			t.Fatalf("%s: %v %v", host, b.CIDR, err)
		}
		for _, other := range all {
			if other.CIDR.Overlaps(b.CIDR) {
				t.Errorf("%s overlaps %s", b.CIDR, other.CIDR)
			}
		}
		all = append(all, b)
	}
	p.Ranges[0], p.BlockBits6, p.Strict = netip.MustParsePrefix("fd00::/125"), 127, true
	wide := NewBlock(netip.MustParsePrefix("fd00::/124"), "b")
	if b, err := p.Assign([]Block{wide}, "a", Use{}); err == nil {
		t.Errorf("%s is cut from a block", b.CIDR)
	}
	half := NewBlock(netip.MustParsePrefix("fd00::/126"), "b")
	if b, err := p.Assign([]Block{half}, "a", Use{}); err != nil || b.CIDR.Overlaps(half.CIDR) {
		t.Errorf("%s beside %s: %v", b.CIDR, half.CIDR, err)
	}
}
