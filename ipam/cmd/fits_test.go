package cmd

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/plan"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

// Goal: what a plan says is what a cluster gets: as many nodes and pods as it says find their addresses, however they
// arrive, and one pod more on a node finds none. Method: random configurations of all systems, filled in the simulator
// in three ways.

// drawn is a random configuration and what the plan says of it.
type drawn struct {
	config      scenarios.IPAM
	nodes, pods int
	// strict: a node with its planned pods has no address for one more.
	strict bool
}

// String is the configuration's section of a scenario.
func (d drawn) String() string {
	s := scenarios.Default()
	s.Name, s.Config.IPAM = "fits", d.config
	return string(s.Marshal())
}

func draw(t *rapid.T, system scenarios.System) drawn {
	d := drawn{config: scenarios.DefaultConfig().IPAM}
	d.config.System = system
	range4 := func(bits int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, 0, 0}), bits)
	}
	wanted := uint64(0)
	switch system {
	case scenarios.Datastore:
		d.config.PodSubnetCIDR = scenarios.CIDR(range4(rapid.IntRange(23, 26).Draw(t, "subnet")))
		x := &d.config.Datastore
		x.InstanceType = rapid.SampledFrom([]string{"t3.nano", "t3.small", "t3a.small"}).Draw(t, "type")
		x.Cooling = time.Second
		if x.PrefixDelegation = rapid.Bool().Draw(t, "prefixes"); x.PrefixDelegation {
			x.WarmPrefix = rapid.IntRange(0, 2).Draw(t, "warm prefix")
		} else {
			x.WarmENI = rapid.IntRange(0, 2).Draw(t, "warm ENI")
		}
		if rapid.Bool().Draw(t, "addressed") {
			x.WarmIP, x.MinimumIP = rapid.IntRange(1, 9).Draw(t, "warm IP"), rapid.IntRange(0, 20).Draw(t, "minimum IP")
		}
		if limits, _ := datastore.LimitsOf(x.InstanceType); limits.ENIs > 2 {
			x.TrunkENI = rapid.Bool().Draw(t, "trunk")
		}
		if zones := rapid.IntRange(0, 3).Draw(t, "zones"); zones > 0 {
			d.config.PodSubnetCIDR = scenarios.CIDR(range4(16))
			custom := rapid.Bool().Draw(t, "custom networking")
			for i := range zones {
				n := scenarios.VPCSubnet{CIDR: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(2 * i), 0}), rapid.IntRange(23, 26).Draw(t, "zone"))}
				if custom {
					n.Pods, n.CIDR = n.CIDR, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 200, byte(i), 0}), 27)
				}
				of := n.CIDR
				if custom {
					of = n.Pods
				}
				for range rapid.IntRange(0, 5).Draw(t, "taken") {
					a := of.Addr().As4()
					a[3] = byte(rapid.IntRange(4, 60).Draw(t, "taken address"))
					n.Taken = append(n.Taken, netip.PrefixFrom(netip.AddrFrom4(a), 32))
				}
				x.Subnets = append(x.Subnets, n)
			}
		}
		wanted = uint64(rapid.IntRange(0, 40).Draw(t, "expected"))
	case scenarios.Cilium:
		modes := []scenarios.CiliumMode{scenarios.MultiPool, scenarios.ClusterPool, scenarios.ENI, scenarios.CRD}
		d.config.Cilium.Mode = rapid.SampledFrom(modes).Draw(t, "mode")
		if d.config.Cilium.Mode != scenarios.ClusterPool {
			d.config.Cilium.PreAllocate = rapid.IntRange(0, 16).Draw(t, "pre-allocate")
		}
		wanted = uint64(rapid.IntRange(1, 40).Draw(t, "expected"))
		if d.config.SingleAddresses() {
			drawAddresses(t, &d.config)
			break
		}
		bits := rapid.IntRange(26, 28).Draw(t, "node bits")
		d.config.PodSubnetOneNodePrefixLen, d.config.PodSubnetCIDR = bits, scenarios.CIDR(range4(bits-rapid.IntRange(1, 4).Draw(t, "wider")))
		if d.config.Cilium.Mode == scenarios.MultiPool {
			drawPools(t, &d.config)
		}
	case scenarios.Calico:
		bits := rapid.IntRange(26, 29).Draw(t, "node bits")
		d.config.PodSubnetOneNodePrefixLen, d.config.PodSubnetCIDR = bits, scenarios.CIDR(range4(bits-rapid.IntRange(1, 3).Draw(t, "wider")))
		own := scenarios.SectionOf[scenarios.CalicoIPAM](d.config)
		own.StrictAffinity, own.MaxBlocks = rapid.Bool().Draw(t, "strict"), rapid.IntRange(1, 6).Draw(t, "most blocks")
		scenarios.SetSection(&d.config, own)
		wanted = uint64(rapid.IntRange(1, 40).Draw(t, "expected"))
	default:
		bits := rapid.IntRange(26, 28).Draw(t, "node bits")
		d.config.PodSubnetOneNodePrefixLen, d.config.PodSubnetCIDR = bits, scenarios.CIDR(range4(bits-rapid.IntRange(1, 3).Draw(t, "wider")))
	}
	source, err := (stage{section: asSection(d.config), wired: true}).source()
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Make(source, plan.Cluster{PodsPerNode: wanted})
	if err != nil {
		t.Fatal(err)
	}
	if p.Nodes == 0 || p.PodsPerNode == 0 {
		t.Skip("nothing fits")
	}
	// A subnet's limit is told to be of a node that has it alone, with all ENIs that it may have.
	whole := p.PodLimits[0].What == "instance's ENIs" || system != scenarios.Datastore
	d.nodes, d.pods, d.strict = int(min(p.Nodes, 4)), int(p.PodsPerNode), system != scenarios.Calico && whole
	if system == scenarios.Cilium { // more is there for a node that comes first, unless it is the node that has a limit
		d.strict = d.config.Cilium.Mode == scenarios.ENI || d.config.Cilium.Mode == scenarios.ClusterPool || d.config.Cilium.Mode == scenarios.CRD && d.config.Cilium.MaxAllocate > 0 && p.PodsPerNode == uint64(d.config.Cilium.MaxAllocate)
	}
	if d.config.Cilium.PrefixDelegation { // single addresses come where the subnet has no prefix left
		d.strict = d.strict && p.PodLimits[0].What == "instance's ENIs"
	}
	if wanted > 0 {
		d.strict = d.strict && wanted >= p.PodsPerNode
		d.pods = int(min(wanted, p.PodsPerNode))
	}
	return d
}

