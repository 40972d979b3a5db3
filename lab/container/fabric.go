package container

import (
	"errors"
	"os"
	"strings"

	"github.com/vishvananda/netlink"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/fabric"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// mark begins the names of labs' namespaces. It is not lab/netns', whose census would take them for its own.
const mark = "vdc-"

// labFabric is one lab's fabric and engine.
type labFabric struct {
	*fabric.Fabric
	config lab.Config
	engine engine
	image  string
	init   []string
}

func fabricName(id string) string { return mark + id + "-fabric" }

// raise makes the fabric.
func (g *labFabric) raise() (err error) {
	if g.Fabric, err = fabric.New(fabricName(g.config.ID)); err != nil {
		return err
	}
	for b, alias := range map[string]string{fabric.Wire: g.config.Dir, fabric.Management: spawn.Self().String()} { //vppdrill:unordered each by itself
		if err := g.With(b, "name", func(l netlink.Link) error { return g.LinkSetAlias(l, alias) }); err != nil {
			return err
		}
	}
	return nil
}

// origin is what a fabric tells of its lab. It has no labels: the wire's alias is the lab's folder, that of the other
// bridge its owner. Linux takes 255 bytes of each.
type origin struct{ id, dir, owner string }

// origins lists those of all labs on this machine; of one that is only just being made, nothing but the ID is known.
func origins() ([]origin, error) {
	names, err := fabric.Named(mark)
	if err != nil {
		return nil, err
	}
	var out []origin
	for _, name := range names {
		id, ok := strings.CutSuffix(strings.TrimPrefix(name, mark), "-fabric")
		if !ok {
			continue
		}
		o := origin{id: id}
		if s, err := fabric.Open(fabric.Path(name)); err == nil {
			for bridge, to := range map[string]*string{fabric.Wire: &o.dir, fabric.Management: &o.owner} { //vppdrill:unordered each by itself
				if l, err := s.LinkByName(bridge); err == nil {
					*to = l.Attrs().Alias
				}
			}
			s.Close()
		}
		out = append(out, o)
	}
	return out, nil
}

// Close implements lab.Fabric.
func (g *labFabric) Close() error {
	err := g.engine.Close()
	if g.Fabric != nil {
		err = errors.Join(err, g.Fabric.Close())
		g.Fabric = nil
	}
	return err
}

// Join implements lab.Fabric.
func (g *labFabric) Join(spec lab.MachineSpec) (lab.Machine, error) {
	m := &machine{g: g, spec: spec}
	return m, os.MkdirAll(m.VPPDir(), 0o755)
}
