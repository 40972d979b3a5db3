package nodeipam

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// CIDRAllocatorParams are the ranges of a RangeAllocator. Prefixes may have host bits; they are dropped.
type CIDRAllocatorParams struct {
	// ClusterCIDRs are at most one range of each family; every node gets a block of each, in this order.
	ClusterCIDRs []netip.Prefix
	// NodeCIDRMaskSizes are the lengths of the blocks, one for each range.
	NodeCIDRMaskSizes []int
	// ServiceCIDR and SecondaryServiceCIDR are kept free where they overlap the ranges; the zero Prefix is none.
	ServiceCIDR, SecondaryServiceCIDR netip.Prefix
	// MultiCIDRs are further ranges for selected nodes. They come before ClusterCIDRs, which may be empty then.
	MultiCIDRs []ClusterCIDR
	// AnyWidth lifts the limit of 2^16 IPv6 blocks.
	AnyWidth bool
	// Picker spreads pauses between tries; nil spreads nothing.
	Picker Picker
	// Routes has New put a RouteController beside a RangeAllocator; nil: none.
	Routes *RouteConfig
}

// RangeAllocator gives nodes blocks of ranges that it keeps itself. It is not safe for concurrent use.
//
// It holds a block for a node from the moment it picks it until the node object is gone, or it is certain that the
// block was not and will not be written into the object. Nodes that find no block wait in line. A node whose CIDRs are
// unreadable, outside every range or in use elsewhere is quarantined: it keeps them, nobody else gets them, and
// everything goes on.
type RangeAllocator struct {
	params  CIDRAllocatorParams
	ranges  rangeSet
	byUID   map[string]*holder
	byName  map[string]*holder
	dead    map[string]bool // UIDs of buried objects
	start   takeover
	queue   []*holder // those in phaseQueued, in order; others are passed over
	waiters []waiter
	tickets uint64
	asked   map[uint64]*holder
	lastID  uint64
	alarms  alarms[*holder]
	until   time.Time
	now     time.Time
	out     []Effect
}

var _ CIDRAllocator = (*RangeAllocator)(nil)

// NewCIDRRangeAllocator returns an allocator that knows the existing nodes: their CIDRs are occupied before anything is
// allocated. nodes must be a consistent list, read after any predecessor made its last request. Nodes without CIDRs are
// touched before the first allocation, because a predecessor's PATCH may still be on its way to them.
func NewCIDRRangeAllocator(params CIDRAllocatorParams, nodes []KubeNode) (*RangeAllocator, error) {
	r, err := newRangeAllocator(params)
	if err != nil {
		return nil, err
	}
	r.takeOver(nodes)
	return r, nil
}

func newRangeAllocator(params CIDRAllocatorParams) (*RangeAllocator, error) {
	if len(params.ClusterCIDRs) == 0 && len(params.MultiCIDRs) == 0 {
		return nil, errors.New("no cluster CIDR")
	}
	r := &RangeAllocator{
		params: params,
		byUID:  make(map[string]*holder),
		byName: make(map[string]*holder),
		dead:   make(map[string]bool),
		asked:  make(map[uint64]*holder),
	}
	if len(params.ClusterCIDRs) > 0 {
		if err := r.ranges.addFallback(params); err != nil {
			return nil, err
		}
	}
	for _, c := range params.MultiCIDRs {
		if _, err := r.ranges.addClusterCIDR(c, params.AnyWidth); err != nil {
			return nil, err
		}
	}
	r.ranges.reserve(params.ServiceCIDR)
	r.ranges.reserve(params.SecondaryServiceCIDR)
	return r, nil
}

// Step implements CIDRAllocator.
func (r *RangeAllocator) Step(now time.Time, ev Event) []Effect {
	r.now = now
	switch ev := ev.(type) {
	case NodeAdded:
		r.see(&ev.Node)
	case NodeUpdated:
		r.see(&ev.Node)
	case NodeDeleted:
		delete(r.dead, ev.Node.uid())
		if h := r.byUID[ev.Node.uid()]; h != nil {
			r.drop(h)
		}
	case Listed:
		r.listed(ev)
	case Answered:
		r.answered(ev)
	case ClusterCIDRAdded:
		if err := r.addRange(ev.ClusterCIDR); err != nil {
			r.out = append(r.out, RecordEvent{Name: ev.ClusterCIDR.Name, Type: eventNormal, Reason: reasonInvalidClusterCIDR, Message: err.Error()})
		}
	case ClusterCIDRDeleted:
		if p := r.ranges.pool(ev.Name); p != nil {
			p.closed = true
			r.ranges.dropClosed()
		}
	case ServiceCIDRs:
		r.keepOff(ev.Ranges)
	case Leading:
		r.until = ev.Until
	case Woke:
	case Aliases: // a cloud's answer; this allocator asks no cloud
	default:
		panic(fmt.Sprintf("nodeipam: unknown event %T", ev))
	}
	return r.Run(now)
}

// Run implements CIDRAllocator.
func (r *RangeAllocator) Run(now time.Time) []Effect {
	r.now = now
	for {
		h, at, ok := r.alarms.pop(now)
		if !ok {
			break
		}
		if h != nil && !h.gone && h.phase == phaseBackoff && h.due.Equal(at) {
			r.resume(h)
		}
	}
	r.begin()
	r.send()
	out := r.alarms.wake(r.out)
	r.out = nil
	return out
}

// send makes requests in order, as long as this process leads and not too many are outstanding.
func (r *RangeAllocator) send() {
	if !r.leads() {
		return
	}
	n := 0
	for n < len(r.queue) && len(r.asked) < cidrUpdateWorkers {
		h := r.queue[n]
		n++
		if h.phase == phaseQueued && !h.gone && !r.reconsidered(h) {
			r.lastID++
			h.phase, h.asked, h.since = phaseAsked, r.lastID, r.now
			r.asked[r.lastID] = h
			r.out = append(r.out, h.effect(r.lastID))
		}
	}
	r.queue = slices.Delete(r.queue, 0, n)
}

