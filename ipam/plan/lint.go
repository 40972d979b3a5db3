package plan

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// lint judges what all systems have in common; limits are sorted.
func (d *Draft) lint(c Cluster) {
	d.pairs()
	d.hostNetworks(c)
	d.kinds()
	d.demand(c)
	d.stranded()
	if d.refusal != nil && !slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Severity == Error }) {
		d.Find(ruleRefused, Error, d.System, d.refusal.Error(), "change that")
	}
}

// overlap is what two ranges that share addresses amount to.
func overlap(a, b Range) Finding {
	name := ruleOverlap
	if a.use == useService || b.use == useService {
		name = ruleService
	}
	what := fmt.Sprintf("it shares addresses with %s", b)
	switch {
	case a.Prefix == b.Prefix:
		what = fmt.Sprintf("it is %s too", b)
	case space.Contains(a.Prefix, b.Prefix):
		what = fmt.Sprintf("it contains %s", b)
	case space.Contains(b.Prefix, a.Prefix):
		what = fmt.Sprintf("it lies in %s", b)
	}
	return Finding{Name: name, Severity: Error, Where: a.String(), What: what, Do: "move one of them"}
}

func (d *Draft) pairs() {
	judge := d.pair
	if judge == nil {
		judge = overlap
	}
	families := [2]bool{}
	for i, a := range d.Ranges {
		families[a.Prefix.Addr().BitLen()/128] = true
		for _, b := range d.Ranges[i+1:] {
			if space.Overlap(a.Prefix, b.Prefix) {
				d.Findings = append(d.Findings, judge(a, b))
			}
		}
	}
	if d.System == "contiv" && families[0] && families[1] && !d.dual {
		d.Find(ruleFamilies, Error, "podSubnetCIDR", "other ranges are of the other address family, and a Contiv cluster has one", "give all ranges of one family")
	}
}

// hostNetworks compares the ranges with networks that hosts are attached to. The nodes' own network may be one of them.
func (d *Draft) hostNetworks(c Cluster) {
	own, usual := c.networks()
	for _, r := range d.Ranges {
		for _, n := range own {
			switch {
			case !space.Overlap(r.Prefix, n.Prefix):
			case r.use == useNodes:
				if r.Prefix != n.Prefix {
					d.Find(ruleHost, Warning, r.String(), fmt.Sprintf("it shares addresses with the host network %s %s", n.Name, n.Prefix), "keep it apart, or make it the same network")
				}
			default:
				d.Find(ruleHost, Error, r.String(), fmt.Sprintf("it shares addresses with the host network %s %s", n.Name, n.Prefix), "move the range")
			}
		}
		for _, n := range usual {
			if space.Overlap(r.Prefix, n.Prefix) {
				d.Find(ruleHost, Warning, r.String(), fmt.Sprintf("it shares addresses with %s, %s", n.Name, n.Prefix), "move the range, or make sure that no host has that network")
			}
		}
	}
}

// kinds looks for ranges in addresses that mean something else everywhere.
func (d *Draft) kinds() {
	for _, r := range d.Ranges {
		odd := false
		for _, n := range special {
			if space.Overlap(r.Prefix, n.Prefix) {
				odd = true
				d.Find(ruleSpecial, Error, r.String(), fmt.Sprintf("it shares addresses with %s, %s", n.Prefix, n.Name), "use a private range")
			}
		}
		if !odd && r.Prefix.Addr().Is4() && r.use != useNodes && !privateRange(r.Prefix) {
			d.Find(rulePublic, Warning, r.String(), "its addresses are, at least in part, somebody's on the internet, whom this cluster cannot reach then", "use 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or 100.64.0.0/10")
		}
	}
}

