package container

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/vishvananda/netlink"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/spawn"
	"github.com/vppdrill/vppdrill/scenarios"
)

const (
	// mark begins the names of labs' namespaces. It is not lab/netns', whose census would take them for its own.
	mark = "vdc-"
	// wireBridge joins the nodes' VPPs, managementBridge their Linux sides.
	wireBridge       = "wire"
	managementBridge = "mgmt"
	// wireMTU leaves room for whatever a scenario gives its pods, and for VXLAN around it.
	wireMTU = 9200
)

// ground is one lab's fabric and engine.
type ground struct {
	site   lab.Site
	engine engine
	image  string
	init   []string
	fabric *space
	// mu guards ports: the wire's ports by machine name.
	mu    sync.Mutex
	ports map[string]string
}

func fabricName(id string) string { return mark + id + "-fabric" }

// open makes the fabric.
func (g *ground) open() error {
	name := fabricName(g.site.ID)
	if err := create(name); err != nil {
		return err
	}
	var err error
	if g.fabric, err = open(filepath.Join(folder, name)); err != nil {
		return err
	}
	aliases := map[string]string{wireBridge: g.site.Dir, managementBridge: spawn.Self().String()}
	for _, b := range []string{wireBridge, managementBridge} {
		attrs := netlink.NewLinkAttrs()
		attrs.Name, attrs.MTU = b, wireMTU
		snooping := false
		if err := g.fabric.nl.LinkAdd(&netlink.Bridge{LinkAttrs: attrs, MulticastSnooping: &snooping}); err != nil {
			return fmt.Errorf("create bridge %s in %s: %w", b, name, err)
		}
		err := g.fabric.with(b, "name", func(l netlink.Link) error { return g.fabric.nl.LinkSetAlias(l, aliases[b]) })
		if err != nil {
			return err
		}
		if err := g.fabric.up(b); err != nil {
			return err
		}
	}
	return nil
}

// fabric is what a namespace tells of its lab. It has no labels: the wire's alias is the lab's folder, that of the other
// bridge its owner. Linux takes 255 bytes of each.
type fabric struct{ id, dir, owner string }

// fabrics lists those of all labs on this machine; of one that is only just being made, nothing but the ID is known.
func fabrics() ([]fabric, error) {
	names, err := named(mark)
	if err != nil {
		return nil, err
	}
	var out []fabric
	for _, name := range names {
		id, ok := strings.CutSuffix(strings.TrimPrefix(name, mark), "-fabric")
		if !ok {
			continue
		}
		f := fabric{id: id}
		if s, err := open(filepath.Join(folder, name)); err == nil {
			for bridge, to := range map[string]*string{wireBridge: &f.dir, managementBridge: &f.owner} { //vppdrill:unordered each by itself
				if l, err := s.nl.LinkByName(bridge); err == nil {
					*to = l.Attrs().Alias
				}
			}
			s.close()
		}
		out = append(out, f)
	}
	return out, nil
}

// port is the name of a machine's port: short, as links' names are.
func port(bridge string, number uint32) string {
	return bridge[:1] + strconv.FormatUint(uint64(number), 10)
}

// plug puts the fabric's end of a link into a bridge.
func (g *ground) plug(bridge, port string) error {
	b, err := g.fabric.nl.LinkByName(bridge)
	if err != nil {
		return fmt.Errorf("find bridge %s: %w", bridge, err)
	}
	if err := g.fabric.with(port, "plug", func(l netlink.Link) error { return g.fabric.nl.LinkSetMaster(l, b) }); err != nil {
		return err
	}
	return g.fabric.up(port)
}

// Cut implements lab.Ground by the bridge's isolated flag: two isolated ports do not reach each other, every other pair
// does. So the pairs must be all pairs of some machines.
func (g *ground) Cut(pairs [][2]string) error {
	var cut []string
	distinct := map[[2]string]bool{}
	for _, p := range pairs {
		distinct[[2]string{min(p[0], p[1]), max(p[0], p[1])}] = true
		for _, m := range p {
			if !slices.Contains(cut, m) {
				cut = append(cut, m)
			}
		}
	}
	if len(cut)*(len(cut)-1)/2 != len(distinct) {
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

// Close implements lab.Ground.
func (g *ground) Close() error {
	if g.fabric != nil {
		g.fabric.close()
		g.fabric = nil
	}
	return errors.Join(g.engine.Close(), remove(fabricName(g.site.ID)))
}

// Join implements lab.Ground.
func (g *ground) Join(spec lab.MachineSpec) (lab.Machine, error) {
	m := &machine{g: g, spec: spec}
	return m, m.prepare(context.Background())
}
