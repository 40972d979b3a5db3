package check

import (
	"fmt"
	"iter"
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// history is a cluster reduced to what facts tell, with the facts so far. It obeys no rule: an address may be given
// twice.
type history struct {
	nodes map[string]*recorded
	// assigned outlives its node: an object does.
	assigned map[string][]ipam.Block
	facts    []fact.Fact
}

type recorded struct {
	up, agent bool
	id        uint32
	blocks    []ipam.Block
	leases    map[ipam.Owner]netip.Addr
	// journal is what leases become when the agent reads them back.
	journal map[ipam.Owner]netip.Addr
	pods    map[ipam.Owner]netip.Addr
}

var historyNodes = []string{"n1", "n2", "n3"}

func newHistory() *history {
	return &history{nodes: map[string]*recorded{}, assigned: map[string][]ipam.Block{}}
}

func (h *history) node(name string) *recorded {
	n := h.nodes[name]
	if n == nil {
		n = &recorded{up: true, agent: true, leases: map[ipam.Owner]netip.Addr{}, journal: map[ipam.Owner]netip.Addr{}, pods: map[ipam.Owner]netip.Addr{}}
		h.nodes[name] = n
	}
	return n
}

// apply brings the cluster to where the fact says it is.
func (h *history) apply(f fact.Fact) {
	h.facts = append(h.facts, f)
	n := h.node(f.Node)
	switch x := f.What.(type) {
	case fact.Leased:
		n.leases[x.Owner] = x.Addr
	case fact.Released:
		delete(n.leases, x.Owner)
	case fact.Answered:
		n.pods[x.Owner] = x.Addr
	case fact.Deleted, fact.SandboxGone:
		delete(n.pods, fact.OwnerOf(x))
	case fact.NodeID:
		n.id = x.ID
	case fact.NodeBlocks:
		n.blocks = x.Blocks
	case fact.Assigned:
		h.assigned[f.Node] = x.Blocks
	case fact.AgentDown:
		n.agent, n.journal = false, maps.Clone(n.leases)
		clear(n.leases)
	case fact.AgentUp:
		n.agent = true
		clear(n.leases)
		for _, l := range x.Leases {
			n.leases[l.Owner] = l.Addr
		}
	case fact.NodeGone:
		delete(h.nodes, f.Node)
	}
}

func (h *history) snapshot() fact.Snapshot {
	s := fact.Snapshot{Settled: true}
	for _, name := range slices.Sorted(maps.Keys(h.nodes)) {
		n := h.nodes[name]
		st := fact.NodeState{Name: name, MachineUp: n.up, AgentUp: n.agent, ID: n.id, Blocks: n.blocks}
		for _, o := range owners(n.pods) {
			st.Pods = append(st.Pods, fact.PodState{Owner: o, Addr: n.pods[o]})
		}
		if n.agent {
			leases := leaseList(n.leases)
			st.Leases = func() iter.Seq[ipam.Lease] { return slices.Values(leases) }
		}
		st.Assigned = h.assigned[name]
		s.Nodes = append(s.Nodes, st)
	}
	for _, name := range historyNodes {
		if h.nodes[name] == nil {
			s.Nodes = append(s.Nodes, fact.NodeState{Name: name, Assigned: h.assigned[name]})
		}
	}
	return s
}

func owners(m map[ipam.Owner]netip.Addr) []ipam.Owner {
	return slices.SortedFunc(maps.Keys(m), func(a, b ipam.Owner) int {
		if a.ContainerID < b.ContainerID {
			return -1
		}
		return 1
	})
}

func leaseList(m map[ipam.Owner]netip.Addr) []ipam.Lease {
	var list []ipam.Lease
	for o, a := range m {
		list = append(list, ipam.Lease{Owner: o, Addr: a})
	}
	slices.SortFunc(list, func(a, b ipam.Lease) int { return a.Addr.Compare(b.Addr) })
	return list
}

// draw is one thing that happens, as the facts that tell it. Most of it is as it should be; addresses and IDs come from
// so small a set that they collide.
func (h *history) draw(t *rapid.T) []fact.Fact {
	name := rapid.SampledFrom(historyNodes).Draw(t, "node")
	n := h.node(name)
	k := rapid.IntRange(0, len(historyNodes)-1).Draw(t, "range")
	o := ipam.Owner{Network: "k8s", ContainerID: fmt.Sprint("c", rapid.IntRange(0, 2).Draw(t, "owner")), IfName: "eth0"}
	addr := netip.AddrFrom4([4]byte{10, 0, byte(k), byte(rapid.IntRange(1, 4).Draw(t, "host"))})
	at := 5 * time.Millisecond * time.Duration(len(h.facts))
	tell := func(list ...fact.What) (facts []fact.Fact) {
		for _, w := range list {
			facts = append(facts, fact.Fact{At: at, Node: name, What: w})
		}
		return facts
	}
	blocks := func() []ipam.Block {
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(k), 0}), 22+rapid.IntRange(1, 2).Draw(t, "bits")).Masked()
		return []ipam.Block{{Prefix: p, Gateway: p.Addr().Next()}}
	}
	if n.blocks == nil {
		return tell(fact.NodeBlocks{Blocks: blocks()})
	}
	kind := rapid.IntRange(0, 13).Draw(t, "what")
	held, holds := n.leases[o]
	if holds && kind < 4 {
		addr = held
		if kind == 0 {
			return tell(fact.Answered{Owner: o, Addr: addr})
		}
	}
	switch kind {
	case 0, 1, 2:
		if n.agent && !holds {
			return tell(fact.Leased{Owner: o, Addr: addr})
		}
		return tell(fact.Refused{Owner: o, Exhausted: rapid.IntRange(0, 3).Draw(t, "exhausted") == 0})
	case 3, 4:
		if n.agent {
			return tell(fact.Answered{Owner: o, Addr: addr})
		}
	case 5:
		if !holds {
			return tell(fact.Deleted{Owner: o})
		}
		rest := time.Duration(rapid.IntRange(0, 2).Draw(t, "rest")) * 200 * time.Millisecond
		released, next := fact.Released{Owner: o, Addr: held, Rest: rest}, o
		next.ContainerID = "next"
		if _, has := n.leases[next]; !has && rapid.IntRange(0, 2).Draw(t, "at once") == 0 {
			return tell(fact.Answered{Owner: o, Addr: held}, released, fact.Deleted{Owner: o}, fact.Leased{Owner: next, Addr: held})
		}
		return tell(released, fact.Deleted{Owner: o})
	case 6:
		return tell(fact.SandboxGone{Owner: o})
	case 7:
		return tell(fact.NodeID{ID: uint32(rapid.IntRange(0, 3).Draw(t, "id"))})
	case 8:
		return tell(fact.NodeBlocks{Blocks: blocks()})
	case 9:
		return tell(fact.NodeGone{})
	case 10:
		if n.agent {
			return tell(fact.AgentDown{Why: rapid.SampledFrom([]string{fact.CleanStop, fact.CleanStop, "killed"}).Draw(t, "how")})
		}
		leases := leaseList(n.journal)
		if len(leases) > 0 && rapid.IntRange(0, 3).Draw(t, "lost") == 0 {
			leases = leases[1:]
		}
		return tell(fact.AgentUp{Leases: leases}, fact.NodeBlocks{Blocks: n.blocks})
	case 11:
		if !n.agent {
			break
		}
		// A restart within one step, so that something follows it soon enough to matter.
		facts := tell(fact.AgentDown{Why: fact.CleanStop}, fact.AgentUp{Leases: leaseList(n.leases)}, fact.NodeBlocks{Blocks: n.blocks})
		if rapid.IntRange(0, 4).Draw(t, "writes") == 0 {
			facts = append(facts, tell(fact.VPPWrite{})...)
		}
		return facts
	}
	switch rapid.IntRange(0, 9).Draw(t, "else") {
	case 0, 1, 2, 3, 4:
		if rapid.IntRange(0, 2).Draw(t, "any") > 0 {
			return tell(fact.Assigned{Blocks: blocks()})
		}
		return tell(fact.Assigned{})
	case 5:
		return tell(fact.Asked{Owner: o, Command: "Check"})
	case 6:
		return []fact.Fact{{At: at, What: fact.Disturbed{}}}
	case 7:
		// A pool that cannot decide, or a node whose block is to be given back and then is not.
		given := blocks()
		var more, less fact.What = fact.Assigned{Blocks: given}, fact.Assigned{}
		if rapid.Bool().Draw(t, "used") {
			draining := slices.Clone(given)
			draining[0].Draining = true
			more, less = fact.NodeBlocks{Blocks: given}, fact.NodeBlocks{Blocks: draining}
		}
		turns := tell([]fact.What{more, less, more, less, more, less}[:rapid.IntRange(3, 6).Draw(t, "turns")]...)
		if rapid.IntRange(0, 3).Draw(t, "at once") > 0 {
			for i := range turns { // and what comes next is no earlier
				turns[i].At = at - time.Duration(len(turns)-1-i)
			}
		}
		return turns
	}
	return tell(fact.VPPWrite{Call: "ip_route_add_del"})
}

