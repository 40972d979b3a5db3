package plan

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Source is the configuration of one system.
type Source interface {
	// System is the system's name in configurations.
	System() string
	// Draft adds ranges, limits, reservations and the system's own findings. An error is for what cannot be read.
	Draft(d *Draft, c Cluster) error
}

// Base is what a source is made of beside what its system has of its own.
type Base struct {
	// Ranges are those of pods, and BlockBits the length of a node's part of them.
	Ranges    []netip.Prefix
	BlockBits int
	Keys      Keys
	Fabric    Fabric
}

// Plan is what a configuration amounts to. Counts saturate at 2^64-1.
type Plan struct {
	System string `json:"system"`
	// Ranges are in the order of the configuration.
	Ranges []Range `json:"ranges"`
	// Nodes is how many nodes fit; PodsPerNode how many pods of one node can have an address; Pods how many of the whole
	// cluster.
	Nodes       uint64 `json:"nodes"`
	PodsPerNode uint64 `json:"podsPerNode"`
	Pods        uint64 `json:"pods"`
	// Running is what can run at once when all nodes that fit are there, Expected the same on the nodes that are expected; nil when nobody
	// says how many these are.
	Running  Room  `json:"running"`
	Expected *Room `json:"expected,omitempty"`
	// NodeLimits say what ends the number of nodes, PodLimits that of pods on a node; the lowest first.
	NodeLimits []Limit `json:"nodeLimits"`
	PodLimits  []Limit `json:"podLimits"`
	// FirstOut is what runs out first when the cluster grows evenly; among nodes when nothing is known of the cluster.
	FirstOut Shortage `json:"firstOut"`
	// Reserved are addresses that no pod gets.
	Reserved []Reservation `json:"reserved"`
	// Notes are facts about the figures: what they assume.
	Notes    []string  `json:"notes,omitempty"`
	Findings []Finding `json:"findings"`
}

// Room is how many pods some nodes have room for: each as many as it has addresses for and as its kubelet starts.
type Room struct {
	Nodes       uint64 `json:"nodes"`
	PodsPerNode uint64 `json:"podsPerNode"`
	Pods        uint64 `json:"pods"`
	// Addresses is how many pods there are addresses for, more than Pods where kubelets start fewer.
	Addresses uint64 `json:"addresses"`
}

// Range is one range of a configuration.
type Range struct {
	// Name is the key in the configuration.
	Name    string       `json:"name"`
	Prefix  netip.Prefix `json:"prefix"`
	Purpose string       `json:"purpose"`
	// OneNode is the prefix length of one node's part and Parts how many of these there are; 0 in a range that is not
	// split.
	OneNode int    `json:"oneNode,omitempty"`
	Parts   uint64 `json:"parts,omitempty"`
	// Roomiest is the widest prefix that this one could become without meeting another range of the plan, a network of the
	// hosts or the end of its private range; the prefix itself when there is none.
	Roomiest netip.Prefix `json:"roomiest"`
	use      use
	// fixed ranges cannot become wider at all.
	fixed bool
}

// use is what a range is for, as far as the lint is concerned.
type use uint8

const (
	usePods use = iota
	useLinks
	useNodes // the network that nodes have their own addresses in
	useService
	useLocal // means something else on each node
)

// String is "podSubnetCIDR 10.1.0.0/16".
func (r Range) String() string { return r.Name + " " + r.Prefix.String() }

// Limit is a resource that ends something.
type Limit struct {
	What string `json:"what"`
	Fits uint64 `json:"fits"`
	// Used is how many are expected, 0 when that is not known.
	Used uint64 `json:"used,omitempty"`
	Why  string `json:"why"`
}

// Shortage is a Limit and what it is a limit of: "nodes" or "pods on a node".
type Shortage struct {
	Of string `json:"of"`
	Limit
}

// Reservation is addresses that are kept from pods.
type Reservation struct {
	Where string `json:"where"`
	What  string `json:"what"`
	Count uint64 `json:"count"`
	// Per is "node", or "cluster".
	Per string `json:"per"`
}

// Worst is the severest of the findings, "" without any.
func (p Plan) Worst() Severity {
	if len(p.Findings) == 0 {
		return ""
	}
	return p.Findings[0].Severity
}

// Draft is a Plan in the making: a Source fills in Ranges, and says the rest by the methods.
type Draft struct {
	Plan
	// pair judges two ranges that share addresses; nil finds every one an error.
	pair func(a, b Range) Finding
	// podsKnown says that Pods is set; else it is the product.
	podsKnown bool
	// podsEach is how many pods on each node Pods counts when that is not as many as one node can have; 0 when it is.
	podsEach uint64
	// dual: the cluster has two families.
	dual bool
	// refusal is why the system itself refuses the configuration; told when no finding says so.
	refusal error
}

// Make works out the plan of a configuration for a cluster.
func Make(s Source, c Cluster) (Plan, error) {
	if s == nil {
		return Plan{}, errors.New("no configuration")
	}
	if err := c.check(); err != nil {
		return Plan{}, err
	}
	d := &Draft{Plan: Plan{System: s.System(), Reserved: []Reservation{}, Findings: []Finding{}}}
	if err := s.Draft(d, c); err != nil {
		return Plan{}, err
	}
	d.total(c)
	d.widen(c)
	d.lint(c)
	sortFindings(d.Findings)
	return d.Plan, nil
}

