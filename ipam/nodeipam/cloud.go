package nodeipam

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// CloudAllocator writes into each node the alias ranges that the cloud gave it: the cloud decides, and what a node has
// is overwritten. It is not safe for concurrent use.
type CloudAllocator struct {
	picker Picker
	nodes  map[string]*cloudNode
	queue  []*cloudNode // those in phaseQueued, in order; others are passed over
	asked  map[uint64]*cloudNode
	lastID uint64
	alarms alarms[*cloudNode]
	until  time.Time
	now    time.Time
	out    []Effect
}

// cloudNode is a node and how far its sync is.
type cloudNode struct {
	KubeNode
	phase   phase // phaseIdle when nothing is in progress
	next    cloudStep
	wanted  []netip.Prefix
	tries   int // of the present PATCH
	retries int // of the whole sync
	due     time.Time
	failure error
}

// cloudStep is what a sync asks for next; the steps follow one another.
type cloudStep uint8

const (
	stepAliases cloudStep = iota
	stepPatch
	stepCondition
)

var _ CIDRAllocator = (*CloudAllocator)(nil)

// NewCloudCIDRAllocator returns an allocator without nodes. It needs no list: it keeps no blocks that could collide.
func NewCloudCIDRAllocator(cloud CloudProvider, p Picker) (*CloudAllocator, error) {
	if cloud != CloudProviderGCE {
		return nil, fmt.Errorf("cloudCIDRAllocator does not support %s provider", cloud)
	}
	return &CloudAllocator{picker: p, nodes: make(map[string]*cloudNode), asked: make(map[uint64]*cloudNode)}, nil
}

// Step implements CIDRAllocator.
func (c *CloudAllocator) Step(now time.Time, ev Event) []Effect {
	c.now = now
	switch ev := ev.(type) {
	case NodeAdded:
		c.begin(c.see(&ev.Node))
	case NodeUpdated:
		n := c.see(&ev.Node)
		if len(n.cidrTexts()) == 0 || n.NetworkUnavailable != ConditionFalse || n.NetworkTaint {
			c.begin(n)
		}
	case NodeDeleted:
		if n := c.nodes[ev.Node.Name]; n != nil && n.uid() == ev.Node.uid() {
			delete(c.nodes, ev.Node.Name)
			n.phase = phaseIdle
		}
	case Listed:
		if ev.Outcome == ipam.Done {
			c.listed(ev.Nodes)
		}
	case Answered:
		c.answered(ev)
	case Aliases:
		c.aliases(ev)
	case Leading:
		c.until = ev.Until
	case Woke, ClusterCIDRAdded, ClusterCIDRDeleted, ServiceCIDRs: // time passes in Run; ranges are the cloud's
	default:
		panic(fmt.Sprintf("nodeipam: unknown event %T", ev))
	}
	return c.Run(now)
}

// listed takes in every node there is.
func (c *CloudAllocator) listed(nodes []KubeNode) {
	old := c.nodes
	c.nodes = make(map[string]*cloudNode, len(nodes))
	for i := range nodes {
		if n := old[nodes[i].Name]; n != nil && n.uid() == nodes[i].uid() {
			c.nodes[n.Name] = n
		}
		c.begin(c.see(&nodes[i]))
	}
	for name, n := range old { // in any order: each is stopped alone
		if c.nodes[name] != n {
			n.phase = phaseIdle
		}
	}
}

// Run implements CIDRAllocator.
func (c *CloudAllocator) Run(now time.Time) []Effect {
	c.now = now
	for {
		n, at, ok := c.alarms.pop(now)
		if !ok {
			break
		}
		if n.phase == phaseBackoff && n.due.Equal(at) {
			c.enqueue(n, stepAliases)
		}
	}
	sent := 0
	for leads := c.until.IsZero() || now.Before(c.until); leads && sent < len(c.queue) && len(c.asked) < cidrUpdateWorkers; sent++ {
		if n := c.queue[sent]; n.phase == phaseQueued {
			c.ask(n)
		}
	}
	c.queue = slices.Delete(c.queue, 0, sent)
	out := c.alarms.wake(c.out)
	c.out = nil
	return out
}

func (c *CloudAllocator) ask(n *cloudNode) {
	if n.next == stepAliases && n.ProviderID == "" {
		c.fail(n, fmt.Errorf("node %s doesn't have providerID", n.Name))
		return
	}
	c.lastID++
	n.phase = phaseAsked
	c.asked[c.lastID] = n
	var e Effect
	switch n.next {
	case stepAliases:
		e = GetAliases{c.lastID, n.Name, n.ProviderID}
	case stepPatch:
		e = PatchNodeCIDRs{ID: c.lastID, Name: n.Name, UID: n.uid(), CIDRs: n.wanted}
	case stepCondition:
		e = SetNetworkAvailable{ID: c.lastID, Name: n.Name, Message: "NodeController create implicit route"}
	}
	c.out = append(c.out, e)
}

