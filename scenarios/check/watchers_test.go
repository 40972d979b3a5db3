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
	switch f.Kind {
	case fact.FactLeased:
		n.leases[f.Owner] = f.Addr
	case fact.FactReleased:
		delete(n.leases, f.Owner)
	case fact.FactAnswered:
		n.pods[f.Owner] = f.Addr
	case fact.FactDeleted, fact.FactSandboxGone:
		delete(n.pods, f.Owner)
	case fact.FactNodeID:
		n.id = f.Number
	case fact.FactBlocks:
		n.blocks = f.Blocks
	case fact.FactAssigned:
		h.assigned[f.Node] = f.Blocks
	case fact.FactAgentDown:
		n.agent, n.journal = false, maps.Clone(n.leases)
		clear(n.leases)
	case fact.FactAgentUp:
		n.agent = true
		clear(n.leases)
		for _, l := range f.Leases {
			n.leases[l.Owner] = l.Addr
		}
	case fact.FactNodeGone:
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
	f := fact.Fact{At: at, Node: name, Owner: o, Addr: addr}
	one := func(kind fact.FactKind) []fact.Fact { f.Kind = kind; return []fact.Fact{f} }
	blocks := func() fact.Fact {
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(k), 0}), 22+rapid.IntRange(1, 2).Draw(t, "bits")).Masked()
		return fact.Fact{Kind: fact.FactBlocks, At: at, Node: name, Blocks: []ipam.Block{{Prefix: p, Gateway: p.Addr().Next()}}}
	}
	if n.blocks == nil {
		return []fact.Fact{blocks()}
	}
	kind := rapid.IntRange(0, 13).Draw(t, "what")
	if held, ok := n.leases[o]; ok && kind < 4 {
		f.Addr = held
		if kind == 0 {
			return one(fact.FactAnswered)
		}
	}
	switch kind {
	case 0, 1, 2:
		if n.agent && n.leases[o] == (netip.Addr{}) {
			return one(fact.FactLeased)
		}
		f.Exhausted = rapid.IntRange(0, 3).Draw(t, "exhausted") == 0
		return one(fact.FactRefused)
	case 3, 4:
		if n.agent {
			return one(fact.FactAnswered)
		}
	case 5:
		if held, ok := n.leases[o]; ok {
			f.Addr = held
			released := f
			released.Kind = fact.FactReleased
			released.Rest = time.Duration(rapid.IntRange(0, 2).Draw(t, "rest")) * 200 * time.Millisecond
			facts := append([]fact.Fact{released}, one(fact.FactDeleted)...)
			again := released
			again.Kind, again.Rest, again.Owner.ContainerID = fact.FactLeased, 0, "next"
			if _, has := n.leases[again.Owner]; !has && rapid.IntRange(0, 2).Draw(t, "at once") == 0 {
				answered := f
				answered.Kind = fact.FactAnswered
				facts = append(append([]fact.Fact{answered}, facts...), again)
			}
			return facts
		}
		return one(fact.FactDeleted)
	case 6:
		return one(fact.FactSandboxGone)
	case 7:
		f.Number = uint32(rapid.IntRange(0, 3).Draw(t, "id"))
		return one(fact.FactNodeID)
	case 8:
		return []fact.Fact{blocks()}
	case 9:
		return one(fact.FactNodeGone)
	case 10:
		if n.agent {
			f.Text = rapid.SampledFrom([]string{fact.CleanStop, fact.CleanStop, "killed"}).Draw(t, "how")
			return one(fact.FactAgentDown)
		}
		f.Leases = leaseList(n.journal)
		if len(f.Leases) > 0 && rapid.IntRange(0, 3).Draw(t, "lost") == 0 {
			f.Leases = f.Leases[1:]
		}
		return append(one(fact.FactAgentUp), fact.Fact{Kind: fact.FactBlocks, At: at, Node: name, Blocks: n.blocks})
	case 11:
		if !n.agent {
			break
		}
		// A restart within one step, so that something follows it soon enough to matter.
		down, up := f, f
		down.Kind, down.Text = fact.FactAgentDown, fact.CleanStop
		up.Kind, up.Leases = fact.FactAgentUp, leaseList(n.leases)
		facts := []fact.Fact{down, up, {Kind: fact.FactBlocks, At: at, Node: name, Blocks: n.blocks}}
		if rapid.IntRange(0, 4).Draw(t, "writes") == 0 {
			facts = append(facts, one(fact.FactVPPWrite)...)
		}
		return facts
	}
	switch rapid.IntRange(0, 9).Draw(t, "else") {
	case 0, 1, 2, 3, 4:
		if rapid.IntRange(0, 2).Draw(t, "any") > 0 {
			f.Blocks = blocks().Blocks
		}
		return one(fact.FactAssigned)
	case 5:
		f.Text = "Check"
		return one(fact.FactAsked)
	case 6:
		return []fact.Fact{{Kind: fact.FactDisturbed, At: at}}
	case 7:
		// A pool that cannot decide, or a node whose block is to be given back and then is not.
		less, more := f, f
		less.Kind, more.Kind = fact.FactAssigned, fact.FactAssigned
		more.Blocks = blocks().Blocks
		if rapid.Bool().Draw(t, "used") {
			less.Kind, more.Kind = fact.FactBlocks, fact.FactBlocks
			less.Blocks = slices.Clone(more.Blocks)
			less.Blocks[0].Draining = true
		}
		turns := []fact.Fact{more, less, more, less, more, less}[:rapid.IntRange(3, 6).Draw(t, "turns")]
		if rapid.IntRange(0, 3).Draw(t, "at once") > 0 {
			for i := range turns { // and what comes next is no earlier
				turns[i].At = at - time.Duration(len(turns)-1-i)
			}
		}
		return turns
	}
	f.Text = "ip_route_add_del"
	return one(fact.FactVPPWrite)
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
		{leaseInRangeName, leasedOutside, func(f fact.Fact) bool { return f.Kind != fact.FactAgentUp }},
		{nodeIDsName, byCheck(checkNodeIDs), always},
		{grantsName, byCheck(checkGrants), always},
		{addressStableName, byCheck(checkAddressStable), always},
		// The watcher asks when an agent restarts, and about that one.
		{addNotForgottenName, byCheckOfNode(checkAddNotForgotten), func(f fact.Fact) bool { return f.Kind == fact.FactAgentUp }},
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
	last := h.facts[len(h.facts)-1]
	if last.Kind != fact.FactAnswered {
		return false
	}
	for _, f := range slices.Backward(h.facts[:len(h.facts)-1]) {
		switch {
		case f.Node != last.Node:
		case f.Kind == fact.FactNodeGone:
			return false
		case f.Owner != last.Owner:
		case f.Kind == fact.FactAnswered:
			return f.Addr != last.Addr
		case f.Kind == fact.FactDeleted, f.Kind == fact.FactSandboxGone:
			return false
		}
	}
	return false
}

