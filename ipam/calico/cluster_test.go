package calico

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/ipam"
)

// Goal: hosts and controllers never have two agents hold one address, and come to rest with an address of each family for
// each pod as far as there are any, or none, whatever is late, lost or dies. Method: random clusters whose store swaps blocks; each
// machine's watch is behind, a write may be applied or not with its answer lost, also after the death of the machine
// that made it, agents journal late and start anew, and nodes are deleted and made again.

func TestRandomClusters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster(t)
		for range rapid.IntRange(100, 4000).Draw(t, "moves") {
			c.move(t)
			c.check(t)
		}
		c.rest(t)
	})
}

// member is a machine with its watch, its alarm and its write under way; a host's agent too, the tender's is nil.
type member struct {
	m     machine
	name  string // incarnation of its node
	watch []Event
	wake  time.Time
	write *WriteBlock
	agent *agentSim
	wants int
}

// agentSim is an agent that journals what it was told some time later, and has other nodes know of it later still.
type agentSim struct {
	alloc           Node
	told, known     []netip.Prefix
	late, journaled bool
	asks            map[uint64]ipam.Owner
	ids             uint64
}

type clusterSim struct {
	now      time.Time
	pools    Pools
	families []string
	free     [2]int // how many addresses there are
	store    map[netip.Prefix]Stored
	version  int64
	nodes    map[string]bool
	members  []*member    // the tender is the first
	adrift   []WriteBlock // writes of machines that have died
}

func newCluster(t *rapid.T) *clusterSim {
	c := &clusterSim{
		now: storyEpoch, store: map[netip.Prefix]Stored{}, nodes: map[string]bool{},
		pools:    Pools{Ranges: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/29")}, BlockBits: 30, MaxBlocks: 2, Strict: rapid.Bool().Draw(t, "strict")},
		families: []string{ipam.PoolIPv4}, free: [2]int{8, 0},
	}
	if six := rapid.SampledFrom([]int{0, 124, 125, 126}).Draw(t, "six"); six > 0 {
		c.families, c.free[1], c.pools.BlockBits6 = append(c.families, ipam.PoolIPv6), 1<<(128-six), 126
		c.pools.Ranges = append(c.pools.Ranges, netip.PrefixFrom(netip.MustParseAddr("fd00::"), six))
		if rapid.Bool().Draw(t, "IPv6 first") {
			slices.Reverse(c.families)
		}
	}
	c.members = []*member{{m: NewTender(c.pools, time.Minute)}}
	for i := range 3 {
		h := &member{name: fmt.Sprintf("n%d/1", i)}
		c.nodes[h.name] = true
		c.members = append(c.members, h)
		c.boot(h, nil)
	}
	c.list(c.members[0])
	return c
}

// boot starts a life of a host's agent, with the leases of the life before.
func (c *clusterSim) boot(h *member, before *agentSim) {
	c.leave(h)
	h.agent = &agentSim{alloc: NewNode(c.families...), asks: map[uint64]ipam.Owner{}}
	if before != nil {
		h.agent.known = before.known
		if _, err := h.agent.alloc.Replay(before.alloc.Records()); err != nil {
			panic(err)
		}
	}
	h.m, h.wake = NewHost(c.pools, h.agent.alloc), time.Time{}
	c.seen(h)
	c.list(h)
}

// leave sets a dying machine's write adrift.
func (c *clusterSim) leave(m *member) {
	if m.write != nil {
		c.adrift = append(c.adrift, *m.write)
		m.write = nil
	}
}

// list has a machine hear what there is, as behind a gap in its watch.
func (c *clusterSim) list(m *member) {
	var hosts []string
	for name := range c.nodes {
		if m.agent == nil || name == m.name {
			hosts = append(hosts, name)
		}
	}
	slices.Sort(hosts)
	m.watch = []Event{NodesListed{Hosts: hosts}, BlocksListed{Blocks: c.blocks()}}
}

func (c *clusterSim) blocks() (list []Stored) {
	for _, s := range c.store {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Stored) int { return a.CIDR.Compare(b.CIDR) })
	return list
}

func (c *clusterSim) seen(h *member) {
	c.step(h, AgentSeen{Blocks: h.agent.alloc.Blocks(), Idle: !h.agent.late})
}