// Goal: judging fact by fact is judging every moment. Method: random histories of three nodes and few addresses, right
// and wrong ones. After each fact the watcher must say what the law says of the whole: the snapshot check where that
// sees the same things, else a second look at the whole history. Until the first violation; what follows one is not
// promised.
func TestWatchersAgree(t *testing.T) {
	broken := map[string]int{}
	for _, tc := range []struct {
		law string
		// twin judges the last fact; relevant says when the two see the same things.
		twin     func(h *history) bool
		relevant func(f fact.Fact) bool
	}{
		{oneOwnerName, byCheck(checkOneOwner), always},
		// Leases read back are judged with the blocks that follow.
		{leaseInRangeName, leasedOutside, func(f fact.Fact) bool { return !readsBack(f) }},
		{nodeIDsName, byCheck(checkNodeIDs), always},
		{grantsName, byCheck(checkGrants), always},
		{addressStableName, byCheck(checkAddressStable), always},
		// The watcher asks when an agent restarts, and about that one.
		{addNotForgottenName, byCheckOfNode(checkAddNotForgotten), readsBack},
		{sameAnswerName, answeredOtherwise, always},
		{quietRestartName, wroteAfterCleanStop, always},
		{addressRestsName, restedTooShort, always},
		{grantsUsedName, usedUnassigned, always},
		{grantsSteadyName, turnedTooOften, always},
	} {
		// A law that random histories break rarely gets more of them: one that they never break has not been tried.
		const rounds = 60
		check := rapid.MakeCheck(func(t *rapid.T) {
			law, _ := ByName(tc.law)
			h, w := newHistory(), law.Watch()
			for range rapid.IntRange(1, 60).Draw(t, "steps") {
				for _, f := range h.draw(t) {
					h.apply(f)
					err := w.Observe(&f)
					if !tc.relevant(f) {
						continue
					}
					if bad := tc.twin(h); bad != (err != nil) {
						t.Fatalf("after %d facts, the last %+v: the watcher says %v, the whole %v", len(h.facts), f, err, bad)
					}
					if err != nil {
						broken[tc.law]++
						return
					}
				}
			}
		})
		for round := 0; round < rounds && broken[tc.law] == 0 && !t.Failed(); round++ {
			t.Run(tc.law, check)
		}
		if broken[tc.law] == 0 && !t.Failed() {
			t.Errorf("no history broke %s", tc.law)
		}
	}
}

