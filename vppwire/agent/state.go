package agent

import (
	"fmt"
	"iter"
	"math"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// ID is the node ID that the agent acts on, 0 for none yet.
func (a *Agent) ID() uint32 { return a.ids.Acting() }

// Node is what the node is wired as; its ID is 0 before. Slices are the Agent's.
func (a *Agent) Node() mode.Node { return a.node }

// Ranges are the cluster's address ranges in force, false while none are known.
func (a *Agent) Ranges() (contiv.Plan, bool) {
	p := a.ranges.plan
	p.PodIf = a.podIf()
	return p, a.ranges.known
}

// Mode is the wiring in use.
func (a *Agent) Mode() mode.Config { return a.wiring }

// Blocks are the pod ranges that the node holds, active ones first.
func (a *Agent) Blocks() []ipam.Block { return a.alloc.Blocks() }

// Reserved are the addresses of held blocks that no pod may get: of each block network, gateway, NAT loopback,
// broadcast; of a block whose gateway lies elsewhere the gateway, and its edges where the allocator has any: Cilium's pools do, EC2's
// subnets and Calico's blocks don't.
func (a *Agent) Reserved() []netip.Addr {
	var list, edges []netip.Addr
	if e, has := a.alloc.(interface{ Edges() []netip.Addr }); has {
		edges = e.Edges()
	}
	for _, b := range a.alloc.Blocks() {
		if !b.Prefix.Contains(b.Gateway) {
			list = append(list, b.Gateway)
			for _, edge := range edges {
				if b.Prefix.Contains(edge) {
					list = append(list, edge)
				}
			}
			continue
		}
		list = append(list, b.Prefix.Addr(), b.Gateway, LoopbackOf(b.Prefix), space.Last(b.Prefix))
	}
	return list
}

// LoopbackOf is the address of a block that an agent keeps for NAT, whatever the system: the last but one.
func LoopbackOf(block netip.Prefix) netip.Addr { return space.Last(block).Prev() }

// KeptForNAT is LoopbackOf as allocators are told what of a block no pod gets.
func KeptForNAT(block netip.Prefix) []netip.Addr { return []netip.Addr{LoopbackOf(block)} }

// Leases yields the assigned addresses with their owners, in ascending address order.
func (a *Agent) Leases() iter.Seq[ipam.Lease] { return a.alloc.Leases() }

// Attached is one attachment that holds an address.
type Attached struct {
	Sandbox Sandbox
	Lease   ipam.Lease
	// Second is the lease of the second family; zero in clusters of one.
	Second ipam.Lease
	// Interface is VPP's name of the pod's interface, empty until it is wired.
	Interface string
	// Up: its ADD has been answered, in this life or an earlier one. Removing: its removal has begun.
	Up, Removing bool
	// Wired: VPP and Linux have had all of it, in this life or an earlier one.
	Wired bool
	// Stale: the machine has booted since, so that its namespace is gone.
	Stale bool
}

// Attachments yields every attachment that holds an address, in owner order.
func (a *Agent) Attachments() iter.Seq[Attached] {
	return func(yield func(Attached) bool) {
		for _, t := range a.pods.recorded() {
			if !yield(Attached{Sandbox: t.sandbox, Lease: t.lease, Second: t.second, Interface: t.iface, Up: t.phase == phaseUp, Removing: t.removing(), Stale: t.stale,
				Wired: t.wired}) {
				return
			}
		}
	}
}

// AttachmentsChanged counts changes of what Attachments yields of attachments that are wired.
func (a *Agent) AttachmentsChanged() uint64 { return a.pods.changes }

// Config is the configuration that the agent acts on, defaults applied. Slices are the Agent's.
func (a *Agent) Config() Config { return a.cfg }

// HostAddrs are the addresses of the host's own links, as last told. The slice is the caller's.
func (a *Agent) HostAddrs() []netip.Addr { return slices.Clone(a.hosts) }

// Idle reports whether the agent has nothing left to do by itself and waits for no answer.
func (a *Agent) Idle() bool { return a.Pending() == "" }

// Pending is one sentence about why the agent is not idle, empty when it is. What only other nodes or people can end (a
// block that another node's pods still use, no free node ID, an address range that is too small) is not pending.
func (a *Agent) Pending() string {
	if why := a.awaited(); why != "" {
		return why
	}
	if why := a.ids.Unreleased(); why != "" {
		return why
	}
	return a.pendingPods()
}

// Due is as Pending, without what has to wait for a time or for others: an ID that this node may have to release, and
// what stays until every source has told what is wanted.
func (a *Agent) Due() string {
	if why := a.awaited(); why != "" || a.wire.Withheld() {
		return why
	}
	return a.pendingPods()
}

// Lacks yields all that the agent has to know, to have or to write down before it is ready for pods, in the order in
// which it counts.
func (a *Agent) Lacks() iter.Seq[string] {
	return func(yield func(string) bool) {
		_ = (a.restored || yield("the journal has not been read")) &&
			(a.journal.durable == a.journal.seq && !a.journal.unverified || yield("the journal is being written")) &&
			(a.ids.Unsettled() == "" || yield(a.ids.Unsettled())) &&
			(a.ranges.known || yield("no address ranges are known")) &&
			(!a.ids.Unclaimed() || yield("no node ID yet")) &&
			(!a.ids.Usable() || a.ranges.waiting == "" || a.ranges.blocked || yield(a.ranges.waiting)) &&
			(a.podsListed || yield("the pods have not been listed")) &&
			(a.ids.NodesKnown() || yield("the nodes have not been listed")) &&
			(a.servicesKnown() || yield("the services have not been listed"))
	}
}

// awaited is what comes before anything else: what the agent lacks, then the request that is open for the longest.
func (a *Agent) awaited() string {
	for why := range a.Lacks() {
		return why
	}
	if len(a.pods.requests) > 0 && a.notReady() == "" {
		return a.pods.oldestRequest()
	}
	if !a.untaken.IsZero() {
		return "network policies have changed while rules are written"
	}
	return ""
}

func (a *Agent) pendingPods() string {
	var first *attachment
	// in any order: the least owner is kept
	for _, t := range a.pods.byOwner {
		if t.phase != phaseUp && t.phase != phaseWaiting && (first == nil || compareOwners(t.sandbox.Owner, first.sandbox.Owner) < 0) {
			first = t
		}
	}
	if first != nil {
		return a.pods.progress(first)
	}
	if !a.wiring.Wires() || a.unfit() != "" && a.wire.Withheld() {
		return "" // there is nothing, or what the node was stays until people give it ranges that it fits, and it knows what it is
	}
	return a.wire.Pending()
}

// oldestRequest says what the request that is open for the longest waits for, and how many others there are.
func (p *pods) oldestRequest() string {
	oldest := uint64(math.MaxUint64)
	for n := range p.requests { // in any order: the least number is kept
		oldest = min(oldest, n)
	}
	t := p.requests[oldest]
	verb := "ADD"
	if slices.Contains(t.dels, oldest) {
		verb = "DEL"
	}
	text := verb + " is open: " + p.progress(t)
	if n := len(p.requests) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

var phaseWords = [...]string{
	phaseWaiting: "waits for an address, or for an older sandbox of its pod to go", phaseSaving: "has its address written to the journal",
	phaseWiring: "is being wired", phaseHooking: "waits for hooks", phaseUp: "is attached", phaseUnhooking: "waits for hooks before it goes",
	phaseUnwiring: "is being unwired", phaseErasing: "has its release written to the journal",
}

// progress says how far an attachment has come, and what VPP or Linux last refused of it.
func (p *pods) progress(t *attachment) string {
	s := &t.sandbox
	text := "sandbox " + s.Owner.ContainerID[:min(sandboxDigits, len(s.Owner.ContainerID))]
	if s.PodName != "" {
		text += " of pod " + s.PodNamespace + "/" + s.PodName
	}
	text += " " + phaseWords[t.phase]
	if _, err := p.wire.Done(t.group); err != nil {
		text += ": " + err.Error()
	}
	return text
}

// sandboxDigits is how much of a container ID people are shown; crictl prints as many.
const sandboxDigits = 13

// AppendPlan appends what VPP and Linux should look like and what is known of them, as text.
func (a *Agent) AppendPlan(b []byte) []byte { return a.wire.AppendPlan(b) }
