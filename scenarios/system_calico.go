package scenarios

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/plan"
)

// Calico is Calico's IPAM: nodes take addresses of blocks of podSubnetOneNodePrefixLen, 26 when absent, 122 of IPv6, each with an affinity to one
// node. A pod gets one of each family of podSubnetCIDR.
const Calico System = "calico"

// CalicoIPAM is its section.
type CalicoIPAM struct {
	StrictAffinity bool `yaml:"strictAffinity" doc:"No node gets an address of another's block; otherwise nodes borrow when no block is left."`
	MaxBlocks      int  `yaml:"maxBlocksPerHost" min:"1" max:"4096" doc:"How many blocks a node claims at most; it borrows beyond."`
	// EmptyBlockGrace is kube-controllers' leakGracePeriod.
	EmptyBlockGrace time.Duration `yaml:"emptyBlockGrace" doc:"A node's block that is empty for so long is released, if the node has another one."`
	// Pools are IPPools.
	Pools []CalicoPool `yaml:"pools" doc:"Named IPPools beside the default one, which has config.ipam.ranges; create-pods asks for one by pool."`
}

// CalicoPool is an IPPool with a name, whose blocks are as long as the default one's of its family.
type CalicoPool struct {
	Name string       `yaml:"name" required:"true" pattern:"word" doc:"Its name, which pods ask for by the annotation cni.projectcalico.org/ipv4pools, or ipv6pools."`
	CIDR netip.Prefix `yaml:"cidr" required:"true" doc:"Its range, inside podSubnetCIDR and apart from all others; of the other family a pod that asks for it gets an address of the default pool."`
	// Nodes are what its nodeSelector selects.
	Nodes []string `yaml:"nodes" pattern:"word" doc:"The nodes whose pods get its addresses without asking for it, none when absent."`
}

// CalicoAnnotations are those of a pod that asks for a pool, none where it asks for no one.
func (c IPAM) CalicoAnnotations(pool string) map[string]string {
	if pool == "" {
		return nil
	}
	key := calico.PoolsAnnotation
	for _, p := range SectionOf[CalicoIPAM](c).Pools {
		if p.Name == pool && p.CIDR.Addr().Is6() {
			key = calico.PoolsAnnotation6
		}
	}
	return map[string]string{key: `["` + pool + `"]`}
}

// HostnameLabel is the label of Node objects by which pools select nodes.
const HostnameLabel = "kubernetes.io/hostname"

// Selector is the pool's nodeSelector, as Calico writes it.
func (p CalicoPool) Selector() string {
	if len(p.Nodes) == 0 {
		return "!all()"
	}
	return HostnameLabel + " in { '" + strings.Join(p.Nodes, "', '") + "' }"
}

// calicoRules are the system's. The IPPool has a blockSize of 20 to 32, or 116 to 128; below 8 addresses Contiv's own ranges, which agents check,
// make no sense.
type calicoRules struct{ bitsMin, bitsMax int }

var calicoSystem = AddressSystem{Name: Calico, Section: CalicoIPAM{MaxBlocks: calico.DefaultMaxBlocks, EmptyBlockGrace: calico.DefaultGrace},
	Rules: calicoRules{20, 29}, Planner: calicoRules{}, Draws: calicoRules{}, Attachment: struct{ Store, API int64 }{0, 6}, Daemon: "calico-node",
	Requests: []string{"block-assign", "block-release", "block-tend"}}

func (calicoRules) Traits(c IPAM) Traits {
	var pools []NamedPool
	for _, p := range SectionOf[CalicoIPAM](c).Pools {
		pools = append(pools, NamedPool{p.Name, []netip.Prefix{p.CIDR}})
	}
	return Traits{Leader: true, Daemons: true, IPv6: true, Dual: true, Ranges: RangesComeAndGo, BlockBits: calico.DefaultBlockBits, Pools: pools,
		NoReuseDelay: "is nothing that calico has: it gives the address first that has been free for the longest"}
}

func (r calicoRules) Check(s *Scenario, p contiv.Plan) *InputError {
	for _, of := range p.Families() {
		more := 0
		if of.PodSubnet.Addr().Is6() {
			more = moreBitsIPv6
		}
		if n := of.PodSubnetOneNodePrefixLen; n < r.bitsMin+more || n > r.bitsMax+more {
			return s.wrongAt(lengthField(p, of), "Calico's blocks are /%d to /%d", r.bitsMin+more, r.bitsMax+more)
		}
	}
	if err := s.checkRangesOfFamilies(p); err != nil {
		return err
	}
	pools, all := SectionOf[CalicoIPAM](s.Config.IPAM).Pools, slices.Clone(s.Config.IPAM.Ranges)
	if len(pools) > 0 && len(all) == 0 {
		return s.wrongAt("config.ipam.calico.pools", noDefaultPool)
	}
	for i, pool := range pools {
		of := p.OfFamily(pool.CIDR.Addr())
		if of == nil {
			of = &p // it is outside
		}
		if err := s.checkPoolRange("config.ipam.calico.pools["+strconv.Itoa(i)+"].cidr", pool.CIDR, of.PodSubnet, of.PodSubnetOneNodePrefixLen, all); err != nil {
			return err
		}
		all = append(all, pool.CIDR)
	}
	return nil
}

func (calicoRules) Source(c IPAM, b plan.Base) (plan.Source, error) {
	own := SectionOf[CalicoIPAM](c)
	var named []plan.CalicoPool
	for _, p := range own.Pools {
		if p.CIDR.Addr().BitLen() != b.Ranges[0].Addr().BitLen() {
			continue // of the other family's plan
		}
		named = append(named, plan.CalicoPool{Name: p.Name, Range: p.CIDR})
	}
	return plan.Calico{Named: named, Pools: calico.Pools{Ranges: b.Ranges, BlockBits: b.BlockBits, BlockBits6: b.BlockBits, MaxBlocks: own.MaxBlocks, Strict: own.StrictAffinity}, Keys: b.Keys, Fabric: b.Fabric}, nil
}

// drawnTight has a few blocks, so that nodes borrow.
var drawnTight = netip.MustParsePrefix("10.1.0.0/26")

func (calicoRules) Draw(d Chooser, c *IPAM) bool {
	c.PodSubnetOneNodePrefixLen = One(d, "prefix length", 26, 28, 29)
	if d.Pick("tight", 3) == 0 {
		c.Ranges[0] = drawnTight
	}
	own := SectionOf[CalicoIPAM](*c)
	own.StrictAffinity = d.Pick("strict affinity", 3) == 0
	own.MaxBlocks = One(d, "blocks", 20, 2)
	own.EmptyBlockGrace = One(d, "grace", time.Second, 15*time.Minute)
	SetSection(c, own)
	return true
}

// Life implements Draws: another block when pods come, which is borrowed of.
func (calicoRules) Life(c *IPAM, _ PodWiring) int {
	c.PodSubnetOneNodePrefixLen = 29
	own := SectionOf[CalicoIPAM](*c)
	own.MaxBlocks = 1
	SetSection(c, own)
	return 9
}