func always(fact.Fact) bool { return true }

func readsBack(f fact.Fact) bool {
	_, up := f.What.(fact.AgentUp)
	return up
}

// byCheck judges where the history has come to.
func byCheck(check func(fact.Snapshot) (int64, error)) func(*history) bool {
	return func(h *history) bool { _, err := check(h.snapshot()); return err != nil }
}

// byCheckOfNode judges the last fact's node alone.
func byCheckOfNode(check func(fact.Snapshot) (int64, error)) func(*history) bool {
	return func(h *history) bool {
		s := h.snapshot()
		n, ok := s.Node(h.facts[len(h.facts)-1].Node)
		if !ok {
			return false
		}
		s.Nodes = []fact.NodeState{*n}
		_, err := check(s)
		return err != nil
	}
}

func answeredOtherwise(h *history) bool {
	before, last := h.facts[:len(h.facts)-1], h.facts[len(h.facts)-1]
	x, ok := last.What.(fact.Answered)
	if !ok {
		return false
	}
	a := answeredLast(before, last.Node, x.Owner)
	return a.IsValid() && a != x.Addr
}

// restedTooShort looks for the release of the address that the last fact leases.
func restedTooShort(h *history) bool {
	before, last := h.facts[:len(h.facts)-1], h.facts[len(h.facts)-1]
	x, ok := last.What.(fact.Leased)
	if !ok {
		return false
	}
	for i, f := range slices.Backward(before) {
		if f.Node != last.Node {
			continue
		}
		switch y := f.What.(type) {
		case fact.NodeGone:
			return false
		case fact.Leased:
			if y.Addr == x.Addr {
				return false
			}
		case fact.AgentUp:
			if slices.ContainsFunc(y.Leases, func(l ipam.Lease) bool { return l.Addr == x.Addr }) {
				return false
			}
		case fact.Released:
			if y.Addr == x.Addr && y.Rest > 0 && answeredLast(before[:i], f.Node, y.Owner) == y.Addr {
				return last.At < f.At+y.Rest && y.Owner != x.Owner
			}
		}
	}
	return false
}

