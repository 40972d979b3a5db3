package calico

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Times of a Host.
const (
	// comingTime is how long the plugin of a pod waits, by itself or for its kubelet; takingTime is until the pod must
	// have the address that is there for it.
	comingTime = time.Minute
	takingTime = 10 * time.Second
	// barredTime is longer than an agent takes to have a new address, if nothing bars it.
	barredTime = 5 * time.Second
	// refusedTime is within which a pod that found no address is tried again: the most that kubelets wait.
	refusedTime = 31 * time.Second
	// conflictTime is until a block is tried again that another host was faster to write; longer than a watch takes as a
	// rule. It doubles up to retryTime while no news comes: the watch may be late.
	conflictTime = 20 * time.Millisecond
)

// LeastKept is what a host has without pods: to an agent, that it has nothing is a word that has not come yet.
// Upstream, it is the node's tunnel address.
const LeastKept = 1

// Host is Calico's IPAM on one node, for one life of its agent, as a pure state machine: for each pod that comes it
// assigns the node an address, and gives it back when the pod has gone.
//
// What it gives back leaves the agent first, and the block only when the agent has journaled that and the other nodes
// know. It decides when it is woken, so that news of one instant are one decision.
type Host struct {
	alloc Node
	// pools are those of the node by family, all those of the cluster, labels its Node object's.
	pools   [2]Pools
	all     Pools
	labels  map[string]string
	now     time.Time
	effects []Effect
	alarms
	// self is the node's incarnation, "" while its Node object is not known.
	self  string
	view  view
	agent AgentSeen
	// mine is what the node has, in the order in which it was seen. begun: what it had at the start is known.
	mine  []netip.Prefix
	begun bool
	// leaving is what it gives back: first its agent drops it, then the block.
	leaving []netip.Prefix
	// told is what the agent was told last. spoke: it was told something in this life.
	told  []netip.Prefix
	spoke bool
	// since is since when the agent has been told of each address; spent are those that a pod has had.
	since map[netip.Prefix]time.Time
	spent map[netip.Prefix]bool
	// coming are pods whose plugins have asked, in their order; refused those that found no address, and when.
	coming  []*coming
	refused map[ipam.Owner]refusal
	// uses are what is known of pods that come or have an address, left the handles of those that the agent did not know.
	uses map[ipam.Owner]Use
	left map[string]bool
	// known is how many leases and blocks there were when it decided last; lacking is what it lacked of each family then.
	known   int
	lacking [2]int
	writer
}

// coming is a pod for which the node should have an address until some time.
type coming struct {
	owner ipam.Owner
	until time.Time
	// id is its plugin's, waits is false once that was let go.
	id    uint64
	waits bool
	want  Want
	// refused says why it gets nothing of what it asks for, nil where it may.
	refused error
}

// NewHost returns the host of an agent with this allocator. Tell it the agent, its own Node object and all blocks to
// start.
func NewHost(pools Pools, alloc Node) *Host {
	h := &Host{
		alloc: alloc, view: newView(),
		since: make(map[netip.Prefix]time.Time), spent: make(map[netip.Prefix]bool), refused: make(map[ipam.Owner]refusal),
		uses: make(map[ipam.Owner]Use), left: make(map[string]bool),
	}
	h.takePools(pools, nil)
	return h
}

// takePools takes in what there is, and which of it a pod gets addresses of that asks for nothing.
func (h *Host) takePools(all Pools, labels map[string]string) {
	h.all, h.labels = all, labels
	for k, family := range h.alloc.families {
		h.pools[k], _ = all.ForPod(labels, Want{}, family) // it refuses nobody who asks for nothing
	}
}

// familyOf is the place of an address's family among those of pods, -1 where they get none of it.
func (h *Host) familyOf(a netip.Addr) int { return slices.Index(h.alloc.families, ipam.PoolOf(a)) }

