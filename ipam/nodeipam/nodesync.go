package nodeipam

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Reasons of a Controller's events, upstream's.
const (
	InvalidPodCIDREvent = "CloudCIDRAllocatorInvalidPodCIDR"
	InvalidModeEvent    = "CloudCIDRAllocatorInvalidMode"
	MismatchEvent       = "CloudCIDRAllocatorMismatch"
)

// nodeSync keeps one node's CIDR in cluster and cloud the same. One sync at a time: it reads the alias, compares, and
// makes the requests that the mode allows, one after the other.
type nodeSync struct {
	c       *Controller
	node    KubeNode
	timeout Timeout
	due     time.Time
	failure error

	busy bool
	next syncStep
	// again holds what was heard of the node during a sync.
	again *KubeNode
	// gone: the object is deleted. Blocks stay claimed until the outstanding request is answered.
	gone, asking bool
	// held is the node's claim in the set, the zero Prefix for none. fresh: we have allocated it, and the cloud may know
	// it before the cluster does.
	held       netip.Prefix
	fresh      bool
	unsurveyed bool
}

// syncStep is what a sync asks for next.
type syncStep uint8

const (
	syncGetNode syncStep = iota
	syncGetAliases
	syncAddAlias
	syncPatch
	syncCondition
)

var syncSteps = [...]string{
	syncGetNode: "get node", syncGetAliases: "get aliases", syncAddAlias: "add alias", syncPatch: "patch pod CIDR",
	syncCondition: "set network condition",
}

// update starts a sync with the object as it is known, or fetches it when node is nil.
func (n *nodeSync) update(node *KubeNode) {
	if n.busy {
		n.again = node
		return
	}
	n.busy = true
	if node == nil {
		n.step(syncGetNode)
		return
	}
	n.step(syncGetAliases)
}

// step has the next request made in Run, when this process leads.
func (n *nodeSync) step(next syncStep) {
	n.next = next
	n.c.due = append(n.c.due, n)
}

func (n *nodeSync) ask() {
	c := n.c
	if (n.next == syncGetAliases || n.next == syncAddAlias) && n.node.ProviderID == "" {
		n.surveyed()
		n.done(fmt.Errorf("node %s doesn't have providerID", n.node.Name))
		return
	}
	c.lastID++
	c.asked[c.lastID] = n
	n.asking = true
	var e Effect
	switch n.next {
	case syncGetNode:
		e = GetNode{c.lastID, n.node.Name}
	case syncGetAliases:
		e = GetAliases{c.lastID, n.node.Name, n.node.ProviderID}
	case syncAddAlias:
		e = AddAlias{c.lastID, n.node.Name, n.node.ProviderID, n.held}
	case syncPatch:
		e = PatchNodeCIDRs{ID: c.lastID, Name: n.node.Name, UID: n.node.uid(), ResourceVersion: n.node.ResourceVersion, CIDRs: []netip.Prefix{n.held}}
	case syncCondition:
		e = SetNetworkAvailable{ID: c.lastID, Name: n.node.Name, Message: "NodeController created an implicit route"}
	}
	c.out = append(c.out, e)
}

// done ends a sync and sets the time of the next one.
func (n *nodeSync) done(err error) {
	n.busy, n.failure = false, err
	n.timeout.Update(err == nil)
	if n.again != nil {
		node := n.again
		n.again = nil
		n.update(node)
		return
	}
	n.due = n.c.now.Add(n.timeout.Next())
	n.c.alarms.set(n.due, n)
}

func (n *nodeSync) warn(reason, message string) {
	n.c.out = append(n.c.out, RecordEvent{Name: n.node.Name, UID: n.node.UID, Type: eventNormal, Reason: reason, Message: message})
}

// claim makes cidr the node's block, instead of another one. It fails when cidr is outside the range or another's.
func (n *nodeSync) claim(cidr netip.Prefix) error {
	if n.held == cidr {
		return nil
	}
	set := n.c.set
	claims := set.Claims(cidr)
	if n.held.IsValid() && n.held.Overlaps(cidr) {
		claims--
	}
	if claims > 0 {
		return fmt.Errorf("cidr %s of node %s is in use", cidr, n.node.Name)
	}
	if err := set.Claim(cidr); err != nil {
		return err
	}
	n.release()
	n.held = cidr
	return nil
}

func (n *nodeSync) release() {
	if n.held.IsValid() {
		if _, err := n.c.set.Return(n.held); err != nil {
			panic("nodeipam: " + err.Error()) // held is claimed
		}
	}
	n.held, n.fresh = netip.Prefix{}, false
}

// surveyed notes that a node of the start has no alias that the set does not know.
func (n *nodeSync) surveyed() {
	if n.unsurveyed {
		n.unsurveyed = false
		n.c.unsurveyed--
	}
}