// answeredLast is the address that a node's sandbox lives with after these facts; zero where it does not live.
func answeredLast(facts []fact.Fact, node string, o ipam.Owner) netip.Addr {
	for _, f := range slices.Backward(facts) {
		if f.Node != node {
			continue
		}
		switch x := f.What.(type) {
		case fact.NodeGone:
			return netip.Addr{}
		case fact.Deleted, fact.SandboxGone:
			if fact.OwnerOf(x) == o {
				return netip.Addr{}
			}
		case fact.Answered:
			if x.Owner == o {
				return x.Addr
			}
		}
	}
	return netip.Addr{}
}

// leasedOutside reports whether the last fact leaves a lease outside its node's blocks, or makes one out of a draining
// block.
func leasedOutside(h *history) bool {
	return byCheck(checkLeaseInRange)(h) || leasedFromDraining(h)
}

// leasedFromDraining reports whether the last fact is a lease out of a block that has been draining for too long, and
// of no other one.
func leasedFromDraining(h *history) bool {
	last := h.facts[len(h.facts)-1]
	leased, ok := last.What.(fact.Leased)
	if !ok {
		return false
	}
	var drains []time.Duration // since when, of each block of the last word that has the address; negative: it does not drain
	for i, f := range h.facts {
		if f.Node != last.Node {
			continue
		}
		switch x := f.What.(type) {
		case fact.NodeGone:
			drains = nil
		case fact.NodeBlocks:
			drains = nil
			for _, b := range x.Blocks {
				switch since := drainsSince(h.facts[:i+1], last.Node, b.Prefix); {
				case !b.Prefix.Contains(leased.Addr):
				case !b.Draining:
					drains = append(drains, -1)
				default:
					drains = append(drains, since)
				}
			}
		}
	}
	return len(drains) > 0 && !slices.Contains(drains, -1) && last.At-drains[len(drains)-1] > drainedLate
}

// drainsSince is when a node's block was first told as draining, without a word of another kind behind it.
func drainsSince(facts []fact.Fact, node string, block netip.Prefix) (since time.Duration) {
	drained := false
	for _, f := range facts {
		if f.Node != node {
			continue
		}
		switch x := f.What.(type) {
		case fact.NodeGone:
			drained = false
		case fact.NodeBlocks:
			was := drained
			drained = slices.ContainsFunc(x.Blocks, func(b ipam.Block) bool { return b.Prefix == block && b.Draining })
			if drained && !was {
				since = f.At
			}
		}
	}
	return since
}

// usedUnassigned goes through a node's history from its first grant on.
func usedUnassigned(h *history) bool {
	last := h.facts[len(h.facts)-1]
	var blocks, before, used []ipam.Block
	known := false
	held := map[netip.Addr]ipam.Owner{}
	for _, f := range h.facts {
		if f.Node != last.Node {
			continue
		}
		if x, ok := f.What.(fact.Assigned); ok && len(x.Blocks) > 0 {
			known = true
		}
		if !known {
			continue
		}
		switch x := f.What.(type) {
		case fact.Assigned:
			before, blocks = blocks, x.Blocks
		case fact.NodeBlocks:
			used = x.Blocks
		case fact.Leased:
			held[x.Addr] = x.Owner
		case fact.Released:
			if held[x.Addr] == x.Owner {
				delete(held, x.Addr)
			}
		case fact.AgentUp:
			clear(held)
			for _, l := range x.Leases {
				held[l.Addr] = l.Owner
			}
		case fact.AgentDown:
			clear(held)
		case fact.NodeGone:
			clear(held)
			if x.Left {
				used = nil
			}
		}
	}
	for a := range held {
		if !slices.ContainsFunc(blocks, func(b ipam.Block) bool { return b.Prefix.Contains(a) }) {
			return true
		}
	}
	// A block that a node uses is not taken from it; a node that has none any more has left.
	in := func(list []ipam.Block, p netip.Prefix) bool {
		return slices.ContainsFunc(list, func(b ipam.Block) bool { return b.Prefix == p })
	}
	_, assigns := last.What.(fact.Assigned)
	return assigns && len(blocks) > 0 && slices.ContainsFunc(used, func(b ipam.Block) bool {
		return in(before, b.Prefix) && !in(blocks, b.Prefix)
	})
}