// restedTooShort looks for the release of the address that the last fact leases.
func restedTooShort(h *history) bool {
	last := h.facts[len(h.facts)-1]
	if last.Kind != fact.FactLeased {
		return false
	}
	for i := len(h.facts) - 2; i >= 0; i-- {
		f := h.facts[i]
		switch {
		case f.Node != last.Node:
		case f.Kind == fact.FactNodeGone, f.Kind == fact.FactLeased && f.Addr == last.Addr:
			return false
		case f.Kind == fact.FactAgentUp && slices.ContainsFunc(f.Leases, func(l ipam.Lease) bool { return l.Addr == last.Addr }):
			return false
		case f.Kind == fact.FactReleased && f.Addr == last.Addr && f.Rest > 0 && wasAnswered(h.facts[:i], f):
			return last.At < f.At+f.Rest && f.Owner != last.Owner
		}
	}
	return false
}

// wasAnswered reports whether the sandbox of f's owner lived with f's address before f.
func wasAnswered(before []fact.Fact, f fact.Fact) bool {
	for _, g := range slices.Backward(before) {
		switch {
		case g.Node != f.Node:
		case g.Kind == fact.FactNodeGone:
			return false
		case g.Owner != f.Owner:
		case g.Kind == fact.FactDeleted, g.Kind == fact.FactSandboxGone:
			return false
		case g.Kind == fact.FactAnswered:
			return g.Addr == f.Addr
		}
	}
	return false
}