// drawAddresses draws what Cilium's modes with single addresses have.
func drawAddresses(t *rapid.T, c *scenarios.IPAM) {
	x := &c.Cilium
	x.MinAllocate, x.MaxAboveWatermark = rapid.IntRange(0, 12).Draw(t, "min-allocate"), rapid.IntRange(0, 6).Draw(t, "max-above-watermark")
	if rapid.Bool().Draw(t, "max-allocate") {
		x.MaxAllocate = rapid.IntRange(max(x.MinAllocate, 1), 30).Draw(t, "most")
	}
	if x.KeepExcess = rapid.Bool().Draw(t, "keep excess"); !x.KeepExcess {
		x.ReleaseDelay = rapid.SampledFrom([]time.Duration{time.Second, time.Minute}).Draw(t, "release delay")
	}
	c.PodSubnetCIDR = scenarios.CIDR(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, 0, 0}), rapid.IntRange(22, 26).Draw(t, "subnet")))
	if x.Mode == scenarios.ENI {
		c.Datastore.InstanceType = rapid.SampledFrom([]string{"t3.nano", "t3.small", "t3a.small"}).Draw(t, "type")
		x.PrefixDelegation = rapid.Bool().Draw(t, "prefixes")
		return
	}
	c.PodSubnetCIDR = scenarios.CIDR(netip.MustParsePrefix("10.1.0.0/16"))
	for i := range rapid.IntRange(1, 3).Draw(t, "ranges") {
		c.Ranges = append(c.Ranges, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(i), 0}), rapid.IntRange(24, 30).Draw(t, "range")))
	}
}