// demand compares what fits with what is expected.
func (d *Draft) demand(c Cluster) {
	for _, l := range d.NodeLimits {
		fits := plural(l.Fits, "node") + fit(l.Fits)
		switch want := c.wanted(); {
		case c.Nodes > l.Fits:
			d.Find(ruleSize, Error, l.What, fmt.Sprintf("%s and %s are expected", fits, countText(c.Nodes)), d.roomier(l, c))
		case c.Nodes > 0 && want > l.Fits:
			d.Find(ruleGrowth, Warning, l.What, fmt.Sprintf("%s, and %s would be %d%% more than the expected %s", fits, countText(want), c.growth(), countText(c.Nodes)), d.roomier(l, c))
		}
	}
	if most := cmp.Or(c.MaxPods, kubeletMaxPods); c.PodsPerNode > most {
		severity, set := Error, "set maxPods"
		if c.MaxPods == 0 {
			severity, set = Warning, "set the kubelet's maxPods, which nothing here says,"
		}
		d.Find(ruleMaxPods, severity, kubeletLimit, fmt.Sprintf("the kubelet starts up to %s and %s are expected on a node", plural(most, "pod"), countText(c.PodsPerNode)),
			fmt.Sprintf("%s to %s, or expect less", set, countText(c.PodsPerNode)))
	}
	switch pods := d.podLimit(); {
	case c.PodsPerNode > pods.Fits:
		d.Find(rulePods, Error, pods.What, fmt.Sprintf("%s fit on a node and %s are expected", plural(pods.Fits, "pod"), countText(c.PodsPerNode)), "give each node more addresses, or expect less")
	case c.MaxPods > pods.Fits:
		d.Find(ruleMaxPods, Warning, pods.What, fmt.Sprintf("%s fit on a node and the kubelet starts up to %s", plural(pods.Fits, "pod"), countText(c.MaxPods)), fmt.Sprintf("give each node more addresses, or set maxPods to %s", countText(pods.Fits)))
	case c.MaxPods > 0 && d.System != "datastore" && less(pods.Fits, c.MaxPods) < (c.MaxPods+reuseSpare-1)/reuseSpare:
		d.Find(ruleReuse, Warning, pods.What, fmt.Sprintf("a full node has %s of %s to spare, so a released address is soon used again while others still know it", countText(less(pods.Fits, c.MaxPods)), countText(pods.Fits)), "give each node more addresses; twice maxPods is usual")
	}
}

// reuseSpare: a full node should have at least a fourth of its pods' number to spare. A choice of this project; hosted
// Kubernetes gives twice as many addresses as pods for the same reason.
const reuseSpare = 4

// kubeletMaxPods is the kubelet's maxPods where its configuration says nothing.
const kubeletMaxPods = 110

// podLimit is the lowest limit of pods on a node that addresses make.
func (d *Draft) podLimit() Limit {
	for _, l := range d.PodLimits {
		if l.What != kubeletLimit {
			return l
		}
	}
	panic("plan: a system without a limit of pods on a node")
}

// roomier says how the range behind a limit could get room for what is wanted.
func (d *Draft) roomier(l Limit, c Cluster) string {
	for _, r := range d.Ranges {
		if r.String() != l.What || r.Roomiest == r.Prefix {
			continue
		}
		bits, fits := r.Prefix.Bits(), l.Fits
		for ; fits < c.wanted() && bits > r.Roomiest.Bits(); bits-- {
			fits = times(fits, 2)
			if r.OneNode == 0 {
				fits = plus(fits, 2) // its own two addresses are not doubled
			}
		}
		wider := netip.PrefixFrom(r.Prefix.Addr(), bits).Masked()
		if fits < c.wanted() {
			return fmt.Sprintf("move it: even %s, as wide as it can become, ends at %s", wider, plural(fits, "node"))
		}
		if wider.Addr() != r.Prefix.Addr() {
			return fmt.Sprintf("widen it, to %s for instance, which meets nothing else; it begins elsewhere, so do that before nodes join", wider)
		}
		return fmt.Sprintf("widen it, to %s for instance, which meets nothing else", wider)
	}
	if d.System == "datastore" && strings.Contains(l.What, "subnet") {
		return "add a subnet, or let nodes keep fewer addresses ready: a subnet cannot be widened"
	}
	return "give it more room before nodes join, because ranges in use cannot be moved without touching each pod"
}

// strandedTimes: a range of this many times the nodes that fit is worth a word. A choice of this project.
const strandedTimes = 4

// stranded looks for ranges that are split for many more nodes than another one lets join. Where a node may take
// several parts nothing can be said.
func (d *Draft) stranded() {
	first := d.NodeLimits[0]
	for _, r := range d.Ranges {
		if !d.podsKnown && r.use == usePods && r.Prefix.Addr().Is4() && first.Fits > 0 && first.What != r.String() && r.Parts/strandedTimes >= first.Fits {
			d.Find(ruleStranded, Warning, r.String(), fmt.Sprintf("it has blocks for %s, and %s ends the cluster at %s", countText(r.Parts), first.What, countText(first.Fits)),
				"widen the one, or give nodes longer blocks of the other")
		}
	}
}
