package kindworld

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
)

// seen is what one look at a node has found. Sandboxes are looked at before the agent is asked, and once more when the
// agent turns out to be another life.
type seen struct {
	// at is when it was told; unrecorded: the records could not be looked at, so that nobody knows what the node has
	// written about its blocks.
	at         time.Duration
	unrecorded bool
	sandboxes  []sandbox
	// agent is nil where none answered.
	agent *rest.State
	// management are the node's addresses by its Node object.
	management []netip.Addr
	// given is what controllers give the node.
	given []netip.Prefix
}

// patience is for how many looks something is taken for a change under way that the next look shows whole: an address
// that is not leased any more while its sandbox is there, or a sandbox whose address is not leased.
const patience = 4

// told is what was told of one node so far, and makes of the next look what has to be told. It decides alone: no clock,
// no node.
type told struct {
	node string
	// life is the agent's, zero while none runs that was told of.
	life time.Time
	// leases are what the agent holds, sandboxes what was answered, each address by its owner: sandboxes of two families
	// have two; asked those whose ADD was told.
	leases    map[ipam.Owner]ipam.Lease
	sandboxes map[ipam.Owner]fact.PodState
	asked     map[ipam.Owner]bool
	past      []ipam.Owner
	id        uint32
	blocks    []ipam.Block
	// assigned is what controllers have given the node.
	assigned  []ipam.Block
	addresses []netip.Addr
	// waits counts the looks at what contradicts itself.
	waits map[string]int
	// rest is how long the configuration keeps a released address unused; rests are those that may rest still.
	rest  time.Duration
	rests lab.Rests
}

func newTold(node string) *told {
	t := &told{node: node, leases: map[ipam.Owner]ipam.Lease{}}
	t.gone()
	return t
}

// gone: the machine has lost its power or left, and everything on it is dead. What its agent held it reads back, and
// may have given back before anybody looks.
func (t *told) gone() {
	t.life, t.sandboxes, t.asked, t.waits = time.Time{}, map[ipam.Owner]fact.PodState{}, map[ipam.Owner]bool{}, map[string]int{}
	t.id, t.blocks, t.addresses = 0, nil, nil
}

// down: the agent's process has ended.
func (t *told) down() { t.life = time.Time{} }

func ownerOf(id string) ipam.Owner {
	return ipam.Owner{Network: timeline.NetworkName, ContainerID: id, IfName: timeline.IfName}
}

// look turns a look into facts, in an order in which they can have happened: blocks are given, leases of sandboxes that end
// are given back, sandboxes end, other leases are given back, the node's identity changes, leases are given, ADDs are
// answered, blocks are taken back.
func (t *told) look(s seen) []fact.Fact {
	var out []fact.Fact
	tell := func(f fact.Fact) { f.Node = t.node; out = append(out, f) }
	before := maps.Clone(t.waits)
	// this look has explained it
	defer maps.DeleteFunc(t.waits, func(what string, looks int) bool { return looks == before[what] })
	t.granted(s.given, tell)
	held := map[ipam.Owner]ipam.Lease{}
	if s.agent != nil {
		for _, l := range s.agent.Leases {
			held[l.Owner] = l
		}
	}
	now := map[ipam.Owner]attached{}
	for _, x := range s.sandboxes {
		if x.ready {
			x.attachments(held, now)
		}
	}
	for _, owner := range inOrder(t.sandboxes) {
		if _, lives := now[owner]; lives {
			continue
		}
		p := t.sandboxes[owner]
		delete(t.sandboxes, owner)
		if _, leased := held[owner]; s.agent != nil && !leased {
			if l, had := t.leases[owner]; had && s.agent.Life.Equal(t.life) { // which is how the agent can answer the DEL
				delete(t.leases, owner)
				t.free(s.at, l, tell)
			}
			tell(fact.Fact{What: fact.Deleted{Owner: p.Owner, Pod: p.Pod}})
		}
		tell(fact.Fact{What: fact.SandboxGone{Owner: p.Owner, Pod: p.Pod}})
		t.past = append(t.past, p.Owner)
	}
	switch {
	case s.agent == nil:
	case !s.agent.Life.Equal(t.life):
		t.another(s, held, now, tell)
		t.identity(s, tell)
	default:
		t.released(s.at, held, now, tell)
		t.identity(s, tell)
		t.leased(held, now, tell)
	}
	t.answered(now, tell)
	t.withdrawn(s.given, tell)
	return out
}

// attached is a sandbox with one of its addresses.
type attached struct {
	sandbox
	addr netip.Addr
}

// attachments puts a sandbox under the owner of each of its addresses: a runtime tells them in an order of its own, so
// an address is whose lease it is, and the other one the other's, also where that lease has gone. One without an
// address yet has its first owner.
func (x sandbox) attachments(held map[ipam.Owner]ipam.Lease, now map[ipam.Owner]attached) {
	first := ownerOf(x.id)
	second := first.Second()
	if len(x.addrs) == 0 {
		now[first] = attached{x, netip.Addr{}}
	}
	owners := [...]ipam.Owner{first, second}
	if len(x.addrs) == len(owners) && (held[second].Addr == x.addrs[0] || held[first].Addr == x.addrs[1]) {
		owners = [...]ipam.Owner{second, first}
	}
	for i, addr := range x.addrs[:min(len(x.addrs), len(owners))] {
		now[owners[i]] = attached{x, addr}
	}
}

// inOrder are the owners of a map by their sandboxes, first addresses first.
func inOrder[V any](m map[ipam.Owner]V) []ipam.Owner {
	return slices.SortedFunc(maps.Keys(m), func(a, b ipam.Owner) int {
		return cmp.Or(strings.Compare(a.ContainerID, b.ContainerID), strings.Compare(a.IfName, b.IfName))
	})
}