func (c *clusterSim) step(m *member, ev Event) {
	for _, e := range m.m.Step(c.now, ev) {
		switch e := e.(type) {
		case WriteBlock:
			if m.write != nil {
				panic("two writes are under way")
			}
			m.write = &e
		case TellAgent:
			m.agent.told, m.agent.late, m.agent.journaled = e.Blocks, true, false
			defer c.seen(m)
		case LetGo:
			o, ok := m.agent.asks[e.ID]
			if !ok {
				panic("a plugin is let go twice")
			}
			delete(m.agent.asks, e.ID)
			if !m.agent.take(c.now, o) {
				defer c.step(m, PodRefused{Owner: o})
			}
			defer c.seen(m)
		case WakeAt:
			m.wake = e.At
		}
	}
}

// take gives a pod an address of each family, or none.
func (a *agentSim) take(now time.Time, o ipam.Owner) bool {
	for k, family := range a.alloc.families {
		if len(a.alloc.families) == 1 {
			family = ""
		}
		if _, _, err := a.alloc.Allocate(now, owner(o, k), ipam.Want{Pool: family}); err != nil {
			a.drop(now, o)
			return false
		}
	}
	return true
}

func (a *agentSim) drop(now time.Time, o ipam.Owner) {
	for k := range a.alloc.families {
		a.alloc.Release(now, owner(o, k))
	}
}

// apply does a write, or says why not.
func (c *clusterSim) apply(w WriteBlock) Wrote {
	for _, host := range w.Unless {
		if c.nodes[host] {
			return Wrote{Outcome: ipam.Conflict}
		}
	}
	have, there := c.store[w.Block.CIDR]
	if there != (w.Op != Create) || have.UID != w.Block.UID || have.Version != w.Block.Version {
		return Wrote{Outcome: ipam.Conflict}
	}
	c.version++
	s := w.Block
	s.Version = c.version
	if w.Op == Create {
		s.UID = fmt.Sprint("u", c.version)
	}
	var news Event = BlockSeen{Block: s}
	if w.Op == Delete {
		delete(c.store, s.CIDR)
		news = BlockGone{Block: s}
	} else {
		c.store[s.CIDR] = s
	}
	for _, m := range c.members {
		m.watch = append(m.watch, news)
	}
	return Wrote{Outcome: ipam.Done, Block: s}
}

// answer lets a machine's write come to its end.
func (c *clusterSim) answer(m *member, applied, lost bool) {
	w := m.write
	if w == nil {
		return
	}
	m.write = nil
	var answer Wrote
	if applied {
		answer = c.apply(*w)
	}
	if lost {
		answer = Wrote{}
	}
	c.step(m, answer)
}

// news delivers what a machine's watch has first.
func (c *clusterSim) news(m *member) {
	if len(m.watch) > 0 {
		ev := m.watch[0]
		m.watch = m.watch[1:]
		c.step(m, ev)
	}
}

// journal has an agent hold what it was told, and then other nodes know.
func (c *clusterSim) journal(h *member) {
	switch a := h.agent; {
	case a == nil || !a.late:
		return
	case a.journaled:
		a.known, a.late = nil, false
		for _, b := range a.alloc.Blocks() {
			a.known = append(a.known, b.Prefix)
		}
	default:
		if _, err := a.alloc.SetBlocks(c.now, a.told); err != nil {
			panic(err)
		}
		a.journaled = true
	}
	c.seen(h)
}

// pass lets time pass up to a machine's alarm.
func (c *clusterSim) pass(m *member) {
	if m.wake.IsZero() {
		return
	}
	if m.wake.After(c.now) {
		c.now = m.wake
	}
	m.wake = time.Time{}
	c.step(m, Woke{})
}

// pods has plugins ask for pods that are missing, and takes those back that are too many.
func (c *clusterSim) pods(h *member) {
	asked := map[ipam.Owner]bool{}
	for _, o := range h.agent.asks {
		asked[o] = true
	}
	for i := range 8 {
		o := pod(fmt.Sprint(i))
		_, holds := h.agent.alloc.Lease(o)
		switch {
		case i < h.wants && !holds && !asked[o]:
			h.agent.ids++
			h.agent.asks[h.agent.ids] = o
			c.step(h, PodComing{ID: h.agent.ids, Owner: o})
		case i >= h.wants && holds:
			h.agent.drop(c.now, o)
			c.seen(h)
		}
	}
}