// usedUnassigned goes through a node's history from its first grant on.
func leasedOutside(h *history) bool {
	return byCheck(checkLeaseInRange)(h) || leasedFromDraining(h)
}

// leasedFromDraining reports whether the last fact is a lease out of a block that has been draining for too long, and of no other one.
func leasedFromDraining(h *history) bool {
	last := h.facts[len(h.facts)-1]
	if last.Kind != fact.FactLeased {
		return false
	}
	var drains []time.Duration // since when, of each block of the last word that has the address; negative: it does not drain
	for i, f := range h.facts {
		if f.Node == last.Node && f.Kind == fact.FactNodeGone {
			drains = nil
		}
		if f.Node != last.Node || f.Kind != fact.FactBlocks {
			continue
		}
		drains = nil
		for _, b := range f.Blocks {
			switch since := drainsSince(h.facts[:i+1], last.Node, b.Prefix); {
			case !b.Prefix.Contains(last.Addr):
			case !b.Draining:
				drains = append(drains, -1)
			default:
				drains = append(drains, since)
			}
		}
	}
	return len(drains) > 0 && !slices.Contains(drains, -1) && last.At-drains[len(drains)-1] > drainedLate
}

// drainsSince is when a node's block was first told as draining, without a word of another kind behind it.
func drainsSince(facts []fact.Fact, node string, block netip.Prefix) (since time.Duration) {
	drained := false
	for _, f := range facts {
		switch {
		case f.Node != node:
		case f.Kind == fact.FactNodeGone:
			drained = false
		case f.Kind == fact.FactBlocks:
			was := drained
			drained = slices.ContainsFunc(f.Blocks, func(b ipam.Block) bool { return b.Prefix == block && b.Draining })
			if drained && !was {
				since = f.At
			}
		}
	}
	return since
}

