package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/moby/moby/client"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/fabric"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// DefaultImage is the image of nodes: what `vppdrill lab image` makes.
const DefaultImage = "vppdrill/vpp:25.10"

// Environment is the variable that names another image.
const Environment = "VPPDRILL_VPP_IMAGE"

// Backend implements lab.Backend with containers.
type Backend struct {
	// Image is what nodes are made of; empty is what VPPDRILL_VPP_IMAGE names, else DefaultImage. It must have a VPP that
	// labs can use where vppproc.Find looks, and be able to run this program, which is mounted into it.
	Image string
	// Init is the command line of nodes' first process, up to its socket; the first word is the path of a program on this
	// machine. Empty is this program with InitWords.
	Init []string
}

// InitWords are the words that make vppdrill the first process of a node.
var InitWords = []string{"lab", "node-init"}

// Name implements lab.Backend.
func (Backend) Name() string { return "container" }

// SuppliesVPP implements lab.Supplier.
func (b Backend) SuppliesVPP() string { return "image " + b.image() }

func (b Backend) image() string {
	if b.Image != "" {
		return b.Image
	}
	if set := os.Getenv(Environment); set != "" {
		return set
	}
	return DefaultImage
}

func (b Backend) init() ([]string, error) {
	if len(b.Init) > 0 {
		return b.Init, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return append([]string{self}, InitWords...), nil
}

// Check implements lab.Backend.
func (b Backend) Check(ctx context.Context) error {
	if err := fabric.Check(b.Name(), mark); err != nil {
		return err
	}
	e, err := connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }() // it has answered
	there, err := e.has(ctx, b.image())
	if err != nil {
		return err
	}
	if !there {
		return lab.Cannot("world container needs the image %s; `vppdrill lab image --from-host` makes one of the VPP of this machine", b.image())
	}
	return nil
}

// Open implements lab.Backend.
func (b Backend) Open(ctx context.Context, config lab.Config) (lab.Fabric, error) {
	e, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	init, err := b.init()
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	g := &labFabric{config: config, engine: e, image: b.image(), init: init}
	if err := g.raise(); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// Wire implements lab.Backend.
func (Backend) Wire(id string, number uint32) (netns, link string) {
	return fabric.Path(fabricName(id)), fabric.Port(fabric.Wire, number)
}

// NodePath implements lab.Backend; of a node that is off it is a path of nothing.
func (Backend) NodePath(id, node string) string {
	ctx := context.Background()
	e, err := connect(ctx)
	if err != nil {
		return netnsOf(0, "")
	}
	defer func() { _ = e.Close() }() // reading only
	c, err := e.ContainerInspect(ctx, boxName(id, node), client.ContainerInspectOptions{})
	if err != nil || c.Container.State == nil {
		return netnsOf(0, "")
	}
	return netnsOf(c.Container.State.Pid, "")
}

// Sweep implements lab.Backend: containers first, then the fabric.
func (Backend) Sweep(id, _ string) error {
	ctx := context.Background()
	e, err := connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }() // all is done
	list, err := e.ours(ctx, id)
	if err != nil {
		return err
	}
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for i, c := range list {
		wg.Go(func() { errs[i] = e.drop(ctx, c.ID) })
	}
	wg.Wait()
	return errors.Join(append(errs, fabric.Remove(fabricName(id)))...)
}

// Strays implements lab.Backend. A lab of another folder is no stray while its folder or its owner is there.
func (Backend) Strays() ([]string, error) {
	ctx := context.Background()
	e, err := connect(ctx)
	if errors.Is(err, lab.ErrCannotRun) {
		return nil, nil // Check says so better
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = e.Close() }() // all is done
	var out []string
	add := func(id, dir, owner string) {
		if o, err := spawn.ParseID(owner); err == nil && o.Alive() || slices.Contains(out, id) {
			return
		}
		if _, err := os.Stat(filepath.Join(dir, "lab.json")); dir != "" && err == nil {
			return
		}
		out = append(out, id)
	}
	list, err := e.ours(ctx, "")
	for _, c := range list {
		add(c.Labels[labelLab], c.Labels[labelDir], c.Labels[labelOwner])
	}
	fabrics, err2 := origins()
	for _, f := range fabrics {
		if f.owner != "" { // otherwise it is being made at this moment
			add(f.id, f.dir, f.owner)
		}
	}
	return out, errors.Join(err, err2)
}