// Step takes an event and returns what follows from it, in order.
func (h *Host) Step(now time.Time, ev Event) []Effect {
	h.now, h.effects = now, nil
	switch ev := ev.(type) {
	case NodesListed:
		h.self = ""
		for _, host := range ev.Hosts {
			h.self = host
		}
		h.soon(now)
	case NodeSeen:
		h.self = ev.Host
		h.soon(now)
	case NodeGone:
		if h.self == ev.Host {
			h.self = ""
		}
		h.soon(now)
	case BlocksListed:
		h.view.list(ev.Blocks)
		h.soon(now)
	case BlockSeen:
		h.blocksChanged(h.view.see(ev.Block))
	case BlockGone:
		h.blocksChanged(h.view.drop(ev.Block))
	case PoolsChanged:
		h.takePools(ev.Pools, h.labels)
		h.soon(now)
	case Labelled:
		h.takePools(h.all, ev.Labels)
		h.soon(now)
	case AgentSeen:
		h.agent = ev
		if h.alloc.Len()+len(ev.Blocks) != h.known || len(h.leaving) > 0 || len(h.coming) > 0 {
			h.soon(now)
		}
	case PodComing:
		h.prepare(ev)
	case PodRefused:
		r := refusal{at: now}
		if c := h.comes(ev.Owner); c != nil {
			r.want = c.want
		}
		h.refused[ev.Owner] = r
	case PodLeft:
		if handle := HandleOf(ev.Owner); !h.holds(ev.Owner) && h.strange(map[string]bool{handle: true}) != nil {
			h.left[handle] = true
			h.soon(now)
		}
	case Wrote:
		h.wrote(ev)
	case Woke:
		if h.ring(now) {
			h.decide()
		}
	default:
		panic(fmt.Sprintf("calico: unknown event %T", ev))
	}
	h.effects = h.wake(h.effects)
	return h.effects
}

func (h *Host) write(why Purpose, old *Stored, next Block) {
	w := write(why, old, next)
	w.By = h.self
	h.do(h.begin(w))
}

func (h *Host) do(e Effect) { h.effects = append(h.effects, e) }

// blocksChanged looks whether a change of blocks concerns what the node has, or a pod to which it could give nothing.
func (h *Host) blocksChanged(own bool) {
	h.conflicts = 0
	if own || len(h.leaving) > 0 || len(h.coming) > 0 || !h.begun {
		h.soon(h.now)
	}
}

// prepare sees to an address for a pod.
func (h *Host) prepare(ev PodComing) {
	h.uses[ev.Owner] = Use{HandleOf(ev.Owner), ev.Namespace, ev.Pod}
	if h.holds(ev.Owner) {
		h.do(LetGo{ID: ev.ID})
		return
	}
	c := h.comes(ev.Owner)
	if c == nil {
		c = &coming{owner: ev.Owner}
		h.coming = append(h.coming, c)
	}
	h.letGo(c)
	c.id, c.waits, c.until, c.want, c.refused = ev.ID, true, h.now.Add(comingTime), ev.Want.within(h.alloc.families), nil
	h.soon(c.until)
	h.soon(h.now)
}

// comes is a pod that comes, nil where it does not.
func (h *Host) comes(o ipam.Owner) *coming {
	i := slices.IndexFunc(h.coming, func(c *coming) bool { return c.owner == o })
	if i < 0 {
		return nil
	}
	return h.coming[i]
}

// goOn lets a plugin ask the agent, which has some time for it.
func (h *Host) goOn(c *coming) {
	h.letGo(c)
	c.until = h.now.Add(takingTime)
	h.soon(c.until)
}

func (h *Host) letGo(c *coming) {
	if c.waits {
		c.waits = false
		h.do(LetGo{ID: c.id})
	}
}

// holds reports whether a pod has an address of each family.
func (h *Host) holds(o ipam.Owner) bool {
	for k := range h.alloc.families {
		if _, ok := h.alloc.Lease(owner(o, k)); !ok {
			return false
		}
	}
	return true
}

// Want is what the agent should have.
func (h *Host) Want() []netip.Prefix {
	return slices.DeleteFunc(slices.Clone(h.mine), func(p netip.Prefix) bool { return slices.Contains(h.leaving, p) })
}

