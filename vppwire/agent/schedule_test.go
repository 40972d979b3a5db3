package agent_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/sim/engine"
	. "github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/story"
)

// TestSchedules lets three agents on one store race: whose answer comes next is drawn, and between answers ranges
// change (to splits whose blocks overlap the old ones), pods come and go, agents die and come back, store answers and
// watches are lost. Goal: at every instant no two nodes act on one ID, hold one address, or give out addresses of a
// block that another node holds; and when all is calm every node is idle on ranges that everybody has. Method: property
// over seeds.
func TestSchedules(t *testing.T) {
	seeds := 300
	if testing.Short() {
		seeds = 60
	}
	moved := 0
	for seed := range seeds {
		s := newSchedule(t, uint64(seed))
		s.run()
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, tail(s.l.Out.String(), 60))
		}
		moved += s.moved
	}
	if moved < seeds {
		t.Errorf("only %d nodes in %d runs ended on new blocks: the test does not get anywhere", moved, seeds)
	}
}

type schedule struct {
	t      *testing.T
	l      *story.Lab
	choose engine.Chooser
	n      int
	pools  []Pools
	told   map[string]int // the last pools that a node was told
	pods   map[string][]string
	moved  int
}

func newSchedule(t *testing.T, seed uint64) *schedule {
	s := &schedule{t: t, l: story.New(t), choose: engine.Seeded(seed), told: map[string]int{}, pods: map[string][]string{}}
	s.pools = []Pools{story.Pools(1, "10.1.0.0/16", 24)}
	for i := range 3 {
		length := [...]int{25, 23, 24, 26}[s.choose.Pick("length", 4)]
		subnet := [...]string{"10.1.0.0/16", "10.1.0.0/16", "10.1.0.0/17", "10.2.0.0/16"}[s.choose.Pick("subnet", 4)]
		s.pools = append(s.pools, story.Pools(int64(i+2), subnet, length))
	}
	s.l.Pools = s.pools[0]
	for i := range 3 {
		b := s.l.Machine("n" + strconv.Itoa(i+1))
		b.VPP.Kill() // wiring has its own tests; here ADDs end with the lease
		b.VPP = nil
	}
	for _, name := range s.l.Names {
		s.boot(s.l.Machines[name])
	}
	return s
}

func (s *schedule) boot(b *story.Machine) {
	s.l.Pools = s.pools[s.told[b.Name]]
	b.Start()
	b.Tell()
}

func (s *schedule) run() {
	for range 150 {
		s.disturb()
		s.one()
		if s.t.Failed() {
			return
		}
	}
	// Calm: everybody hears of the last ranges, everything lost is given up in time.
	s.l.Mishap = nil
	for _, name := range s.l.Names {
		b := s.l.Machines[name]
		s.told[name] = len(s.pools) - 1
		if b.Agent == nil {
			s.boot(b)
		}
		b.Step(PoolsChanged{Pools: s.pools[len(s.pools)-1]})
		for _, container := range s.pods[name] {
			b.Host.RemoveNamespace(story.Netns(container))
			b.Del(container)
		}
		b.StartVPP()
	}
	for range 40 {
		s.l.Pass(10 * time.Second)
		s.check()
	}
	for _, name := range s.l.Names {
		b := s.l.Machines[name]
		if p := b.Agent.Pending(); p != "" {
			s.t.Errorf("%s is not idle in the end: %s", name, p)
		}
		mine, err := PlanOf(s.pools[len(s.pools)-1]).Node(b.Agent.ID())
		if err != nil || !slices.Equal(b.Agent.ActiveBlocks(), []netip.Prefix{mine.PodSubnet}) {
			s.t.Errorf("%s ends with %s, not with %s, %v", name, b.State(), mine.PodSubnet, err)
		} else {
			s.moved++
		}
	}
}

// one performs the oldest thing under way of one node; per node, order is kept, as connections do.
func (s *schedule) one() {
	busy := s.l.Busy()
	if len(busy) == 0 {
		return
	}
	s.l.Perform(busy[s.choose.Pick("next", len(busy))])
	s.check()
}