// see notes what an object looks like. A new object of a known name takes over whatever is in progress for the old one.
func (c *CloudAllocator) see(node *KubeNode) *cloudNode {
	n := c.nodes[node.Name]
	if n == nil {
		n = &cloudNode{}
		c.nodes[node.Name] = n
	}
	n.KubeNode = *node
	return n
}

// begin starts a sync unless one is in progress.
func (c *CloudAllocator) begin(n *cloudNode) {
	if n.phase == phaseIdle {
		n.retries = 0
		c.enqueue(n, stepAliases)
	}
}

func (c *CloudAllocator) enqueue(n *cloudNode, step cloudStep) {
	n.phase, n.next = phaseQueued, step
	c.queue = append(c.queue, n)
}

// AllocateOrOccupyCIDR implements CIDRAllocator: it starts a sync unless one is in progress.
func (c *CloudAllocator) AllocateOrOccupyCIDR(node *KubeNode) error {
	if node != nil {
		c.begin(c.see(node))
	}
	return nil
}

// ReleaseCIDR implements CIDRAllocator: the ranges are the cloud's, so there is nothing to do.
func (c *CloudAllocator) ReleaseCIDR(*KubeNode) error { return nil }

// Failure is why the last try to sync a node failed, nil when it did not.
func (c *CloudAllocator) Failure(name string) error {
	if n := c.nodes[name]; n != nil {
		return n.failure
	}
	return nil
}

// take ends an outstanding request; nil when nobody waits for it any more.
func (c *CloudAllocator) take(id uint64) *cloudNode {
	n := c.asked[id]
	delete(c.asked, id)
	if n == nil || n.phase != phaseAsked || c.nodes[n.Name] != n {
		return nil
	}
	return n
}

func (c *CloudAllocator) aliases(ev Aliases) {
	n := c.take(ev.ID)
	if n == nil {
		return
	}
	cidrs, err := parseAliases(ev)
	if err == nil && len(cidrs) == 0 {
		err = fmt.Errorf("failed to allocate cidr: Node %s has no CIDRs", n.Name)
	}
	if err != nil {
		c.out = append(c.out, statusEvent(n.Name, n.UID, reasonCIDRNotAvailable))
		c.fail(n, err)
		return
	}
	n.wanted = cidrs[:min(len(cidrs), 2)]
	need, err := NeedPodCIDRsUpdate(&n.KubeNode, n.wanted)
	switch {
	case err != nil:
		c.fail(n, err)
	case need:
		n.tries = 0
		c.enqueue(n, stepPatch)
	default:
		c.enqueue(n, stepCondition)
	}
}

// parseAliases reads the cloud's answer; host bits are dropped.
func parseAliases(ev Aliases) ([]netip.Prefix, error) {
	if ev.Outcome != ipam.Done {
		return nil, fmt.Errorf("failed to get cidr(s) from provider: %s", ev.Outcome.Because(ev.Why))
	}
	cidrs := make([]netip.Prefix, len(ev.CIDRs))
	for i, text := range ev.CIDRs {
		var err error
		if cidrs[i], err = space.ParsePrefix(text); err != nil {
			return nil, fmt.Errorf("alias %q of the provider: %w", text, err)
		}
	}
	return cidrs, nil
}

func (c *CloudAllocator) answered(ev Answered) {
	n := c.take(ev.ID)
	if n == nil {
		return
	}
	switch {
	case ev.Outcome == ipam.NotFound:
		n.phase, n.failure = phaseIdle, nil // the watch will say so too
	case n.next == stepCondition && ev.Outcome == ipam.Done:
		n.phase, n.failure, n.retries = phaseIdle, nil, 0
	case n.next == stepCondition:
		c.fail(n, failure(n.Name, "set network condition", ev.Outcome, ev.Why))
	case ev.Outcome == ipam.Done:
		n.PodCIDRs = texts(n.wanted)
		n.PodCIDR = n.PodCIDRs[0]
		c.enqueue(n, stepCondition)
	default:
		// Writing the cloud's value twice does no harm, so it does not matter what became of a try.
		if n.tries++; n.tries < cidrUpdateRetries {
			c.enqueue(n, stepPatch)
			return
		}
		c.out = append(c.out, statusEvent(n.Name, n.UID, reasonCIDRAssignFailed))
		c.fail(n, failure(n.Name, "patch pod CIDRs", ev.Outcome, ev.Why))
	}
}

// fail ends a try: the next one comes after a pause, or with the node's next event after too many.
func (c *CloudAllocator) fail(n *cloudNode, why error) {
	n.failure = why
	n.retries++
	if n.retries > updateMaxRetries {
		n.phase = phaseIdle
		n.failure = fmt.Errorf("%w; gave up after %d retries", why, updateMaxRetries)
		return
	}
	n.phase, n.due = phaseBackoff, c.now.Add(NodeUpdateRetryTimeout(n.retries, c.picker))
	c.alarms.set(n.due, n)
}