// decide brings up to date what the node has and what is to become of it.
func (h *Host) decide() {
	h.known = h.alloc.Len() + len(h.agent.Blocks)
	if !h.view.listed {
		return
	}
	h.look()
	h.forget()
	h.keep()
	h.setApart()
	for k := range h.alloc.families {
		h.lacking[k] = h.balance(k)
	}
	if want := h.Want(); !slices.Equal(want, h.told) || h.begun && !h.spoke {
		h.told, h.spoke = want, h.begun
		h.do(TellAgent{Blocks: want})
		h.agent.Idle = false // until it is heard of again
	}
	if h.busy(h.now) {
		return
	}
	var none [2]bool
	if !h.giveBack() && !h.claimAgain() && !h.assignAsked() {
		if none = h.assign(); none[0] || none[1] {
			h.keepOne()
		}
	}
	if h.writing == nil {
		h.name()
	}
	h.answer(none)
}

// forget drops pods that have their address, and those that never took it.
func (h *Host) forget() {
	h.coming = slices.DeleteFunc(h.coming, func(c *coming) bool {
		over := h.holds(c.owner) || !h.now.Before(c.until)
		if over {
			h.letGo(c)
		}
		return over
	})
	for o, r := range h.refused { // in any order: each by itself
		if h.holds(o) || h.now.Sub(r.at) > refusedTime {
			delete(h.refused, o)
		}
	}
}

// answer lets plugins go on for which there is an address of each family and, when no more are to be had of one, those for which there will
// be none of it.
func (h *Host) answer(none [2]bool) {
	used := h.used()
	var ready, assigned [2]int
	for _, p := range h.Want() {
		if !used[p.Addr()] && !h.alloc.apart[p.Addr()] {
			assigned[h.familyOf(p.Addr())]++
		}
	}
	for _, b := range h.agent.Blocks {
		a := b.Prefix.Addr()
		if k := h.familyOf(a); k >= 0 && !b.Draining && !used[a] && !h.alloc.apart[a] {
			ready[k]++
		}
	}
	var before [2]int // pods that get any address
	var asked, plain []*coming
	for _, c := range h.coming {
		goes, never := true, false
		for k := range h.alloc.families {
			if h.asks(c, k) {
				goes = goes && h.hasAsked(c, k)
				continue
			}
			goes = goes && before[k] < ready[k]
			never = never || none[k] && before[k] >= assigned[k]
			before[k]++
		}
		switch {
		case !c.waits || !goes && !never:
		case h.asksAny(c):
			asked = append(asked, c)
		default:
			plain = append(plain, c)
		}
	}
	for _, c := range slices.Concat(asked, plain) {
		h.goOn(c)
	}
}

// Pending says what is under way beside waiting for a time, "" when nothing is.
func (h *Host) Pending() string {
	switch {
	case !h.view.listed || h.self == "":
		return "its blocks are not known"
	case h.busy(h.now) || h.due(h.now):
		return "its blocks are being written"
	case len(h.leaving) > 0:
		return "it gives addresses back"
	case slices.ContainsFunc(h.coming, func(c *coming) bool { return c.waits }):
		return "a pod waits for its address"
	}
	return ""
}

// Owes says that a pod which was refused within the time in which its kubelet asks again would find an address now.
func (h *Host) Owes(now time.Time) bool {
	for o, r := range h.refused { // in any order: whether there is one
		if h.holds(o) || now.Sub(r.at) > refusedTime {
			continue
		}
		if h.finds(r.want) {
			return true
		}
	}
	return false
}

// finds reports whether a pod would be assigned an address of each family.
func (h *Host) finds(w Want) bool {
	for k := range h.alloc.families {
		if _, err := h.assignFor(w, Use{}, k); err != nil {
			return false
		}
	}
	return true
}

// String says what the node has, in one line.
func (h *Host) String() string {
	return fmt.Sprintf("has %d addresses, lacks %d and gives back %v", len(h.mine), h.lacking[0]+h.lacking[1], h.leaving)
}
