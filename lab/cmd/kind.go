//go:build linux

package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/container"
	"github.com/vppdrill/vppdrill/lab/internal/kindcluster"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// kindWorld is the world of clusters; defaultKind is the lab that --lab means where it says nothing.
const (
	kindWorld   = "kind"
	defaultKind = "kind"
)

// kindUp makes a cluster stand.
func kindUp(cmd *cobra.Command, c *common, f upFlags, args []string) error {
	switch {
	case len(args) > 0:
		return cli.Usagef("lab up: world kind takes no file; --nodes says how many nodes, and pods are yours to make")
	case cmd.Flags().Changed("pods"):
		return cli.Usagef("lab up: --pods is for other worlds; in world kind pods are yours to make, with kubectl")
	case f.vpp != "" && !f.fromHost:
		return cli.Usagef("lab up: --vpp goes with --vpp-from-host in world kind; nodes run an image, see --vpp-image")
	case f.image != "" && f.fromHost:
		return cli.Usagef("lab up: either --vpp-image or --vpp-from-host")
	case f.nodes < 1 || f.nodes > nodesMost:
		return cli.Usagef("lab up: --nodes %d: a kind cluster has 1 to %d", f.nodes, nodesMost)
	case c.id != "" && !lab.ValidID(c.id):
		return cli.Usagef("lab up: --lab %q: one to eight lower case letters and digits", c.id)
	}
	family := cmp.Or(f.family, kindcluster.FamilyWords[0])
	if err := cli.OneOf("lab up: --ip-family", family, kindcluster.FamilyWords...); err != nil {
		return err
	}
	for _, image := range []string{f.image, f.nodeImage} {
		if image == "" {
			continue
		}
		if err := container.CheckName(image); err != nil {
			return cli.Usagef("lab up: %w", err)
		}
	}
	ctx := cmd.Context()
	o := kindcluster.Options{ID: kindID(c), Nodes: f.nodes, Families: kindcluster.ParseFamilies(family), NodeImage: f.nodeImage, VPPImage: f.image, Dir: c.root, Wait: f.wait,
		Say: func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }}
	if o.VPPImage == "" {
		o.VPPImage = container.DefaultImage
		var err error
		if o.Program, err = ownProgram(); err != nil {
			return err
		}
	}
	before := o
	if f.fromHost {
		before.VPPImage = "" // it is to be made, where somebody can use it
	}
	if err := kindcluster.Check(ctx, before); err != nil {
		return err
	}
	if f.dryRun {
		return c.print(cmd.OutOrStdout(), []string{"make a cluster"}, func(w io.Writer) {
			fmt.Fprintf(w, "would make cluster %s of %d nodes, VPP of image %s, or change it to that\n", kindcluster.Name(o.ID), o.Nodes, o.VPPImage)
		})
	}
	if err := c.census(ctx, cmd.ErrOrStderr()); err != nil {
		return err
	}
	if f.fromHost {
		if err := imageFromHost(ctx, f.vpp, o.VPPImage); err != nil {
			return err
		}
	}
	made, err := kindcluster.Up(ctx, o)
	if err != nil {
		return kindNotUp(cmd, f, o, err)
	}
	return c.print(cmd.OutOrStdout(), made, func(w io.Writer) {
		fmt.Fprintf(w, "cluster %s is up: %d nodes; %s\n", made.Name, len(made.Nodes), made.Took.Round(100*time.Millisecond))
		fmt.Fprintf(w, "use it:  kubectl --kubeconfig %[1]s get pods -A;  kubectl --kubeconfig %[1]s exec -n kube-system ds/vppdrill-vpp -- vppctl -s /run/vpp/cli.sock show interface\n", made.Kubeconfig)
		fmt.Fprintf(w, "end it:  vppdrill lab down %s\n", made.ID)
	})
}

// nodesMost is what one machine was seen to carry.
const nodesMost = 20

// kindDownTime is how long a cluster may take to go: an engine that has much to do takes minutes.
const kindDownTime = 5 * time.Minute

// kindNotUp removes what is there of a cluster that did not come up, unless --keep is set.
func kindNotUp(cmd *cobra.Command, f upFlags, o kindcluster.Options, why error) error {
	switch {
	case errors.Is(why, kindcluster.ErrStands), !kindcluster.HalfMade(why):
	case f.keep:
		why = fmt.Errorf("%w; it stays up: vppdrill lab down %s ends it", why, o.ID)
	default:
		ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), kindDownTime) // also after an interrupt
		defer cancel()
		why = errors.Join(why, kindcluster.Down(ctx, o.Dir, o.ID))
	}
	if lab.IsCannotRun(why) {
		return why
	}
	return cli.Broken(why)
}

// imageFromHost packs this machine's VPP and this program.
func imageFromHost(ctx context.Context, vpp, name string) error {
	contents, vpp, err := collect(ctx, vpp)
	if err != nil {
		return err
	}
	_, err = container.Backend{}.Import(ctx, name, contents, vpp)
	return err
}

func kindID(c *common) string {
	if c.id == "" {
		return defaultKind
	}
	return c.id
}

// kindDown ends the cluster that is meant, or all; false where none is meant. Without a name the only one is, where
// there is no other lab.
func kindDown(ctx context.Context, out io.Writer, c *common, all bool) (ended bool, err error) {
	ids, _, err := kindcluster.List(ctx, c.root)
	if lab.IsCannotRun(err) {
		return false, nil // no engine, no clusters
	}
	if err != nil {
		return false, cli.Broken(err)
	}
	dirs, err := lab.StateDirs(c.root)
	if err != nil {
		return false, err
	}
	if c.id == "" && !all && len(dirs) == 0 && len(ids) > 1 {
		return false, cli.Usagef("lab down: which lab? there are %s", strings.Join(ids, ", "))
	}
	for _, id := range ids {
		if !all && id != c.id && (c.id != "" || len(dirs) > 0) {
			continue
		}
		if err := kindcluster.Down(ctx, c.root, id); err != nil {
			return true, cli.Broken(err)
		}
		ended = true
		fmt.Fprintf(out, "lab %s is down\n", id)
	}
	return ended, nil
}

// kindCensus removes clusters whose making was killed.
func kindCensus(ctx context.Context, c *common, say io.Writer) error {
	_, strays, err := kindcluster.List(ctx, c.root)
	if lab.IsCannotRun(err) {
		return nil // there is no engine to have left something in
	}
	for _, id := range strays {
		err = errors.Join(err, kindcluster.Down(ctx, c.root, id))
		fmt.Fprintf(say, "removed cluster %s, whose making was killed\n", kindcluster.Name(id))
	}
	if err != nil {
		return cli.Broken(fmt.Errorf("remove what earlier labs left: %w", err))
	}
	return nil
}

// kindStatus is a line for each cluster.
func kindStatus(ctx context.Context, c *common) ([]lab.Status, error) {
	ids, _, err := kindcluster.List(ctx, c.root)
	if err != nil && !lab.IsCannotRun(err) {
		return nil, cli.Broken(err)
	}
	var list []lab.Status
	for _, id := range ids {
		if c.id == "" || c.id == id {
			list = append(list, lab.Status{ID: id, Backend: kindWorld, Scenario: "kubernetes", Dir: kindcluster.Kubeconfig(c.root, id),
				Pending: "kubectl --kubeconfig " + kindcluster.Kubeconfig(c.root, id) + " get nodes,pods -A"})
		}
	}
	return list, nil
}