// turnedTooOften counts a node's turns back to what last disturbed it.
func turnedTooOften(h *history) bool {
	last := h.facts[len(h.facts)-1]
	_, assigns := last.What.(fact.Assigned)
	if _, uses := last.What.(fact.NodeBlocks); !assigns && !uses {
		return false
	}
	// waited are the facts of the node at which an ADD had no outcome yet, or a bad one a moment ago.
	waited, open := map[int]bool{}, map[ipam.Owner]bool{}
	waits := time.Duration(0)
	for i, f := range h.facts {
		if f.Node == last.Node {
			switch x := f.What.(type) {
			case fact.NodeGone:
				clear(open)
				waits = 0
			case fact.Asked:
				switch x.Command {
				case fact.AskedAdd, fact.AskedAddress:
					open[x.Owner] = true
				case "Del":
					delete(open, x.Owner)
				}
			case fact.Refused:
				delete(open, x.Owner)
				if x.Exhausted {
					waits = f.At + steadyRefused
				}
			case fact.Answered, fact.Abandoned, fact.SandboxGone:
				delete(open, fact.OwnerOf(x))
			}
		}
		waited[i] = len(open) > 0 || f.At < waits
	}
	type size struct {
		blocks int
		at     time.Duration
	}
	var sizes []size // newest first, one from before the disturbance at the end
	calm, first := true, true
	for i, f := range slices.Backward(h.facts) {
		own, known := f.Node == last.Node, len(sizes)
		switch x := f.What.(type) {
		case fact.Assigned:
			if own && assigns {
				sizes = append(sizes, size{inUse(x.Blocks), f.At})
			}
			calm = calm && !(own && waited[i])
		case fact.NodeBlocks:
			if own && !assigns {
				sizes = append(sizes, size{inUse(x.Blocks), f.At})
			}
			calm = calm && !(own && waited[i])
		case fact.Disturbed:
			calm = false
		case fact.Asked, fact.AgentUp:
			calm = calm && !own
		case fact.NodeGone:
			calm = false
			if own {
				sizes = append(sizes, size{0, f.At})
			}
		}
		if !calm && known > 0 && len(sizes) > known {
			first = false
			break
		}
	}
	if first {
		sizes = append(sizes, size{})
	}
	slices.Reverse(sizes)
	turns, before, at := 0, 0, time.Duration(0)
	for i := 1; i < len(sizes); i++ {
		if d := sizes[i].blocks - sizes[i-1].blocks; d != 0 {
			if before != 0 && d > 0 != (before > 0) && sizes[i].at > at {
				turns++
			}
			before, at = d, sizes[i].at
		}
	}
	return turns > steadyTurns
}

func inUse(blocks []ipam.Block) int {
	return len(slices.DeleteFunc(slices.Clone(blocks), func(b ipam.Block) bool { return b.Draining }))
}

func wroteAfterCleanStop(h *history) bool {
	last := h.facts[len(h.facts)-1]
	if _, ok := last.What.(fact.VPPWrite); !ok {
		return false
	}
	up := false
	for i := len(h.facts) - 2; i >= 0; i-- {
		f := h.facts[i]
		own := f.Node == last.Node
		switch x := f.What.(type) {
		case fact.AgentDown:
			if own {
				return x.Why == fact.CleanStop && up
			}
		case fact.AgentUp:
			if own {
				if last.At-f.At >= quietWindow {
					return false
				}
				up = true
			}
		case fact.VPPWrite:
			if own {
				return false
			}
		case fact.NodeGone, fact.Assigned, fact.Disturbed:
			return false
		case fact.NodeID, fact.NodeBlocks:
			if changes(h.facts[:i], f) {
				return false
			}
		default:
			if own {
				return false
			}
		}
	}
	return false
}

// changes reports whether f says something else about its node's ID or blocks than was known before.
func changes(before []fact.Fact, f fact.Fact) bool {
	var id uint32
	var blocks []ipam.Block
	for _, g := range before {
		if g.Node != f.Node {
			continue
		}
		switch x := g.What.(type) {
		case fact.NodeGone:
			id, blocks = 0, nil
		case fact.NodeID:
			id = x.ID
		case fact.NodeBlocks:
			blocks = x.Blocks
		}
	}
	switch x := f.What.(type) {
	case fact.NodeID:
		return x.ID != id
	case fact.NodeBlocks:
		return !slices.Equal(x.Blocks, blocks)
	}
	return false
}

