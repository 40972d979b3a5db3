package nodeipam

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/internal/cidrset"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// NodeSyncMode says who decides which CIDR a node has.
type NodeSyncMode string

// Modes of a Controller.
const (
	// SyncFromCloud takes CIDRs from the cloud into the cluster.
	SyncFromCloud NodeSyncMode = "SyncFromCloud"
	// SyncFromCluster takes CIDRs from the cluster into the cloud, and allocates them.
	SyncFromCluster NodeSyncMode = "SyncFromCluster"
)

// Upstream's times of the controller.
const (
	DefaultResync       = 30 * time.Second
	DefaultMaxBackoff   = 10 * time.Second
	DefaultInitialRetry = 250 * time.Millisecond
)

// Config for the Controller. Zero times are upstream's: 30 s, 10 s and 250 ms.
type Config struct {
	// Resync is the pause after a sync that went well.
	Resync time.Duration
	// MaxBackoff is the longest pause after failures, InitialRetry the first one.
	MaxBackoff, InitialRetry time.Duration
	// Mode has no default.
	Mode NodeSyncMode
}

// Controller synchronises the CIDR of each node between cluster and cloud: the types IPAMFromCluster and IPAMFromCloud.
// It knows one CIDR a node, as upstream. It is not safe for concurrent use.
//
// What listed nodes hold is occupied before anything is allocated, and the alias of each that holds nothing is looked
// at first.
type Controller struct {
	cfg    Config
	set    *cidrset.Ledger
	nodes  map[string]*nodeSync
	asked  map[uint64]*nodeSync
	lastID uint64
	alarms alarms[*nodeSync]
	start  listing
	// services are ranges that no node gets.
	services []netip.Prefix
	// unsurveyed counts nodes of the start whose alias may be a block that the set does not know of yet; blocked are those
	// who wait for that before they allocate.
	unsurveyed int
	blocked    []*nodeSync
	// due are syncs with a request to make, in order.
	due   []*nodeSync
	until time.Time
	now   time.Time
	out   []Effect
}

// NewController returns a controller that knows no node and asks for no list: its driver tells it all of them.
func NewController(cfg Config, cloud CloudProvider, clusterCIDR, serviceCIDR netip.Prefix, nodeCIDRMaskSize int) (*Controller, error) {
	if cfg.Mode != SyncFromCloud && cfg.Mode != SyncFromCluster {
		return nil, fmt.Errorf("invalid IPAM controller mode %q", cfg.Mode)
	}
	if cloud != CloudProviderGCE {
		return nil, fmt.Errorf("cloud IPAM controller does not support %q provider", cloud)
	}
	set, err := cidrset.NewLedger(clusterCIDR, nodeCIDRMaskSize)
	if err != nil {
		return nil, err
	}
	for _, d := range [...]struct {
		own      *time.Duration
		standard time.Duration
	}{{&cfg.Resync, DefaultResync}, {&cfg.MaxBackoff, DefaultMaxBackoff}, {&cfg.InitialRetry, DefaultInitialRetry}} {
		if *d.own < 0 {
			return nil, errors.New("times of the IPAM controller must not be negative")
		}
		if *d.own == 0 {
			*d.own = d.standard
		}
	}
	c := &Controller{cfg: cfg, set: set, nodes: make(map[string]*nodeSync), asked: make(map[uint64]*nodeSync)}
	c.keepOff([]netip.Prefix{serviceCIDR})
	return c, nil
}

// keepOff takes ranges of services out of the range; the zero Prefix is none.
func (c *Controller) keepOff(services []netip.Prefix) {
	for _, s := range services {
		if s = space.Normal(s); !s.IsValid() || !s.Overlaps(c.set.ClusterCIDR()) || slices.Contains(c.services, s) {
			continue
		}
		c.services = append(c.services, s)
		if err := c.set.Claim(s); err != nil {
			panic("nodeipam: " + err.Error()) // it overlaps the range
		}
	}
}

