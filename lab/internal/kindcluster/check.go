package kindcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/image"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Check says in one line what this machine lacks, or has that must not be touched; it changes nothing. Without an
// Options.VPPImage that is to be made first.
func Check(ctx context.Context, o Options) error {
	e, err := connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }() // it has answered
	if o.nodeImage() != "" {
		node, err := e.image(ctx, o.nodeImage())
		switch {
		case lab.IsCannotRun(err):
			return lab.Cannot("there is no node image %s; docker pull %s, or name another by --node-image", o.nodeImage(), o.nodeImage())
		case err != nil:
			return err
		case node.architecture != runtime.GOARCH:
			return lab.Cannot("node image %s is for %s, and this machine is %s; docker pull --platform linux/%s %s, or name another by --node-image",
				o.nodeImage(), node.architecture, runtime.GOARCH, runtime.GOARCH, o.nodeImage())
		}
	}
	if err := e.stranger(ctx, o); err != nil || o.VPPImage == "" {
		return err
	}
	vpp, err := e.image(ctx, o.VPPImage)
	switch {
	case lab.IsCannotRun(err):
		return lab.Cannot("world kind needs the image %s; `vppdrill lab image --from-host` makes one of this machine's VPP and this program", o.VPPImage)
	case err != nil:
		return err
	case vpp.architecture != runtime.GOARCH:
		return lab.Cannot("image %s is for %s, and this machine is %s; `vppdrill lab image --from-host` makes one", o.VPPImage, vpp.architecture, runtime.GOARCH)
	case o.Program == "" || vpp.program == "":
		return nil
	}
	own, err := image.Digest(o.Program)
	if err == nil && own != vpp.program {
		return lab.Cannot("image %s holds another build of vppdrill than this one; `vppdrill lab image --from-host` makes it anew", o.VPPImage)
	}
	return err
}

// stranger says of a cluster or network of this name, or of its cluster of another folder, that somebody else has made
// it.
func (e engine) stranger(ctx context.Context, o Options) error {
	made, err := e.made(ctx)
	if err != nil {
		return err
	}
	if from, ours := made[o.ID]; ours {
		if !sameFolder(from.dir, o.Dir) {
			return lab.Cannot("there is a cluster %s of the labs in %s; `vppdrill lab down --labs %s %s` ends it, or take another name by --lab", Name(o.ID), from.dir, from.dir, o.ID)
		}
		if from.family != o.Families.String() {
			return lab.Cannot("cluster %s stands with IP family %s, and a cluster's is never changed; `vppdrill lab down %s` ends it, or take another name by --lab", Name(o.ID), from.family, o.ID)
		}
		return nil
	}
	there, err := e.containers(ctx, Name(o.ID))
	if err != nil {
		return err
	}
	if len(there) > 0 {
		return lab.Cannot("there is a kind cluster %s that lab up has not made; `kind delete cluster --name %s` ends it, or take another name by --lab", Name(o.ID), Name(o.ID))
	}
	_, err = e.NetworkInspect(ctx, networkName(o.ID), client.NetworkInspectOptions{})
	switch {
	case err == nil:
		return lab.Cannot("there is a network %s that lab up has not made; `docker network rm %s` removes it, or take another name by --lab", networkName(o.ID), networkName(o.ID))
	case !errdefs.IsNotFound(err):
		return fmt.Errorf("look for network %s: %w", networkName(o.ID), err)
	}
	return nil
}

// sameFolder reports whether two paths mean one folder.
func sameFolder(a, b string) bool {
	one, err := os.Stat(a)
	other, missing := os.Stat(b)
	if err == nil && missing == nil {
		return os.SameFile(one, other)
	}
	a, err = filepath.Abs(a)
	b, missing = filepath.Abs(b)
	return err == nil && missing == nil && a == b
}

// List are the IDs of the clusters of a folder of labs, in order. Strays are those of this machine whose making was
// killed, of whatever folder: they have a network and no kubeconfig, and their maker is gone.
func List(ctx context.Context, dir string) (ids, strays []string, err error) {
	e, err := connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = e.Close() }() // reading only
	made, err := e.made(ctx)
	for id, from := range made { // sorted below
		who, bad := spawn.ParseID(from.owner)
		_, gone := os.Stat(Kubeconfig(from.dir, id))
		if from.run { // its owner takes it down, unless it was to be kept
			_, gone = os.Stat(keptFile(from.dir, id))
		}
		switch alive := bad == nil && who.Alive(); {
		case !alive && errors.Is(gone, os.ErrNotExist):
			strays = append(strays, id)
		case sameFolder(from.dir, dir):
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.Sort(strays)
	return ids, strays, err
}

// ErrStands is around every error about a cluster that stood before Up, which nobody must take down because of it.
var ErrStands = errors.New("the cluster stands as it was")

// halfMade is an error of Up that leaves something.
type halfMade struct{ error }

func (h halfMade) Unwrap() error { return h.error }

// HalfMade reports whether behind an error of Up something of the cluster is there that Up has made.
func HalfMade(err error) bool { return errors.As(err, new(halfMade)) }

// explain says of an error of Up what it leaves, and whether it comes of an API server that does not answer any more.
func (m *maker) explain(ctx context.Context, err error) error {
	silent := false
	if m.control != nil && ctx.Err() == nil && !lab.IsCannotRun(err) {
		_, no := m.kubectl(ctx, "get", "--raw=/livez")
		silent = no != nil && ctx.Err() == nil
	}
	switch {
	case m.stood && silent:
		return fmt.Errorf("%w: %w", ErrStands, lab.Cannot("its API server does not answer; docker restart %s: %s", m.control, err))
	case m.stood:
		return fmt.Errorf("%w: %w", ErrStands, err)
	case silent:
		err = lab.Cannot("the API server of cluster %s does not answer any more; docker logs %s says more where --keep leaves it: %s", Name(m.ID), m.control, err)
	}
	if m.began {
		return halfMade{err}
	}
	return err
}