// Goal: exactly what may change the node's desired state ends a quiet-restart watch.
// Method: a node with ID and blocks restarts, one more fact, a write; a table of what that fact may be.
func TestQuietRestart(t *testing.T) {
	law, _ := ByName(quietRestartName)
	blocks := []ipam.Block{{Prefix: netip.MustParsePrefix("10.0.1.0/24")}}
	type unknown struct{ fact.What } // as a later version may add
	for _, tc := range []struct {
		name   string
		fact   fact.Fact
		broken bool
	}{
		{"its ID again", fact.Fact{Node: "n1", What: fact.NodeID{ID: 1}}, true},
		{"its blocks again", fact.Fact{Node: "n1", What: fact.NodeBlocks{Blocks: blocks}}, true},
		{"a pod elsewhere", fact.Fact{Node: "n2", What: fact.Leased{}}, true},
		{"an answer elsewhere", fact.Fact{Node: "n2", What: fact.Answered{}}, true},
		{"a write elsewhere", fact.Fact{Node: "n2", What: fact.VPPWrite{}}, true},
		{"a crash elsewhere", fact.Fact{Node: "n2", What: fact.AgentDown{}}, true},
		{"another ID", fact.Fact{Node: "n1", What: fact.NodeID{ID: 2}}, false},
		{"a new peer", fact.Fact{Node: "n2", What: fact.NodeID{ID: 2}}, false},
		{"a peer's blocks", fact.Fact{Node: "n2", What: fact.NodeBlocks{Blocks: blocks}}, false},
		{"other blocks", fact.Fact{Node: "n1", What: fact.NodeBlocks{}}, false},
		{"a peer gone", fact.Fact{Node: "n2", What: fact.NodeGone{}}, false},
		{"a pod", fact.Fact{Node: "n1", What: fact.Leased{}}, false},
		{"a pod less", fact.Fact{Node: "n1", What: fact.Released{}}, false},
		{"a sandbox less", fact.Fact{Node: "n1", What: fact.SandboxGone{}}, false},
		{"a crash", fact.Fact{Node: "n1", What: fact.AgentDown{Why: "killed"}}, false},
		{"time", fact.Fact{Node: "n2", At: quietWindow, What: fact.VPPWrite{}}, false},
		{"a disturbance", fact.Fact{What: fact.Disturbed{}}, false},
		{"an unknown kind", fact.Fact{Node: "n2", What: unknown{}}, false},
	} {
		w := law.Watch()
		var err error
		for _, f := range []fact.Fact{
			{Node: "n1", What: fact.NodeID{ID: 1}}, {Node: "n1", What: fact.NodeBlocks{Blocks: blocks}},
			{Node: "n1", What: fact.VPPWrite{}},
			{Node: "n1", What: fact.AgentDown{Why: fact.CleanStop}}, {Node: "n1", What: fact.AgentUp{}},
			tc.fact, {Node: "n1", At: tc.fact.At + 1, What: fact.VPPWrite{Call: "ip_route_add_del"}},
		} {
			if err != nil {
				t.Errorf("%s: too early: %v", tc.name, err)
			}
			err = w.Observe(&f)
		}
		if (err != nil) != tc.broken || w.Checks() == 0 {
			t.Errorf("%s: %v after %d checks", tc.name, err, w.Checks())
		}
	}
}

// Goal: a rest counts to its last millisecond, and for every owner but the one that released the address. Method: a pod
// whose address rests for ten seconds, and when another sandbox, of another pod or of its own, leases it.
func TestAddressRests(t *testing.T) {
	const rests = 10 * time.Second
	a, web := netip.MustParseAddr("10.0.0.2"), ipam.Owner{Network: "k8s", ContainerID: "c1", IfName: "eth0"}
	other, second, network := web, web, web
	other.ContainerID, second.IfName, network.Network = "c2", "eth1", "storage"
	at := func(at time.Duration, w fact.What) fact.Fact { return fact.Fact{At: at, Node: "node-1", What: w} }
	lease := func(when time.Duration, o ipam.Owner) []fact.Fact {
		return []fact.Fact{at(0, fact.Answered{Owner: web, Addr: a}), at(time.Second, fact.Released{Owner: web, Addr: a, Rest: rests}), at(when, fact.Leased{Owner: o, Addr: a})}
	}
	for _, tc := range []watched{
		{"another's in time", addressRests(), lease(time.Second+rests, other), ""},
		{"another's a millisecond early", addressRests(), lease(time.Second+rests-time.Millisecond, other), "9.999s after it was released, but its cooldown is 10s"},
		{"another's at once", addressRests(), lease(time.Second, other), "0s after it was released"},
		{"its own at once", addressRests(), lease(time.Second, web), ""},
		{"its own second interface's", addressRests(), lease(time.Second, second), "after it was released"},
		{"its own in another network", addressRests(), lease(time.Second, network), "after it was released"},
	} {
		t.Run(tc.name, tc.judge)
	}
}

