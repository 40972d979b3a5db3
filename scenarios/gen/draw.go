package gen

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Draw returns a random scenario within p, named name. Equal picks give equal scenarios.
func Draw(c scenarios.Chooser, p Profile, name string) *scenarios.Scenario {
	d := drawer{c}
	k := d.drawKnobs(p)
	s := scenarios.Default()
	s.Name, s.Labels = name, []string{drawn, p.Name}
	s.Goal = fmt.Sprintf("A random %s cluster under random churn and faults: every law holds, and it comes to rest.", p.Name)
	s.Topology.Nodes, s.Topology.PodsPerNode, s.Topology.MaxPodsPerNode = p.Nodes, k.podsPerNode, p.PodsPerNodeMax
	if k.pod == scenarios.PodVETH && p.PodsPerNodeMax > vethPodsMax {
		k.pod = scenarios.PodMACVLAN
	}
	s.Config.Wiring.Pod, s.Config.Wiring.Node, s.Config.Wiring.Host = k.pod, k.node, k.host
	s.Config.IPAM.PodSubnetCIDR, s.Config.IPAM.PodSubnetOneNodePrefixLen = scenarios.CIDR(podRanges[0]), k.prefixLen
	s.Config.IPAM.ReuseDelay, s.Config.Agent.NodeIDQuarantine = k.reuseDelay, k.quarantine
	s.Config.Runtime = d.drawRuntime()
	s.Churn, s.Faults = k.churn, k.faults
	s.Duration = p.Duration
	s.Limits.Settle = settleMost
	s.Timeline = d.timeline(p, k)
	sized := true
	if len(p.Systems) > 0 {
		sized = d.drawSystem(&s, p.Systems)
	}
	if s.Config.IPAM.NoReuseDelay() != "" {
		s.Config.IPAM.ReuseDelay = 0
	}
	d.drawLinks(&s)
	d.drawClocks(&s.Topology)
	d.drawDHCP(&s)
	d.drawServices(&s)
	d.drawGateway(&s.Config)
	if !d.drawIP6(&s) {
		d.drawDual(&s)
	}
	d.drawNews(&s.Faults)
	d.drawNewest(&s.Config.Runtime)
	d.drawMaintenance(&s)
	d.drawLists(&s.Faults)
	d.drawOtherGC(s.Timeline)
	if names := s.Config.IPAM.Row().Requests; len(names) > 0 {
		d.drawAsked(&s, names)
	}
	d.drawEpilogue(&s, p)
	d.drawNICs(&s)
	if !sized {
		d.drawTight(&s.Config.IPAM)
	}
	apart(&s)
	if err := s.Validate(); err != nil {
		panic(fmt.Sprintf("gen: drew an invalid scenario: %v\n%s", err, s.Marshal()))
	}
	return &s
}

// vethPodsMax is up to how many pods a node may have for them to get an AF_PACKET interface each. VPP hangs of 16, so that what is too
// much waits until others go; moves that name a node go beyond what its scheduler would place, and some pods would wait for ever.
const vethPodsMax = 6

// settleMost is longer than the longest quarantine, which a node that joined last may have to wait for.
const settleMost = 20 * time.Minute

// drawer turns picks into values.
type drawer struct{ c scenarios.Chooser }

// coin is true once in n.
func (d drawer) coin(label string, n int) bool { return d.c.Pick(label, n) == 0 }

// between draws evenly from a coarse grid of 16 values from low to high, so that choices stay few and readable.
func (d drawer) between(label string, low, high time.Duration) time.Duration {
	const steps = 15
	return (low + (high-low)*time.Duration(d.c.Pick(label, steps+1))/steps).Round(time.Millisecond)
}

// chance draws a probability: nought mostly, else from 0.0002 up to high, each step about twice the one before.
func (d drawer) chance(label string, high float64) float64 {
	if !d.coin(label+" on", 4) {
		return 0
	}
	p := high / float64(int(1)<<d.c.Pick(label, 6))
	return max(0.0002, float64(int(p*10000))/10000)
}

// one draws an element.
func one[T any](d drawer, label string, of ...T) T { return scenarios.One(d.c, label, of...) }

// podRanges are the pod subnets that a run moves between; each gives at least 64 node IDs at every drawn prefix length,
// so that IDs that rest do not run out.
var podRanges = [...]netip.Prefix{
	netip.MustParsePrefix("10.1.0.0/16"),
	netip.MustParsePrefix("10.1.0.0/17"),
	netip.MustParsePrefix("10.2.0.0/16"),
	netip.MustParsePrefix("10.3.64.0/18"),
	netip.MustParsePrefix("10.0.0.0/14"),
}