// drawPools draws pools beside the default one, of which one may be that of the pods' namespace.
func drawPools(t *rapid.T, c *scenarios.IPAM) {
	for i, name := range []string{"green", "blue"}[:rapid.IntRange(0, 2).Draw(t, "pools")] {
		if len(c.Ranges) == 0 { // pools are inside podSubnetCIDR, apart from each other
			c.Ranges, c.PodSubnetCIDR = []netip.Prefix{c.PodSubnetCIDR.Prefix}, scenarios.CIDR(netip.MustParsePrefix("10.1.0.0/16"))
		}
		bits := rapid.IntRange(26, 28).Draw(t, "pool's node bits")
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(64 + i), 0}), bits-rapid.IntRange(1, 2).Draw(t, "pool wider"))
		c.Cilium.Pools = append(c.Cilium.Pools, scenarios.CiliumPool{Name: name, IPv4: []netip.Prefix{p}, MaskSize: bits, PreAllocate: rapid.IntRange(0, 4).Draw(t, "pool's pre-allocate")})
		if rapid.Bool().Draw(t, "the namespace's") {
			c.Cilium.NamespacePool = name
		}
	}
}

// wait gives ipamds, which look at their pools every 5 s, and kubelets, which try again ever later, time: a cluster
// whose ipamds sleep is quiet.
const wait = "  - {after: 10m, do: poll-status, node: node-1}\n"

// arrivals are how pods come; each is a timeline by the number of pods on each node.
var arrivals = map[string]func(pods int) string{
	"burst": func(pods int) string {
		return fmt.Sprintf("  - {when: settled, do: create-pods, node: all, count: %d}\n", pods)
	},
	"trickle": func(pods int) string {
		return strings.Repeat("  - {after: 3s, do: create-pods, node: all, count: 1}\n", pods)
	},
	"rolling": func(pods int) string {
		text := fmt.Sprintf("  - {when: settled, do: create-pods, node: all, count: %d}\n", pods)
		if some := pods / 3; some > 0 {
			for range 3 {
				text += fmt.Sprintf("  - {after: 20s, do: delete-pods, node: all, count: %d}\n  - {after: 5s, do: create-pods, node: all, count: %d}\n", some, some)
			}
		}
		return text
	},
}

func (d drawn) run(t *rapid.T, steps string) result.Result {
	s, err := scenarios.Parse("fits.yaml", []byte(fmt.Sprintf("name: fits\ntopology: {nodes: %d, maxPodsPerNode: 1000}\ntimeline:\n%s%s", d.nodes, steps, wait)))
	if err != nil {
		t.Fatal(err)
	}
	s.Config.IPAM, s.Laws = d.config, scenarios.LawNames{result.LawSettles}
	if err := s.Validate(); err != nil {
		t.Fatalf("%v:\n%s", err, d)
	}
	r, err := sim.Run(context.Background(), s, sim.Options{Seed: 1})
	if err != nil || r.Verdict != result.Pass {
		t.Fatalf("%v: %+v", err, r.Error)
	}
	return r
}

func TestPlanIsWhatAClusterGets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		system := rapid.SampledFrom([]scenarios.System{scenarios.Contiv, scenarios.NodeIPAM, scenarios.Cilium, scenarios.Datastore, scenarios.Calico}).Draw(t, "system")
		way := arrivals[rapid.SampledFrom([]string{"burst", "trickle", "rolling"}).Draw(t, "arrivals")]
		d := draw(t, system)
		if r := d.run(t, way(d.pods)); r.Summary.PodsWaiting > 0 || r.Pods != d.nodes*d.pods {
			t.Fatalf("the plan has %d pods on each of %d nodes; %d are attached and %d wait:\n%s", d.pods, d.nodes, r.Pods, r.Summary.PodsWaiting, d)
		}
		if !d.strict {
			return
		}
		more := wait + "  - {when: settled, do: create-pods, node: node-1, count: 1}\n"
		if r := d.run(t, way(d.pods)+more); r.Summary.PodsWaiting != 1 {
			t.Fatalf("the plan has %d pods on each of %d nodes; of one more %d wait:\n%s", d.pods, d.nodes, r.Summary.PodsWaiting, d)
		}
	})
}