// reconsidered reports whether what was to be written into h's object has turned out to be another object's, which a
// predecessor's late PATCH has given it, or somebody else: h gets something else.
func (r *RangeAllocator) reconsidered(h *holder) bool {
	if h.next != requestPatch || !slices.ContainsFunc(h.cidrs, func(c netip.Prefix) bool { _, shared := r.ranges.standing(c); return shared }) {
		return false
	}
	r.free(h)
	r.judgeAgain()
	h.phase = phaseIdle
	_ = r.proceed(h) // who finds nothing waits, and an event says so
	return true
}

func (r *RangeAllocator) leads() bool { return r.until.IsZero() || r.now.Before(r.until) }

func (r *RangeAllocator) enqueue(h *holder, what request) {
	h.phase, h.next = phaseQueued, what
	r.queue = append(r.queue, h)
}

// AllocateOrOccupyCIDR implements CIDRAllocator.
func (r *RangeAllocator) AllocateOrOccupyCIDR(node *KubeNode) error {
	if node == nil {
		return nil
	}
	return r.see(node)
}

// ReleaseCIDR implements CIDRAllocator.
func (r *RangeAllocator) ReleaseCIDR(node *KubeNode) error {
	if node == nil {
		return nil
	}
	if h := r.byUID[node.uid()]; h != nil {
		r.drop(h)
	}
	for _, text := range node.cidrTexts() {
		if _, err := space.ParsePrefix(text); err != nil {
			//lint:ignore ST1005 the text is upstream's
			return fmt.Errorf("Failed to parse CIDR %s on Node %s: %w", text, node.Name, err)
		}
	}
	return nil
}

// see takes in what an object looks like.
func (r *RangeAllocator) see(n *KubeNode) error {
	if r.dead[n.uid()] {
		return nil // the watch is behind what an answer said
	}
	h := r.byUID[n.uid()]
	if h == nil {
		if old := r.byName[n.Name]; old != nil {
			r.bury(old) // names are unique, so the older object is gone
		}
		h = &holder{name: n.Name, uid: n.uid()}
		r.byUID[h.uid], r.byName[h.name] = h, h
	}
	h.version, h.labels, h.deleting = n.ResourceVersion, n.Labels, n.Deleting
	switch {
	case len(n.cidrTexts()) > 0:
		return r.occupy(h, n)
	case h.settled:
		return nil // pod CIDRs never go away again, so this is old news
	case h.phase == phaseWaiting && h.deleting:
		h.phase = phaseIdle
	case h.phase == phaseWaiting:
		return r.allocate(h) // its labels may choose another range now
	case h.phase == phaseIdle:
		return r.proceed(h)
	}
	return nil
}

// proceed takes the next step for h, about which nothing is being done.
func (r *RangeAllocator) proceed(h *holder) error {
	switch {
	case h.gone || h.settled:
	case h.unfenced:
		r.enqueue(h, requestTouch)
	case len(h.cidrs) > 0:
		r.enqueue(h, requestPatch)
	case h.deleting: // who is going needs none
	case !r.start.open:
		h.phase = phaseArrived
		r.start.arrived = append(r.start.arrived, h)
	default:
		return r.allocate(h)
	}
	return nil
}

// bury forgets an object that is gone although the watch has not said so yet: what it still says of that object is
// past.
func (r *RangeAllocator) bury(h *holder) {
	r.dead[h.uid] = true
	r.drop(h)
}

// drop forgets an object that is gone; only now others may have its CIDRs.
func (r *RangeAllocator) drop(h *holder) {
	h.gone, h.phase = true, phaseIdle
	delete(r.byUID, h.uid)
	delete(r.byName, h.name)
	r.fenced(h)
	r.free(h)
}

// free gives back what h holds.
func (r *RangeAllocator) free(h *holder) {
	for _, c := range h.cidrs {
		r.ranges.giveBack(c)
	}
	if len(h.cidrs) > 0 {
		h.cidrs = nil
		r.wake()
	}
}

// addRange adds a range in which nodes may hold something already.
func (r *RangeAllocator) addRange(c ClusterCIDR) error {
	p, err := r.ranges.addClusterCIDR(c, r.params.AnyWidth)
	if err != nil {
		return err
	}
	for _, h := range r.byUID { // in any order: claims only count
		for _, cidr := range h.cidrs {
			if p.claim(cidr) {
				p.claims++
			}
		}
	}
	r.judgeAgain()
	r.wake()
	return nil
}

// keepOff takes ranges of services out of every range. What is being written into an object is looked at again before it is
// sent (see reconsidered).
func (r *RangeAllocator) keepOff(services []netip.Prefix) {
	for _, s := range services {
		if s = space.Normal(s); !s.IsValid() || slices.Contains(r.ranges.reserved, s) {
			continue
		}
		r.ranges.reserve(s)
		for _, name := range slices.Sorted(maps.Keys(r.byName)) {
			if h := r.byName[name]; h.settled && slices.ContainsFunc(h.cidrs, s.Overlaps) {
				_ = r.judge(h) // an event says what is wrong with it
			}
		}
	}
}

// judgeAgain works out anew what is wrong with quarantined nodes.
func (r *RangeAllocator) judgeAgain() {
	for _, name := range slices.Sorted(maps.Keys(r.byName)) {
		if h := r.byName[name]; h.quarantine != "" {
			_ = r.judge(h) // an event says what is wrong with it
		}
	}
}