// another is another life of the agent.
func (t *told) another(s seen, held map[ipam.Owner]ipam.Lease, now map[ipam.Owner]attached, tell func(fact.Fact)) {
	agent := s.agent
	t.rests.Again(s.at, most(t.rest))
	if !t.life.IsZero() {
		tell(fact.Fact{What: fact.AgentDown{Why: "crash"}})
	}
	t.life = agent.Life
	for _, owner := range inOrder(t.leases) {
		l := t.leases[owner]
		if _, lives := now[owner]; !lives && held[owner].Addr != l.Addr { // its DEL came between two looks
			t.free(s.at, l, tell)
		}
	}
	tell(fact.Fact{What: fact.AgentUp{Leases: slices.Clone(agent.Leases)}})
	t.leases = held
	t.id, t.blocks = 0, nil
	clear(t.waits)
}

// waiting counts looks at a contradiction, and reports whether it may still be a change under way.
func (t *told) waiting(what string) bool {
	t.waits[what]++
	if t.waits[what] < patience {
		return true
	}
	delete(t.waits, what)
	return false
}

// free tells that an address was released since the last look.
func (t *told) free(at time.Duration, l ipam.Lease, tell func(fact.Fact)) {
	t.rests.Begin(l.Addr, at, most(t.rest))
	tell(fact.Fact{What: fact.Released{Owner: l.Owner, Addr: l.Addr, Block: l.Block, Rest: least(t.rest), Left: nil}})
}

// lookSlack is by how much later than it happened a look may tell something: a look waits for each node, and what
// contradicts itself for a few.
const lookSlack = 10 * time.Second

// least is the part of a rest that a look insists on, most how long it may take: machines' clocks are slewed by 500
// millionths.
func least(rest time.Duration) time.Duration { return max(0, rest-rest/1000-lookSlack) }
func most(rest time.Duration) time.Duration {
	if rest <= 0 {
		return 0
	}
	return rest + rest/1000 + lookSlack
}

func (t *told) released(at time.Duration, held map[ipam.Owner]ipam.Lease, now map[ipam.Owner]attached, tell func(fact.Fact)) {
	for _, owner := range inOrder(t.leases) {
		l := t.leases[owner]
		if held[owner].Addr == l.Addr {
			continue
		}
		if _, lives := now[owner]; lives && t.waiting("released "+owner.String()) {
			continue
		}
		delete(t.leases, owner)
		t.free(at, l, tell)
	}
}

func (t *told) leased(held map[ipam.Owner]ipam.Lease, now map[ipam.Owner]attached, tell func(fact.Fact)) {
	for _, owner := range inOrder(held) {
		if _, had := t.leases[owner]; had {
			continue
		}
		l := held[owner]
		t.leases[owner] = l
		t.rests.End(l.Addr)
		t.ask(owner, now, tell)
		tell(fact.Fact{What: fact.Leased{Owner: l.Owner, Addr: l.Addr, Block: l.Block, Pool: "", Left: nil}})
	}
}

// ask tells of a sandbox' ADD once, which is for all its addresses, where the runtime shows the sandbox.
func (t *told) ask(owner ipam.Owner, now map[ipam.Owner]attached, tell func(fact.Fact)) {
	if x, ok := now[owner]; ok && !t.asked[ownerOf(x.id)] {
		t.asked[ownerOf(x.id)] = true
		tell(fact.Fact{What: fact.Asked{Owner: ownerOf(x.id), Pod: x.pod, PodUID: x.uid, Command: fact.AskedAdd, Netns: "", Addr: netip.Addr{}, Wanted: nil}})
	}
}

func (t *told) answered(now map[ipam.Owner]attached, tell func(fact.Fact)) {
	for _, owner := range inOrder(now) {
		x := now[owner]
		if _, had := t.sandboxes[owner]; had || !x.addr.IsValid() {
			continue
		}
		if t.leases[owner].Addr != x.addr && t.waiting("answered "+owner.String()) {
			continue
		}
		t.ask(owner, now, tell)
		p := fact.PodState{Owner: owner, Pod: x.pod, UID: x.uid, Netns: x.netns, Addr: x.addr}
		t.sandboxes[owner] = p
		tell(fact.Fact{What: fact.Answered{Owner: p.Owner, Pod: p.Pod, PodUID: p.UID, Addr: p.Addr, Netns: p.Netns}})
	}
}

func (t *told) identity(s seen, tell func(fact.Fact)) {
	if a := s.agent; a.ID != t.id {
		t.id = a.ID
		tell(fact.Fact{What: fact.NodeID{ID: a.ID}})
	}
	if a := s.agent; !s.unrecorded && !slices.Equal(a.Blocks, t.blocks) {
		t.blocks = a.Blocks
		tell(fact.Fact{What: fact.NodeBlocks{Blocks: a.Blocks}})
	}
	var addrs []netip.Addr
	if a := s.agent; a.ID != 0 && a.Address.IsValid() {
		for _, x := range append([]netip.Addr{a.Address.Addr(), a.VXLAN, a.HostVPP, a.HostLinux}, s.management...) {
			if x.IsValid() {
				addrs = append(addrs, x)
			}
		}
	}
	if !slices.Equal(addrs, t.addresses) {
		t.addresses = addrs
		tell(fact.Fact{What: fact.Addressed{Addrs: addrs}})
	}
}

// pods are the sandboxes that were answered, in owner order.
func (t *told) pods() []fact.PodState {
	var out []fact.PodState
	for _, owner := range inOrder(t.sandboxes) {
		p := t.sandboxes[owner]
		if l := t.leases[owner]; l.Addr == p.Addr {
			p.Gateway = l.Gateway
		}
		out = append(out, p)
	}
	return out
}