func usedUnassigned(h *history) bool {
	last := h.facts[len(h.facts)-1]
	var blocks, before, used []ipam.Block
	known := false
	held := map[netip.Addr]ipam.Owner{}
	for _, f := range h.facts {
		if f.Node != last.Node || !known && (f.Kind != fact.FactAssigned || len(f.Blocks) == 0) {
			continue
		}
		known = true
		switch f.Kind {
		case fact.FactAssigned:
			before, blocks = blocks, f.Blocks
		case fact.FactBlocks:
			used = f.Blocks
		case fact.FactLeased:
			held[f.Addr] = f.Owner
		case fact.FactReleased:
			if held[f.Addr] == f.Owner {
				delete(held, f.Addr)
			}
		case fact.FactAgentUp:
			clear(held)
			for _, l := range f.Leases {
				held[l.Addr] = l.Owner
			}
		case fact.FactAgentDown:
			clear(held)
		case fact.FactNodeGone:
			clear(held)
			if f.Text == fact.NodeLeft {
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
	return last.Kind == fact.FactAssigned && len(blocks) > 0 && slices.ContainsFunc(used, func(b ipam.Block) bool {
		return in(before, b.Prefix) && !in(blocks, b.Prefix)
	})
}

// turnedTooOften counts a node's turns back to what last disturbed it.
func turnedTooOften(h *history) bool {
	last := h.facts[len(h.facts)-1]
	if last.Kind != fact.FactAssigned && last.Kind != fact.FactBlocks {
		return false
	}
	// waited are the facts of the node at which an ADD had no outcome yet, or a bad one a moment ago.
	waited, open := map[int]bool{}, map[ipam.Owner]bool{}
	waits := time.Duration(0)
	for i, f := range h.facts {
		switch {
		case f.Node != last.Node:
		case f.Kind == fact.FactNodeGone:
			clear(open)
			waits = 0
		case f.Kind == fact.FactAsked && (f.Text == fact.AskedAdd || f.Text == fact.AskedAddress):
			open[f.Owner] = true
		case f.Kind == fact.FactAnswered || f.Kind == fact.FactRefused || f.Kind == fact.FactAbandoned ||
			f.Kind == fact.FactSandboxGone || f.Kind == fact.FactAsked && f.Text == "Del":
			delete(open, f.Owner)
			if f.Exhausted {
				waits = f.At + steadyRefused
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
		own := f.Node == last.Node
		switch f.Kind {
		case last.Kind:
			if own {
				sizes = append(sizes, size{inUse(f.Blocks), f.At})
			}
			calm = calm && !(own && waited[i])
		case fact.FactAssigned, fact.FactBlocks:
			calm = calm && !(own && waited[i])
		case fact.FactDisturbed:
			calm = false
		case fact.FactAsked, fact.FactAgentUp:
			calm = calm && !own
		case fact.FactNodeGone:
			calm = false
			if own {
				sizes = append(sizes, size{0, f.At})
			}
		}
		if !calm && len(sizes) > 1 && (f.Kind == last.Kind || f.Kind == fact.FactNodeGone) && own {
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
	if last.Kind != fact.FactVPPWrite {
		return false
	}
	up := false
	for i := len(h.facts) - 2; i >= 0; i-- {
		f := h.facts[i]
		own := f.Node == last.Node
		switch f.Kind {
		case fact.FactAgentDown:
			if own {
				return f.Text == fact.CleanStop && up
			}
		case fact.FactAgentUp:
			if own {
				if last.At-f.At >= quietWindow {
					return false
				}
				up = true
			}
		case fact.FactVPPWrite:
			if own {
				return false
			}
		case fact.FactNodeGone, fact.FactAssigned, fact.FactDisturbed:
			return false
		case fact.FactNodeID, fact.FactBlocks:
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
	for _, g := range slices.Backward(before) {
		if g.Node != f.Node {
			continue
		}
		if g.Kind == fact.FactNodeGone {
			break
		}
		if g.Kind == f.Kind {
			return g.Number != f.Number || !slices.Equal(g.Blocks, f.Blocks)
		}
	}
	return f.Number != 0 || len(f.Blocks) > 0
}

// Goal: exactly what may change the node's desired state ends a quiet-restart watch.
// Method: a node with ID and blocks restarts, one more fact, a write; a table of what that fact may be.
func TestQuietRestart(t *testing.T) {
	law, _ := ByName(quietRestartName)
	blocks := []ipam.Block{{Prefix: netip.MustParsePrefix("10.0.1.0/24")}}
	for _, tc := range []struct {
		name   string
		fact   fact.Fact
		broken bool
	}{
		{"its ID again", fact.Fact{Kind: fact.FactNodeID, Node: "n1", Number: 1}, true},
		{"its blocks again", fact.Fact{Kind: fact.FactBlocks, Node: "n1", Blocks: blocks}, true},
		{"a pod elsewhere", fact.Fact{Kind: fact.FactLeased, Node: "n2"}, true},
		{"an answer elsewhere", fact.Fact{Kind: fact.FactAnswered, Node: "n2"}, true},
		{"a write elsewhere", fact.Fact{Kind: fact.FactVPPWrite, Node: "n2"}, true},
		{"a crash elsewhere", fact.Fact{Kind: fact.FactAgentDown, Node: "n2"}, true},
		{"another ID", fact.Fact{Kind: fact.FactNodeID, Node: "n1", Number: 2}, false},
		{"a new peer", fact.Fact{Kind: fact.FactNodeID, Node: "n2", Number: 2}, false},
		{"a peer's blocks", fact.Fact{Kind: fact.FactBlocks, Node: "n2", Blocks: blocks}, false},
		{"other blocks", fact.Fact{Kind: fact.FactBlocks, Node: "n1"}, false},
		{"a peer gone", fact.Fact{Kind: fact.FactNodeGone, Node: "n2"}, false},
		{"a pod", fact.Fact{Kind: fact.FactLeased, Node: "n1"}, false},
		{"a pod less", fact.Fact{Kind: fact.FactReleased, Node: "n1"}, false},
		{"a sandbox less", fact.Fact{Kind: fact.FactSandboxGone, Node: "n1"}, false},
		{"a crash", fact.Fact{Kind: fact.FactAgentDown, Node: "n1", Text: "killed"}, false},
		{"time", fact.Fact{Kind: fact.FactVPPWrite, Node: "n2", At: quietWindow}, false},
		{"a disturbance", fact.Fact{Kind: fact.FactDisturbed}, false},
		{"an unknown kind", fact.Fact{Kind: fact.FactVPPWrite + 100, Node: "n2"}, false},
	} {
		w := law.Watch()
		var err error
		for _, f := range []fact.Fact{
			{Kind: fact.FactNodeID, Node: "n1", Number: 1}, {Kind: fact.FactBlocks, Node: "n1", Blocks: blocks},
			{Kind: fact.FactVPPWrite, Node: "n1"},
			{Kind: fact.FactAgentDown, Node: "n1", Text: fact.CleanStop}, {Kind: fact.FactAgentUp, Node: "n1"},
			tc.fact, {Kind: fact.FactVPPWrite, Node: "n1", At: tc.fact.At + 1, Text: "ip_route_add_del"},
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

// Goal: an agent that dies of what it was told breaks programs-survive, and one that is killed and starts again does not.
func TestProgramsSurvive(t *testing.T) {
	law, _ := ByName(programsSurviveName)
	w := law.Watch()
	for _, f := range []fact.Fact{{Kind: fact.FactAgentUp}, {Kind: fact.FactAgentDown}, {Kind: fact.FactAgentUp}} {
		if err := w.Observe(&f); err != nil {
			t.Error(err)
		}
	}
	if w.Checks() != 2 {
		t.Errorf("%d lives were counted", w.Checks())
	}
	if err := w.Observe(&fact.Fact{Kind: fact.FactProgramCrash, Node: "n1", Text: "of something"}); err == nil {
		t.Error("an agent may die")
	}
}

// Goal: whatever a VPP dies of breaks vpp-survives, and VPPs that start, or are killed by a scenario, do not.
func TestVPPSurvives(t *testing.T) {
	law, _ := ByName(vppSurvivesName)
	w := law.Watch()
	for _, f := range []fact.Fact{{Kind: fact.FactDisturbed, Text: fact.VPPUp}, {Kind: fact.FactDisturbed, Text: "kill-vpp"}, {Kind: fact.FactVPPWrite}} {
		if err := w.Observe(&f); err != nil {
			t.Error(err)
		}
	}
	if w.Checks() != 1 {
		t.Errorf("%d lives were counted", w.Checks())
	}
	if err := w.Observe(&fact.Fact{Kind: fact.FactVPPCrash, Node: "n1", Text: "of something"}); err == nil {
		t.Error("a VPP may die")
	}
}

// Goal: between a DEL's release and its answer nothing is demanded of a journal.
func TestForgottenWhileDeleting(t *testing.T) {
	law, _ := ByName(addNotForgottenName)
	o, a := ipam.Owner{Network: "k8s", ContainerID: "c", IfName: "eth0"}, netip.MustParseAddr("10.0.0.2")
	w := law.Watch()
	for _, f := range []fact.Fact{
		{Kind: fact.FactLeased, Node: "n1", Owner: o, Addr: a}, {Kind: fact.FactAnswered, Node: "n1", Owner: o, Addr: a},
		{Kind: fact.FactReleased, Node: "n1", Owner: o, Addr: a}, {Kind: fact.FactAgentDown, Node: "n1"}, {Kind: fact.FactAgentUp, Node: "n1"},
	} {
		if err := w.Observe(&f); err != nil {
			t.Error(err)
		}
	}
}

// Goal: a sandbox counts as the holder of its address until its DEL is answered, or asked for and done by the agent; a
// release that no DEL asked for frees nothing. Method: what happens to a first sandbox before a second one is answered its
// address, and whether that breaks the law.
func TestOneOwnerWhileDeleting(t *testing.T) {
	law, _ := ByName(oneOwnerName)
	a := netip.MustParseAddr("10.0.0.2")
	first, second := ipam.Owner{Network: "k8s", ContainerID: "c1", IfName: "eth0"}, ipam.Owner{Network: "k8s", ContainerID: "c2", IfName: "eth0"}
	asked := fact.Fact{Kind: fact.FactAsked, Node: "n1", Owner: first, Text: "Del"}
	released := fact.Fact{Kind: fact.FactReleased, Node: "n1", Owner: first, Addr: a}
	restarted := func(leases ...ipam.Lease) fact.Fact {
		return fact.Fact{Kind: fact.FactAgentUp, Node: "n1", Leases: leases}
	}
	for _, tc := range []struct {
		name   string
		facts  []fact.Fact
		broken bool
	}{
		{"released", []fact.Fact{released}, true},
		{"asked", []fact.Fact{asked}, true},
		{"asked and released", []fact.Fact{asked, released}, false},
		{"checked and released", []fact.Fact{{Kind: fact.FactAsked, Node: "n1", Owner: first, Text: "Check"}, released}, true},
		{"asked, released, answered again", []fact.Fact{asked, released, {Kind: fact.FactAnswered, Node: "n1", Owner: first, Addr: a}}, true},
		{"asked, read back without", []fact.Fact{asked, restarted()}, false},
		{"asked, read back with", []fact.Fact{asked, restarted(ipam.Lease{Owner: first, Addr: a})}, true},
		{"read back without", []fact.Fact{restarted()}, true},
	} {
		w := law.Watch()
		begin := []fact.Fact{{Kind: fact.FactLeased, Node: "n1", Owner: first, Addr: a}, {Kind: fact.FactAnswered, Node: "n1", Owner: first, Addr: a}}
		for _, f := range append(begin, tc.facts...) {
			if err := w.Observe(&f); err != nil {
				t.Errorf("%s: too early: %v", tc.name, err)
			}
		}
		if err := w.Observe(&fact.Fact{Kind: fact.FactAnswered, Node: "n1", Owner: second, Addr: a}); (err != nil) != tc.broken {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// BenchmarkWatchers feeds every watcher the life of pods on 1000 nodes with up to 100 pods each; one fact per
// iteration.
func BenchmarkWatchers(b *testing.B) {
	var watchers []fact.Watcher
	for _, l := range All() {
		if l.Watch != nil {
			watchers = append(watchers, l.Watch())
		}
	}
	kinds := [...]fact.FactKind{fact.FactLeased, fact.FactVPPWrite, fact.FactAnswered, fact.FactReleased, fact.FactDeleted, fact.FactSandboxGone}
	names := make([]string, 1000)
	facts := make([]fact.Fact, 100_000)
	for i := range names {
		names[i] = fmt.Sprintf("node-%d", i+1)
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 0}), 24)
		for _, w := range watchers {
			if err := w.Observe(&fact.Fact{Kind: fact.FactBlocks, Node: names[i], Blocks: []ipam.Block{{Prefix: p}}}); err != nil {
				b.Fatal(err)
			}
		}
	}
	for i := range facts {
		n := i % 1000
		facts[i] = fact.Fact{Node: names[n], Addr: netip.AddrFrom4([4]byte{10, byte(n >> 8), byte(n), byte(i/1000 + 2)}),
			Owner: ipam.Owner{Network: "k8s", ContainerID: fmt.Sprintf("%064d", i), IfName: "eth0"}}
	}
	b.ReportAllocs()
	i, k := 0, 0
	for b.Loop() {
		f := facts[i]
		f.Kind = kinds[k]
		for _, w := range watchers {
			if err := w.Observe(&f); err != nil {
				b.Fatal(err)
			}
		}
		if k++; k == len(kinds) || k == 3 && i%2 == 0 && i < len(facts)/2 {
			k, i = 0, (i+1)%len(facts)
		}
	}
}