// hostRanges are the host link subnets that a run moves between.
var hostRanges = [...]netip.Prefix{
	netip.MustParsePrefix("172.30.0.0/16"),
	netip.MustParsePrefix("172.31.0.0/16"),
	netip.MustParsePrefix("172.28.0.0/14"),
}

// knobs are what one run is made of, drawn once at its start.
type knobs struct {
	pod         scenarios.PodWiring
	node        scenarios.NodeWiring
	host        scenarios.HostWiring
	podsPerNode int
	prefixLen   int
	reuseDelay  time.Duration
	quarantine  time.Duration
	churn       scenarios.Churn
	faults      scenarios.Faults
	// gap is the mean time between timeline items, burst how many items may come at once.
	gap   time.Duration
	burst int
	// weights are how often each move happens, by its place in moves; 0 is never in this run.
	weights []int
}

// drawKnobs draws every knob of a run in one place.
func (d drawer) drawKnobs(p Profile) knobs {
	k := knobs{
		pod:         one(d, "pod wiring", wirings.pod...),
		node:        one(d, "node wiring", scenarios.NodeVXLAN, scenarios.NodeVXLAN, scenarios.NodeL2),
		host:        one(d, "host wiring", scenarios.HostTAP, scenarios.HostVETH, scenarios.HostNone),
		podsPerNode: d.c.Pick("pods per node", min(p.PodsPerNodeMax, 6)+1),
		prefixLen:   one(d, "prefix length", 24, 26, 28),
		reuseDelay:  one(d, "reuse delay", 0, 0, 10*time.Second, time.Minute),
		quarantine:  one(d, "quarantine", 10*time.Minute, time.Minute, 10*time.Second),
		gap:         d.between("gap", p.GapMin, p.GapMax),
		burst:       1 + d.c.Pick("burst", 4),
	}
	if !d.coin("no churn", 8) {
		k.churn = scenarios.Churn{
			Every:    d.between("churn every", p.ChurnMin, p.ChurnMax),
			Count:    1 + d.c.Pick("churn count", 3),
			Lifetime: d.between("churn lifetime", p.ChurnMin, 8*p.ChurnMax),
		}
	}
	k.faults = d.drawFaults()
	k.weights = make([]int, len(moves))
	for i := range moves {
		if d.coin("move "+moves[i].name, 2) {
			k.weights[i] = moves[i].weight << d.c.Pick("weight", 3)
		}
	}
	return k
}

// drawFaults draws what can go wrong by chance. The upper bounds leave a run alive: a VPP that dies on every tenth call
// never gets wired.
func (d drawer) drawFaults() scenarios.Faults {
	f := scenarios.Default().Faults
	if d.coin("no faults", 6) {
		return f
	}
	f.DropRequest = d.chance("drop request", 0.1)
	f.DropReply = d.chance("drop reply", 0.1)
	f.Refuse = d.chance("refuse", 0.05)
	f.DelayReply = d.delay("delay reply", 0.2)
	f.CrashVPP = d.chance("crash vpp", 0.003)
	f.CrashBeforeEffect = d.chance("crash before effect", 0.004)
	f.CrashAfterEffect = d.chance("crash after effect", 0.004)
	f.CrashAfterPersist = d.chance("crash after persist", 0.05)
	f.DiskError = d.chance("disk error", 0.05)
	f.StoreUnavailable = d.chance("store unavailable", 0.2)
	f.DropStoreReply = d.chance("drop store reply", 0.2)
	f.DelayStoreReply = d.delay("delay store reply", 0.3)
	f.CompactStore = d.chance("compact store", 0.2)
	f.SlowDisk = d.delay("slow disk", 0.3)
	f.LoseWatch = d.chance("lose watch", 0.2)
	f.DuplicateWatch = d.chance("duplicate watch", 0.2)
	f.WithdrawCNI = d.chance("withdraw cni", 0.1)
	return f
}

func (d drawer) delay(label string, high float64) scenarios.Delay {
	by := scenarios.Default().Faults.DelayReply.By
	p := d.chance(label, high)
	if p > 0 {
		by = d.between(label+" by", 10*time.Millisecond, 5*time.Second)
	}
	return scenarios.Delay{P: p, By: by}
}
