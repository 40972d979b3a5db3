package netns

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/vishvananda/netlink"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/scenarios"
)

const (
	fabricName = "fabric"
	// wireBridge joins the nodes' VPPs, managementBridge their Linux sides.
	wireBridge       = "wire"
	managementBridge = "mgmt"
	// wireMTU leaves room for whatever a scenario gives its pods, and for VXLAN around it.
	wireMTU = 9200
)

// ground is one lab's namespaces.
type ground struct {
	site   lab.Site
	fabric *space
	// ports are the wire's ports by machine name, guarded by mu: machines boot at the same time.
	mu    sync.Mutex
	ports map[string]string
}

// prefix begins the names of everything that a lab makes.
func prefix(id string) string { return "vd-" + id + "-" }

func (g *ground) name(of string) string { return prefix(g.site.ID) + of }

// newGround makes the fabric.
func newGround(site lab.Site) (*ground, error) {
	g := &ground{site: site, ports: map[string]string{}}
	name := g.name(fabricName)
	if err := create(name); err != nil {
		return nil, err
	}
	var err error
	if g.fabric, err = open(name); err != nil {
		return nil, err
	}
	for _, b := range []string{wireBridge, managementBridge} {
		attrs := netlink.NewLinkAttrs()
		attrs.Name, attrs.MTU = b, wireMTU
		snooping, age := false, uint32(30000) // a node that moves is found again within 300 s, the kernel's default
		if err := g.fabric.nl.LinkAdd(&netlink.Bridge{LinkAttrs: attrs, MulticastSnooping: &snooping, AgeingTime: &age}); err != nil {
			return nil, fmt.Errorf("create bridge %s in %s: %w", b, name, err)
		}
		if err := g.fabric.up(b); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// port is the name of a machine's port: short, as links' names are.
func port(bridge string, number uint32) string {
	return bridge[:1] + strconv.FormatUint(uint64(number), 10)
}

// FabricPort is the fabric's end of a node's wire: its namespace and link. space is the node's namespace.
func FabricPort(space, node string, number uint32) (fabric, link string) {
	return strings.TrimSuffix(space, node) + fabricName, port(wireBridge, number)
}

// plug puts the fabric's end of a link into a bridge.
func (g *ground) plug(bridge, port string) error {
	b, err := g.fabric.nl.LinkByName(bridge)
	if err != nil {
		return fmt.Errorf("find bridge %s: %w", bridge, err)
	}
	err = g.fabric.with(port, "plug", func(l netlink.Link) error { return g.fabric.nl.LinkSetMaster(l, b) })
	if err != nil {
		return err
	}
	return g.fabric.up(port)
}

// Cut implements lab.Ground by the bridge's isolated flag: two isolated ports do not reach each other, every other pair
// does. So the pairs must be all pairs of some machines.
func (g *ground) Cut(pairs [][2]string) error {
	var cut []string
	for _, p := range pairs {
		for _, m := range p {
			if !slices.Contains(cut, m) {
				cut = append(cut, m)
			}
		}
	}
	if want := len(cut) * (len(cut) - 1) / 2; want != len(distinct(pairs)) {
		return fmt.Errorf("cut %v: %w: the fabric can only cut all pairs of some nodes", pairs, scenarios.ErrUnsupported)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for machine, port := range g.ports { //vppdrill:unordered each port by itself
		err := g.fabric.with(port, "isolate", func(l netlink.Link) error {
			return g.fabric.nl.LinkSetIsolated(l, slices.Contains(cut, machine))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// connect notes the port of a machine's wire; an empty one is none.
func (g *ground) connect(machine, port string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if port == "" {
		delete(g.ports, machine)
		return
	}
	g.ports[machine] = port
}

// distinct are the pairs without order and repetition.
func distinct(pairs [][2]string) map[[2]string]bool {
	out := map[[2]string]bool{}
	for _, p := range pairs {
		if p[0] > p[1] {
			p[0], p[1] = p[1], p[0]
		}
		out[p] = true
	}
	return out
}

// Close implements lab.Ground.
func (g *ground) Close() error {
	g.fabric.close()
	return remove(g.name(fabricName))
}