// Goal: an agent that dies of what it was told breaks programs-survive, and one that is killed and starts again does
// not.
func TestProgramsSurvive(t *testing.T) {
	law, _ := ByName(programsSurviveName)
	w := law.Watch()
	for _, f := range []fact.Fact{{What: fact.AgentUp{}}, {What: fact.AgentDown{}}, {What: fact.AgentUp{}}} {
		if err := w.Observe(&f); err != nil {
			t.Error(err)
		}
	}
	if w.Checks() != 2 {
		t.Errorf("%d lives were counted", w.Checks())
	}
	if err := w.Observe(&fact.Fact{Node: "n1", What: fact.ProgramCrash{Why: "of something"}}); err == nil {
		t.Error("an agent may die")
	}
}

// Goal: whatever a VPP dies of breaks vpp-survives, and VPPs that start, or are killed by a scenario, do not.
func TestVPPSurvives(t *testing.T) {
	law, _ := ByName(vppSurvivesName)
	w := law.Watch()
	for _, f := range []fact.Fact{{What: fact.Disturbed{By: fact.VPPUp}}, {What: fact.Disturbed{By: "kill-vpp"}}, {What: fact.VPPWrite{}}} {
		if err := w.Observe(&f); err != nil {
			t.Error(err)
		}
	}
	if w.Checks() != 1 {
		t.Errorf("%d lives were counted", w.Checks())
	}
	if err := w.Observe(&fact.Fact{Node: "n1", What: fact.VPPCrash{Why: "of something"}}); err == nil {
		t.Error("a VPP may die")
	}
}

// Goal: between a DEL's release and its answer nothing is demanded of a journal.
func TestForgottenWhileDeleting(t *testing.T) {
	law, _ := ByName(addNotForgottenName)
	o, a := ipam.Owner{Network: "k8s", ContainerID: "c", IfName: "eth0"}, netip.MustParseAddr("10.0.0.2")
	w := law.Watch()
	for _, f := range []fact.Fact{
		{Node: "n1", What: fact.Leased{Owner: o, Addr: a}}, {Node: "n1", What: fact.Answered{Owner: o, Addr: a}},
		{Node: "n1", What: fact.Released{Owner: o, Addr: a}}, {Node: "n1", What: fact.AgentDown{}}, {Node: "n1", What: fact.AgentUp{}},
	} {
		if err := w.Observe(&f); err != nil {
			t.Error(err)
		}
	}
}

