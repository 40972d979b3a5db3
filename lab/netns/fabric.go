package netns

import (
	"context"
	"os"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/fabric"
)

// mark begins the names of labs' namespaces.
const mark = "vd-"

// prefix begins the names of everything that a lab makes.
func prefix(id string) string { return mark + id + "-" }

func fabricName(id string) string { return prefix(id) + "fabric" }

// labFabric is one lab's fabric, on which its machines stand.
type labFabric struct {
	*fabric.Fabric
	config lab.Config
}

// Open implements lab.Backend.
func (Backend) Open(_ context.Context, config lab.Config) (lab.Fabric, error) {
	f, err := fabric.New(fabricName(config.ID))
	if err != nil {
		return nil, err
	}
	return &labFabric{f, config}, nil
}

// Join implements lab.Fabric.
func (g *labFabric) Join(spec lab.MachineSpec) (lab.Machine, error) {
	m := &machine{g: g, spec: spec, pods: map[string]bool{}}
	return m, os.MkdirAll(m.VPPDir(), 0o755)
}

// NodePath implements lab.Backend.
func (Backend) NodePath(id, node string) string { return fabric.Path(prefix(id) + node) }

// Wire implements lab.Backend.
func (Backend) Wire(id string, number uint32) (netns, link string) {
	return fabric.Path(fabricName(id)), fabric.Port(fabric.Wire, number)
}