// Step implements Machine.
func (c *Controller) Step(now time.Time, ev Event) []Effect {
	c.now = now
	switch ev := ev.(type) {
	case NodeAdded:
		c.seen(&ev.Node)
	case NodeUpdated:
		c.seen(&ev.Node)
	case NodeDeleted:
		if n := c.nodes[ev.Node.Name]; n != nil && n.node.uid() == ev.Node.uid() {
			n.delete(&ev.Node)
		}
	case Listed:
		ok, again := c.start.answered(c.now, ev)
		if !again.IsZero() {
			c.alarms.set(again, nil)
		}
		if ok {
			c.listed(ev.Nodes)
		}
	case Answered:
		if n := c.take(ev.ID); n != nil {
			n.answered(ev)
		}
	case Aliases:
		if n := c.take(ev.ID); n != nil {
			n.aliases(ev)
		}
	case ServiceCIDRs:
		c.keepOff(ev.Ranges)
	case Leading:
		c.until = ev.Until
	case Woke, ClusterCIDRAdded, ClusterCIDRDeleted: // time passes in Run; the range is fixed
	default:
		panic(fmt.Sprintf("nodeipam: unknown event %T", ev))
	}
	return c.Run(now)
}

func (c *Controller) listed(nodes []KubeNode) {
	exists := make(map[string]bool, len(nodes))
	for i := range nodes {
		exists[nodes[i].uid()] = true
	}
	var gone []*nodeSync
	for _, n := range c.nodes {
		if !exists[n.node.uid()] {
			gone = append(gone, n)
		}
	}
	slices.SortFunc(gone, func(a, b *nodeSync) int { return strings.Compare(a.node.Name, b.node.Name) })
	for _, n := range gone {
		n.delete(&n.node)
	}
	if c.start.wanted {
		c.begin(nodes)
		return
	}
	for i := range nodes {
		c.seen(&nodes[i])
	}
}

// begin makes the existing nodes known before anything else: what they hold is occupied, and each is synchronised at
// once.
func (c *Controller) begin(nodes []KubeNode) {
	c.start.wanted = false
	for i := range nodes {
		n := c.add(&nodes[i])
		if c.cfg.Mode == SyncFromCluster && len(n.node.cidrTexts()) == 0 {
			n.unsurveyed = true
			c.unsurveyed++
		}
	}
	for i := range nodes {
		if n := c.nodes[nodes[i].Name]; !n.busy {
			n.update(&nodes[i])
		}
	}
}

// seen synchronises a node that is new or has changed.
func (c *Controller) seen(node *KubeNode) {
	if n := c.nodes[node.Name]; n != nil && n.node.uid() != node.uid() {
		n.delete(&n.node)
	}
	c.add(node).update(node)
}

// add makes a node known and occupies what it holds.
func (c *Controller) add(node *KubeNode) *nodeSync {
	n := c.nodes[node.Name]
	if n == nil {
		n = &nodeSync{c: c, timeout: Timeout{Resync: c.cfg.Resync, MaxBackoff: c.cfg.MaxBackoff, InitialRetry: c.cfg.InitialRetry}}
		c.nodes[node.Name] = n
	}
	n.node = *node
	if cidrs, err := node.parseCIDRs(); err == nil && len(cidrs) > 0 {
		_ = n.claim(cidrs[0]) // a sync will say what is wrong with it
	}
	return n
}

// Run implements Machine.
func (c *Controller) Run(now time.Time) []Effect {
	c.now = now
	for {
		n, at, ok := c.alarms.pop(now)
		if !ok {
			break
		}
		if n != nil && !n.gone && !n.busy && n.due.Equal(at) {
			n.update(nil)
		}
	}
	c.out = c.start.ask(c.out, now, c.leads(), &c.lastID)
	for c.proceed() {
	}
	out := c.alarms.wake(c.out)
	c.out = nil
	return out
}

// proceed lets syncs that can go on do so, and reports whether there were any.
func (c *Controller) proceed() bool {
	var blocked, due []*nodeSync
	if c.unsurveyed == 0 && !c.start.wanted {
		blocked, c.blocked = c.blocked, nil
	}
	if c.leads() {
		due, c.due = c.due, nil
	}
	for _, n := range blocked {
		if !n.gone {
			n.allocate()
		}
	}
	for _, n := range due {
		if !n.gone {
			n.ask()
		}
	}
	return len(blocked)+len(due) > 0
}

func (c *Controller) leads() bool { return c.until.IsZero() || c.now.Before(c.until) }

// take ends an outstanding request.
func (c *Controller) take(id uint64) *nodeSync {
	n := c.asked[id]
	delete(c.asked, id)
	return n
}

// Failure is why the last sync of a node failed, nil when it did not.
func (c *Controller) Failure(name string) error {
	if n := c.nodes[name]; n != nil {
		return n.failure
	}
	return nil
}

// Use tells how full the range is.
func (c *Controller) Use() RangeUse {
	return RangeUse{CIDR: c.set.ClusterCIDR(), Blocks: c.set.MaxCIDRs(), Free: c.set.Free()}
}