// Goal: a sandbox counts as the holder of its address until its DEL is answered, or asked for and done by the agent; a
// release that no DEL asked for frees nothing. Method: what happens to a first sandbox before a second one is answered
// its address, and whether that breaks the law.
func TestOneOwnerWhileDeleting(t *testing.T) {
	law, _ := ByName(oneOwnerName)
	a := netip.MustParseAddr("10.0.0.2")
	first, second := ipam.Owner{Network: "k8s", ContainerID: "c1", IfName: "eth0"}, ipam.Owner{Network: "k8s", ContainerID: "c2", IfName: "eth0"}
	asked := fact.Fact{Node: "n1", What: fact.Asked{Owner: first, Command: "Del"}}
	released := fact.Fact{Node: "n1", What: fact.Released{Owner: first, Addr: a}}
	restarted := func(leases ...ipam.Lease) fact.Fact {
		return fact.Fact{Node: "n1", What: fact.AgentUp{Leases: leases}}
	}
	for _, tc := range []struct {
		name   string
		facts  []fact.Fact
		broken bool
	}{
		{"released", []fact.Fact{released}, true},
		{"asked", []fact.Fact{asked}, true},
		{"asked and released", []fact.Fact{asked, released}, false},
		{"checked and released", []fact.Fact{{Node: "n1", What: fact.Asked{Owner: first, Command: "Check"}}, released}, true},
		{"asked, released, answered again", []fact.Fact{asked, released, {Node: "n1", What: fact.Answered{Owner: first, Addr: a}}}, true},
		{"asked, read back without", []fact.Fact{asked, restarted()}, false},
		{"asked, read back with", []fact.Fact{asked, restarted(ipam.Lease{Owner: first, Addr: a})}, true},
		{"read back without", []fact.Fact{restarted()}, true},
	} {
		w := law.Watch()
		begin := []fact.Fact{{Node: "n1", What: fact.Leased{Owner: first, Addr: a}}, {Node: "n1", What: fact.Answered{Owner: first, Addr: a}}}
		for _, f := range append(begin, tc.facts...) {
			if err := w.Observe(&f); err != nil {
				t.Errorf("%s: too early: %v", tc.name, err)
			}
		}
		if err := w.Observe(&fact.Fact{Node: "n1", What: fact.Answered{Owner: second, Addr: a}}); (err != nil) != tc.broken {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// answeredAt is the place in a life of the answer to its ADD.
const answeredAt = 3

// feedLives feeds every watcher the life of pods on nodes with up to 100 pods each, as long as there is more to come;
// one fact each time. No law breaks by it.
func feedLives(tb testing.TB, nodes int, more func() bool) {
	var laws []fact.Law
	var watchers []fact.Watcher
	for _, l := range All() {
		if l.Watch != nil {
			laws, watchers = append(laws, l), append(watchers, l.Watch())
		}
	}
	observe := func(f fact.Fact) {
		for i, w := range watchers {
			if err := w.Observe(&f); err != nil {
				tb.Fatalf("%s, by %+v: %v", laws[i].Name, f, err)
			}
		}
	}
	config := scenarios.Default().Config
	observe(fact.Fact{What: fact.Configured{Config: &config}})
	names := make([]string, nodes)
	lives := make([][8]fact.What, 100*nodes)
	for i := range names {
		names[i] = fmt.Sprintf("node-%d", i+1)
		id, blocks := uint32(i+1), []ipam.Block{{Prefix: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 0}), 24)}}
		record := fact.RecordChange{ID: id, After: fact.NodeRecord{Name: names[i], UID: names[i]}, Blocks: []netip.Prefix{blocks[0].Prefix}}
		for _, x := range []fact.What{fact.SavedNodeID{ID: id}, record, fact.NodeID{ID: id}, fact.NodeBlocks{Blocks: blocks}} {
			observe(fact.Fact{Node: names[i], What: x})
		}
	}
	for i := range lives {
		n := i % len(names)
		a := netip.AddrFrom4([4]byte{10, byte(n >> 8), byte(n), byte(i/len(names) + 2)})
		o := ipam.Owner{Network: "k8s", ContainerID: fmt.Sprintf("%064d", i), IfName: "eth0"}
		lives[i] = [...]fact.What{fact.Leased{Owner: o, Addr: a}, fact.SavedLease{Owner: o, Addr: a}, fact.VPPWrite{}, fact.Answered{Owner: o, Addr: a},
			fact.Released{Owner: o, Addr: a}, fact.SavedRelease{Owner: o, Addr: a}, fact.Deleted{Owner: o}, fact.SandboxGone{Owner: o}}
	}
	// Of the first half every second pod stays until its turn comes again.
	stayed := make([]bool, len(lives))
	for i, k := 0, 0; more(); {
		observe(fact.Fact{Node: names[i%len(names)], What: lives[i][k]})
		stays := k == answeredAt && i%2 == 0 && i < len(lives)/2
		if k++; !stays && k < len(lives[i]) {
			continue
		}
		stayed[i] = stays
		if i, k = (i+1)%len(lives), 0; stayed[i] {
			k = answeredAt + 1
		}
	}
}

// Goal: what BenchmarkWatchers measures is a life in which no law breaks. Method: two rounds of every pod of fewer
// nodes.
func TestWatchersOfLives(t *testing.T) {
	const nodes, rounds = 20, 2
	facts := 0
	feedLives(t, nodes, func() bool { facts++; return facts <= rounds*100*nodes*8 })
}

// BenchmarkWatchers measures what one fact of a pod's life costs all watchers, on 1000 nodes.
func BenchmarkWatchers(b *testing.B) {
	b.ReportAllocs()
	feedLives(b, 1000, b.Loop)
}