// Node adds a limit of the number of nodes, Pod one of the pods on a node.
func (d *Draft) Node(what string, fits uint64, why string) {
	d.NodeLimits = append(d.NodeLimits, Limit{What: what, Fits: fits, Why: why})
}

// Pod is Node for pods.
func (d *Draft) Pod(what string, fits uint64, why string) {
	d.PodLimits = append(d.PodLimits, Limit{What: what, Fits: fits, Why: why})
}

// Reserve tells addresses that no pod gets; per is "node" or "cluster".
func (d *Draft) Reserve(where, what string, count uint64, per string) {
	if count > 0 {
		d.Reserved = append(d.Reserved, Reservation{Where: where, What: what, Count: count, Per: per})
	}
}

// Find adds a finding.
func (d *Draft) Find(name string, s Severity, where, what, do string) {
	d.Findings = append(d.Findings, Finding{Name: name, Severity: s, Where: where, What: what, Do: do})
}

// total works out what fits in all and what runs out first.
func (d *Draft) total(c Cluster) {
	least := func(list []Limit) uint64 {
		n := uint64(countMax)
		for _, l := range list {
			n = min(n, l.Fits)
		}
		return n
	}
	d.Nodes, d.PodsPerNode = least(d.NodeLimits), least(d.PodLimits)
	if !d.podsKnown {
		d.Pods = times(d.Nodes, cmp.Or(d.podsEach, d.PodsPerNode))
	}
	d.Running = d.room(d.Nodes, c)
	if c.Nodes > 0 {
		room := d.room(min(c.Nodes, d.Nodes), c)
		d.Expected = &room
	}
	if c.MaxPods > 0 {
		d.Pod(kubeletLimit, c.MaxPods, "the kubelet starts no more")
	}
	for i := range d.NodeLimits {
		d.NodeLimits[i].Used = c.Nodes
	}
	for i := range d.PodLimits {
		d.PodLimits[i].Used = c.PodsPerNode
	}
	byFits := func(a, b Limit) int { return cmp.Compare(a.Fits, b.Fits) }
	slices.SortStableFunc(d.NodeLimits, byFits)
	slices.SortStableFunc(d.PodLimits, byFits)
	nodes, pods := d.NodeLimits[0], d.PodLimits[0]
	d.FirstOut = Shortage{"nodes", nodes}
	// Cross-multiplied, because 3 of 4 and 6 of 8 are equally near.
	if pods.Used > 0 && (nodes.Used == 0 || times(pods.Used, nodes.Fits) > times(nodes.Used, pods.Fits)) {
		d.FirstOut = Shortage{"pods on a node", pods}
	}
}

// room is what so many of the nodes that fit have room for.
func (d *Draft) room(nodes uint64, c Cluster) Room {
	each := cmp.Or(d.podsEach, d.PodsPerNode)
	r := Room{Nodes: nodes, PodsPerNode: d.PodsPerNode, Addresses: min(d.Pods, times(nodes, each))}
	r.Pods = r.Addresses
	if c.MaxPods > 0 {
		r.PodsPerNode = min(r.PodsPerNode, c.MaxPods)
		r.Pods = min(r.Addresses, times(nodes, min(each, c.MaxPods)))
	}
	return r
}

// widen works out how far each range could be widened.
func (d *Draft) widen(c Cluster) {
	own, usual := c.networks()
	for i, r := range d.Ranges {
		d.Ranges[i].Roomiest = r.Prefix
		for bits := r.Prefix.Bits() - 1; bits >= 0 && !r.fixed; bits-- {
			wider := netip.PrefixFrom(r.Prefix.Addr(), bits).Masked()
			if !d.free(wider, i, slices.Concat(own, usual)) {
				break
			}
			d.Ranges[i].Roomiest = wider
		}
	}
}

// free reports whether wider, in place of the range of that index, meets nothing, and stays in the kind of addresses
// that the range is of.
func (d *Draft) free(wider netip.Prefix, index int, networks []Network) bool {
	r := d.Ranges[index].Prefix
	for i, other := range d.Ranges {
		if i != index && space.Overlap(wider, other.Prefix) {
			return false
		}
	}
	for _, n := range slices.Concat(networks, special) {
		if space.Overlap(wider, n.Prefix) {
			return false
		}
	}
	inside := wider.Addr().Is6() && wider.Bits() >= ipv6SiteBits
	for _, p := range private {
		inside = inside || space.Contains(p, wider)
	}
	return inside || r.Addr().Is4() && !privateRange(r)
}

// ipv6SiteBits is the length of the prefix that a site gets (RFC 6177); beyond it lie other people's addresses.
const ipv6SiteBits = 48

func privateRange(p netip.Prefix) bool {
	return slices.ContainsFunc(private, func(all netip.Prefix) bool { return space.Contains(all, p) })
}

// kubeletLimit is the only limit of pods on a node that is not about addresses.
const kubeletLimit = "kubelet maxPods"
