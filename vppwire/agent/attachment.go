package agent

import (
	"cmp"
	"maps"
	"math/bits"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// phase is how far an attachment has come. It goes forward only; an ADD may be abandoned in any phase.
type phase uint8

const (
	// phaseWaiting: no address yet; the node is not ready or an older sandbox of the pod is in the way. Nothing is
	// recorded.
	phaseWaiting phase = iota
	// phaseSaving: the address is being written to the journal.
	phaseSaving
	// phaseWiring: the group is wanted and not yet done.
	phaseWiring
	// phaseHooking: wired; the hooks after addition run.
	phaseHooking
	// phaseUp: answered.
	phaseUp
	// phaseUnhooking: the hooks before removal run.
	phaseUnhooking
	// phaseUnwiring: the group is wanted empty and not yet gone.
	phaseUnwiring
	// phaseErasing: the release is being written to the journal, or what the journal may hold of a failed ADD is being
	// written over; the address may be given out again.
	phaseErasing
)

// attachment is one CNI attachment.
type attachment struct {
	sandbox  Sandbox
	external [2]netip.Addr // of the first and the second family
	wanted   []netip.Addr  // see PodAdd; what an earlier life was asked is in the lease
	lease    ipam.Lease
	second   ipam.Lease // of the second family; zero in clusters of one
	group    string
	// number is unique among attachments with an address, 0 before: see mode.Pod.
	number uint32
	iface  string // VPP's name of the pod's interface, once wired
	phase  phase
	// stale: of an earlier boot. Its namespace and processes are gone, so it is never wired; its address stays held until
	// the runtime, the pod list or a newer sandbox says that nobody will ask for it again.
	stale bool
	since time.Time // of phaseWaiting or phaseWiring, or of the repeated ADD
	hook  uint64    // outstanding Hook
	// unhooked: an earlier life began it, and nobody knows whether its hooks after the addition have run. A repeated ADD was
	// not answered then, and runs them.
	unhooked bool
	// wired: see Attached.
	wired bool
	// adds, dels: open requests, oldest first. gcs: collections that wait for this one.
	adds, dels []uint64
	gcs        []*collection
	// again is an ADD that came while the attachment was being removed: it starts over when that is done.
	again *attachment
}

// removing reports whether the attachment is on its way out.
func (t *attachment) removing() bool { return t.phase >= phaseUnhooking }

// recorded reports whether the allocator holds an address for the attachment.
func (t *attachment) recorded() bool { return t.phase != phaseWaiting && t.phase != phaseErasing }

// podKey is what at most one sandbox of a node may be attached for. A pod that was deleted by force may still be ending
// while another of its name begins: the UID, where the runtime tells it, keeps them apart.
type podKey struct{ namespace, name, uid, ifName string }

// pod is the attachment's podKey; false when the request did not say which pod it is for.
func (t *attachment) pod() (podKey, bool) {
	k := podKey{t.sandbox.PodNamespace, t.sandbox.PodName, t.sandbox.PodUID, t.sandbox.Owner.IfName}
	return k, k.namespace != "" && k.name != ""
}

// collection is one GC request and how many removals it waits for.
type collection struct {
	request uint64
	left    int
	// withdrawn: nobody waits for it any more.
	withdrawn bool
}

// pods are the node's attachments: how they come, stay and go.
type pods struct {
	*core
	journal *journal
	rest    surroundings
	byOwner map[ipam.Owner]*attachment
	byGroup map[string]*attachment
	byPod   map[podKey][]*attachment // oldest first
	// numbers has a bit for each number in use: number n is bit (n-1)%64 of word (n-1)/64.
	numbers []uint64
	// requests are the open ADD and DEL requests, collections the open GC requests.
	requests map[uint64]*attachment
	// checks are CHECKs that wait for VPP and Linux to be looked at.
	checks []PodCheck
	hooks  map[uint64]*attachment
	// waiting are in phaseWaiting, in the order of their ADDs; underway are in phaseWiring, or repeated in phaseUp,
	// with somebody waiting.
	waiting, underway []*attachment
	// unlisted are attachments whose pods the last list of the API server's did not have.
	unlisted []*attachment
	// named: removals wait until the namespaces that they have named have been looked at.
	named bool
	// scarce: the second family was the one that had no address last.
	scarce   bool
	lastHook uint64
	// changes: see AttachmentsChanged.
	changes uint64
	// failing is why the last ADD that was wired was given up, empty since one was answered.
	failing string
	// staleBoot names the boot of stale attachments; several earlier boots count as one.
	staleBoot string
}

// surroundings are what attachments need of the rest of the agent.
type surroundings interface {
	// notReady says why no address can be given out; empty when one can.
	notReady() string
	// hopeless is what ADDs are answered that need not wait; the zero Answer where they do.
	hopeless() Answer
	// awaitedBlocks says why not all blocks that the node should have are taken; empty when they are.
	awaitedBlocks() string
	// pools are the allocator's pools of a pod's addresses, the primary first; one that is empty where the cluster has one
	// family.
	pools() []string
	// filter is what a pod may send and get, nil for everything.
	filter(namespace, name string) *mode.Filter
	// trouble says why no pod can be wired now, by the agent's own time; empty when one can.
	trouble(now time.Time) string
}

func (p *pods) init(c *core, j *journal, rest surroundings) {
	p.core, p.journal, p.rest = c, j, rest
	p.byOwner, p.byGroup = map[ipam.Owner]*attachment{}, map[string]*attachment{}
	p.byPod, p.requests, p.hooks = map[podKey][]*attachment{}, map[uint64]*attachment{}, map[uint64]*attachment{}
}

// add files a new attachment.
func (p *pods) add(t *attachment) {
	t.group = groupPods + t.sandbox.Owner.String()
	p.changes++
	p.byOwner[t.sandbox.Owner] = t
	p.byGroup[t.group] = t
	if k, ok := t.pod(); ok {
		p.byPod[k] = append(p.byPod[k], t)
	}
}

func (p *pods) forget(t *attachment) {
	p.changes++
	delete(p.byOwner, t.sandbox.Owner)
	delete(p.byGroup, t.group)
	if t.number != 0 {
		p.numbers[(t.number-1)/64] &^= 1 << ((t.number - 1) % 64)
		t.number = 0
	}
	p.waiting = without(p.waiting, t)
	p.underway = without(p.underway, t)
	if k, ok := t.pod(); ok {
		if rest := without(p.byPod[k], t); len(rest) > 0 {
			p.byPod[k] = rest
		} else {
			delete(p.byPod, k)
		}
	}
}

// takeNumber gives t the smallest number that no attachment has; false when all are taken.
func (p *pods) takeNumber(t *attachment) bool {
	for i, word := range p.numbers {
		if word != ^uint64(0) {
			return p.claimNumber(t, uint32(i*64+bits.TrailingZeros64(^word)+1))
		}
	}
	return p.claimNumber(t, uint32(len(p.numbers)*64+1))
}

// claimNumber gives t number n; false when there is no such number or it is taken.
func (p *pods) claimNumber(t *attachment, n uint32) bool {
	if n < 1 || n > mode.PodNumberMax {
		return false
	}
	i, bit := int(n-1)/64, uint64(1)<<((n-1)%64)
	for len(p.numbers) <= i {
		p.numbers = append(p.numbers, 0)
	}
	if p.numbers[i]&bit != 0 {
		return false
	}
	p.numbers[i] |= bit
	t.number = n
	return true
}

func without(list []*attachment, t *attachment) []*attachment {
	return slices.DeleteFunc(list, func(x *attachment) bool { return x == t })
}

// sorted lists all attachments in owner order.
func (p *pods) sorted() []*attachment {
	return slices.SortedFunc(maps.Values(p.byOwner), func(x, y *attachment) int { return compareOwners(x.sandbox.Owner, y.sandbox.Owner) })
}

// recorded lists those with an address attachments in owner order.
func (p *pods) recorded() []*attachment {
	return slices.DeleteFunc(p.sorted(), func(t *attachment) bool { return !t.recorded() })
}

func compareOwners(x, y ipam.Owner) int {
	return cmp.Or(cmp.Compare(x.Network, y.Network), cmp.Compare(x.ContainerID, y.ContainerID), cmp.Compare(x.IfName, y.IfName))
}

// due is when the first ADD's patience ends.
func (p *pods) due(patience time.Duration) time.Time {
	var first time.Time
	for _, list := range [...][]*attachment{p.waiting, p.underway} {
		for _, t := range list {
			if end := t.since.Add(patience); first.IsZero() || end.Before(first) {
				first = end
			}
		}
	}
	return first
}

// facts are what the wiring needs to know of an attachment.
func (t *attachment) facts() mode.Pod {
	s := &t.sandbox
	return mode.Pod{
		Container: s.Owner.ContainerID, IfName: s.Owner.IfName, Netns: s.Netns, Namespace: s.PodNamespace, Name: s.PodName,
		Addr: t.lease.Addr, Gateway: t.lease.Gateway, SecondAddr: t.second.Addr, SecondGateway: t.second.Gateway, Number: t.number,
		Memif: s.Memif, UID: s.PodUID,
	}
}

// result is what a successful ADD answers.
func (p *pods) result(t *attachment) Attachment {
	s := &t.sandbox
	r := Attachment{
		IfName: s.Owner.IfName, Netns: s.Netns, Addr: netip.PrefixFrom(t.lease.Addr, t.lease.Addr.BitLen()),
		Gateway: t.lease.Gateway, MAC: p.wiring.PodMAC(p.node, t.facts()), MTU: p.cfg.MTUSize,
	}
	if a := t.second.Addr; a.IsValid() {
		r.Second, r.SecondGateway = netip.PrefixFrom(a, a.BitLen()), t.second.Gateway
	}
	return r
}