// move does one thing of those that happen in clusters.
func (c *clusterSim) move(t *rapid.T) {
	m := c.members[rapid.IntRange(0, 3).Draw(t, "member")]
	switch what := rapid.IntRange(0, 39).Draw(t, "move"); {
	case what < 10:
		c.news(m)
	case what < 18:
		c.answer(m, rapid.IntRange(0, 5).Draw(t, "applied") > 0, rapid.IntRange(0, 5).Draw(t, "lost") == 0)
	case what < 25:
		c.pass(m)
	case what < 30:
		c.journal(m)
	case what == 30:
		c.list(m)
	case what == 31 && len(c.adrift) > 0:
		c.apply(c.adrift[0])
		c.adrift = c.adrift[1:]
	case what == 32: // too early
		c.step(m, Woke{})
	case what < 37 && m.agent != nil:
		m.wants = rapid.IntRange(0, 5).Draw(t, "pods")
		c.pods(m)
	case what == 37 && m.agent == nil:
		c.leave(m)
		m.m, m.wake = NewTender(c.pools, time.Minute), time.Time{} // another leader
		c.list(m)
	case what == 38 && m.agent != nil:
		c.boot(m, m.agent)
	case what == 39 && m.agent != nil: // the machine goes, and comes again under its name
		delete(c.nodes, m.name)
		tender, gone := c.members[0], m.name
		c.version++
		m.name, m.wants = fmt.Sprintf("%s/%d", gone[:2], c.version), 0
		c.nodes[m.name] = true
		tender.watch = append(tender.watch, NodeGone{Host: gone}, NodeSeen{Host: m.name})
		c.boot(m, nil)
	}
}

// check fails when two nodes have one address, by what their agents hold or by what other nodes know of them.
func (c *clusterSim) check(t *rapid.T) {
	holder := map[netip.Prefix]string{}
	for _, m := range c.members[1:] {
		has := slices.Clone(m.agent.known)
		for _, b := range m.agent.alloc.Blocks() {
			has = append(has, b.Prefix)
		}
		for _, p := range has {
			if other := holder[p]; other != "" && other != m.name {
				t.Fatalf("%s and %s both have %s", other, m.name, p)
			}
			holder[p] = m.name
		}
	}
}

// busy says what is under way.
func (c *clusterSim) busy() string {
	for _, m := range c.members {
		if why := m.m.Pending(); why != "" {
			return m.name + ": " + why
		}
	}
	return ""
}

// rest lets all of it come to rest, and looks whether pods have what there is.
func (c *clusterSim) rest(t *rapid.T) {
	end := c.now.Add(5 * time.Minute)
	for rounds := 0; c.now.Before(end) || c.busy() != ""; rounds++ {
		if rounds > 20000 {
			t.Fatalf("no rest after %s: %s", c.now.Sub(end), c.busy())
		}
		moving := false
		for _, m := range c.members {
			moving = moving || len(m.watch) > 0 || m.write != nil || m.agent != nil && m.agent.late
			c.news(m)
			c.answer(m, true, false)
			c.journal(m)
			c.check(t)
		}
		if moving {
			continue
		}
		next := c.members[0]
		for _, m := range c.members {
			if !m.wake.IsZero() && (next.wake.IsZero() || m.wake.Before(next.wake)) {
				next = m
			}
		}
		if !next.wake.IsZero() {
			c.pass(next)
			continue
		}
		c.now = c.now.Add(15 * time.Second)
		for _, m := range c.members[1:] {
			if c.now.Before(end) { // kubelets ask again
				c.pods(m)
			}
		}
	}
	for _, s := range c.store {
		c.free[placeOf(ipam.PoolOf(s.CIDR.Addr()))] -= len(s.Hosts) - len(s.Free)
	}
	some := !slices.ContainsFunc(c.families, func(f string) bool { return c.free[placeOf(f)] <= 0 })
	for _, m := range c.members[1:] {
		pods := m.agent.alloc.Len() / len(c.families)
		if pods < m.wants && some && !c.pools.Strict {
			t.Fatalf("%s has %d pods of %d beside %v free addresses", m.name, pods, m.wants, c.free)
		}
		if n := len(m.agent.alloc.Blocks()); n > max(m.wants, LeastKept)*len(c.families) {
			t.Fatalf("%s has %d addresses for %d pods", m.name, n, m.wants)
		}
	}
}