// delete forgets the node and releases its block.
func (n *nodeSync) delete(node *KubeNode) {
	if _, err := node.parseCIDRs(); err != nil {
		n.warn(InvalidPodCIDREvent, fmt.Sprintf("Node %q has an invalid PodCIDR: %q", node.Name, node.cidrTexts()[0]))
	}
	n.surveyed()
	n.gone = true
	delete(n.c.nodes, n.node.Name)
	if !n.asking {
		n.release()
	}
}

// aliases takes in what the cloud knows and decides by mode.
func (n *nodeSync) aliases(ev Aliases) {
	n.asking = false
	if n.gone {
		n.release()
		return
	}
	aliases, err := parseAliases(ev)
	if ev.Outcome != ipam.Unknown {
		defer n.surveyed()
	}
	if err != nil {
		n.done(err)
		return
	}
	var alias netip.Prefix // of several the first counts
	if len(aliases) > 0 {
		alias = aliases[0]
	}
	cidrs, err := n.node.parseCIDRs()
	has := len(n.node.cidrTexts()) > 0
	switch {
	case !has && !alias.IsValid():
		n.neither()
	case !has && (alias == n.held && n.fresh):
		n.step(syncPatch) // our own, from a try that did not come to an end
	case !has:
		n.fromAlias(alias)
	case !alias.IsValid():
		n.toAlias(cidrs, err)
	case err != nil || cidrs[0] != alias:
		n.warn(MismatchEvent, fmt.Sprintf("Node.Spec.PodCIDR != cloud alias (%v != %v)", n.node.cidrTexts()[0], alias))
		n.done(nil)
	default:
		n.done(n.claim(alias))
	}
}

// refuse ends a sync that the mode does not allow.
func (n *nodeSync) refuse(what, who string) {
	n.warn(InvalidModeEvent, fmt.Sprintf("Cannot %s in mode %q", what, n.c.cfg.Mode))
	n.done(fmt.Errorf("%scannot %s in mode %q", who, what, n.c.cfg.Mode))
}

// neither: the node has no CIDR anywhere.
func (n *nodeSync) neither() {
	if n.c.cfg.Mode != SyncFromCluster {
		n.refuse("allocate CIDRS", "controller ")
		return
	}
	n.c.blocked = append(n.c.blocked, n)
}

// allocate picks a block and tells the cloud first: it refuses more often than the API server.
func (n *nodeSync) allocate() {
	if !n.held.IsValid() {
		cidr, err := n.c.set.AllocateNext()
		if err != nil {
			n.done(err)
			return
		}
		n.held, n.fresh = cidr, true
	}
	n.step(syncAddAlias)
}

// fromAlias: only the cloud knows a CIDR. Where the cluster decides, that is what a controller before this one had
// allocated and told the cloud before it ended; upstream refuses it, and the node has no CIDR for ever. One that we
// would not have given is refused.
func (n *nodeSync) fromAlias(alias netip.Prefix) {
	err := n.claim(alias) // in any mode, so that nobody else gets it
	ours := err == nil && alias.Bits() == n.c.set.NodeMaskSize()
	switch {
	case n.c.cfg.Mode != SyncFromCloud && !ours:
		n.refuse("sync from cloud", "")
	case err != nil:
		n.done(err)
	default:
		n.step(syncPatch)
	}
}

// toAlias: only the cluster knows a CIDR.
func (n *nodeSync) toAlias(cidrs []netip.Prefix, unreadable error) {
	switch {
	case n.c.cfg.Mode != SyncFromCluster:
		n.refuse("sync to cloud", "")
	case unreadable != nil:
		n.warn(InvalidPodCIDREvent, fmt.Sprintf("could not parse podCIDR %q", n.node.cidrTexts()[0]))
		n.done(unreadable)
	default:
		if err := n.claim(cidrs[0]); err != nil {
			n.done(err)
			return
		}
		n.step(syncAddAlias)
	}
}

// answered takes in the outcome of any other request.
func (n *nodeSync) answered(ev Answered) {
	n.asking = false
	if n.gone {
		n.release()
		return
	}
	if ev.Outcome != ipam.Done || n.next == syncGetNode && ev.Node == nil {
		if n.next == syncAddAlias && ev.Outcome != ipam.Unknown && n.fresh {
			n.release() // refused for certain: the block is nobody's
		}
		n.done(failure(n.node.Name, syncSteps[n.next], ev.Outcome, ev.Why))
		return
	}
	switch n.next {
	case syncGetNode:
		if ev.Node.uid() != n.node.uid() {
			n.done(fmt.Errorf("node %s is another object now", n.node.Name)) // the watch will tell
			return
		}
		n.c.add(ev.Node)
		n.step(syncGetAliases)
	case syncAddAlias:
		if len(n.node.cidrTexts()) > 0 {
			n.step(syncCondition)
			return
		}
		n.step(syncPatch)
	case syncPatch:
		n.fresh = false
		n.node.PodCIDR, n.node.PodCIDRs = n.held.String(), []string{n.held.String()}
		if ev.Node != nil {
			n.node.ResourceVersion = ev.Node.ResourceVersion
		}
		n.step(syncCondition)
	case syncCondition:
		n.done(nil)
	}
}