func (s *schedule) disturb() {
	b := s.l.Machines[s.l.Names[s.choose.Pick("node", 3)]]
	switch s.choose.Pick("what", 24) {
	case 0:
		s.l.Pass(time.Duration(s.choose.Pick("pass", 8)) * time.Second)
	case 1, 2:
		if s.told[b.Name] < len(s.pools)-1 {
			s.told[b.Name]++
			b.Step(PoolsChanged{Pools: s.pools[s.told[b.Name]]})
		}
	case 3, 4, 5:
		s.n++
		container := "c" + strconv.Itoa(s.n)
		if b.Agent != nil {
			b.Add("pod-"+container, container)
			s.pods[b.Name] = append(s.pods[b.Name], container)
		}
	case 6:
		if list := s.pods[b.Name]; len(list) > 0 && b.Agent != nil {
			b.Del(list[0])
		}
	case 7:
		if b.Agent == nil {
			s.boot(b)
		} else {
			b.Kill()
			b.Open = map[uint64]string{}
		}
	case 8:
		s.l.Store.LoseReply = true
	case 9:
		s.l.Store.LoseRequest = true
	case 10:
		if watch := s.l.Store.Watch(b); watch != 0 {
			b.Step(StoreWatchLost{Watch: watch})
		}
	}
	s.check()
}

// check compares every two nodes, dead agents' last state included: their pods live on.
func (s *schedule) check() {
	type holdings struct {
		id     uint32
		active []netip.Prefix
		leases map[netip.Addr]string
		blocks []netip.Prefix
	}
	all := map[string]holdings{}
	for _, name := range s.l.Names {
		a := s.l.Machines[name].Agent
		k := holdings{leases: map[netip.Addr]string{}}
		if a == nil {
			s.dead(s.l.Machines[name], &k.id, k.leases, &k.blocks)
			all[name] = k
			continue
		}
		k.id = a.ID()
		for lease := range a.Leases() {
			k.leases[lease.Addr] = lease.Owner.ContainerID
		}
		for _, b := range a.Blocks() {
			k.blocks = append(k.blocks, b.Prefix)
			if !b.Draining && a.Usable() {
				k.active = append(k.active, b.Prefix)
			}
		}
		all[name] = k
	}
	for _, x := range s.l.Names {
		for _, y := range s.l.Names {
			if x == y || all[x].id == 0 || all[y].id == 0 {
				continue
			}
			if all[x].id == all[y].id {
				s.t.Errorf("%s and %s act on ID %d", x, y, all[x].id)
			}
			for _, b := range all[x].active {
				if i := slices.IndexFunc(all[y].blocks, b.Overlaps); i >= 0 {
					s.t.Errorf("%s gives out %s while %s holds %s", x, b, y, all[y].blocks[i])
				}
			}
			for addr, c := range all[x].leases {
				if d, ok := all[y].leases[addr]; ok {
					s.t.Errorf("%s is held by %s and %s", addr, fmt.Sprint(x, "/", c), fmt.Sprint(y, "/", d))
				}
			}
		}
	}
}

// dead reads what a dead agent's journal says.
func (s *schedule) dead(b *story.Machine, id *uint32, leases map[netip.Addr]string, blocks *[]netip.Prefix) {
	alloc := freshAllocator(s.t)
	for _, text := range b.Journal {
		r, err := ParseRecord(text)
		if err != nil {
			s.t.Fatal(err)
		}
		switch r.Kind {
		case RecordNode:
			*id = r.NodeID
		case RecordIPAM:
			if err := alloc.Apply(r.IPAM); err != nil {
				s.t.Error(err)
			}
		}
	}
	for lease := range alloc.Leases() {
		leases[lease.Addr] = lease.Owner.ContainerID
	}
	for _, block := range alloc.Blocks() {
		*blocks = append(*blocks, block.Prefix)
	}
}
