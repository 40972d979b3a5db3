//go:build linux

package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/container"
	"github.com/vppdrill/vppdrill/lab/internal/image"
	"github.com/vppdrill/vppdrill/lab/internal/nodeinit"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// imageFlags are the flags of `vppdrill lab image`.
type imageFlags struct {
	fromHost        bool
	vpp, from, name string
}

func imageCommand(c *common) *cobra.Command {
	f := imageFlags{}
	cmd := &cobra.Command{
		Use: "image --from-host | --vpp-image REF", Short: "Make the image of world container's nodes",
		Long: `Make the image of world container's nodes, and try its VPP. It must be 25.10 or newer, have the af_packet and vxlan plugins,
and know the messages of labs.

--from-host packs the VPP of this machine with its plugins, every shared library, and this program. It needs no registry and
no base image.

--vpp-image takes an image with VPP at /usr/bin/vpp, in PATH, or where its VPPDRILL_VPP points, and pulls it if missing.
ligato/vpp-base:25.10-release fits, and so do images with FD.io's Debian packages of 25.10 or newer. Images with older VPPs,
or patched ones with other messages, are refused by name. This program is mounted into every node: a build with
CGO_ENABLED=0 runs in any image, another one needs a C library there.`,
		Example: `  vppdrill lab image --from-host
  vppdrill lab image --vpp-image ligato/vpp-base:25.10-release
  vppdrill run FILE --world container`,
		Args: cli.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return makeImage(cmd, c, f) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.fromHost, "from-host", false, "pack the VPP of this machine")
	flags.StringVar(&f.vpp, "vpp", "", "with --from-host: VPP's binary; looked for when absent")
	flags.StringVar(&f.from, "vpp-image", "", "an image that has VPP")
	flags.StringVar(&f.name, "tag", container.DefaultImage, "name of the image; labs look for the default, and for "+container.Environment)
	return cmd
}

func makeImage(cmd *cobra.Command, c *common, f imageFlags) error {
	switch {
	case f.fromHost == (f.from != ""):
		return cli.Usagef("lab image wants either --from-host or --vpp-image REF; see vppdrill lab image --help")
	case f.vpp != "" && !f.fromHost:
		return cli.Usagef("lab image: --vpp goes with --from-host; an image's VPP is where its VPPDRILL_VPP says")
	}
	for _, name := range []string{f.name, f.from} {
		if name == "" {
			continue
		}
		if err := container.CheckName(name); err != nil {
			return cli.Usagef("lab image: %w", err)
		}
	}
	ctx, b := cmd.Context(), container.Backend{}
	if err := sweepStrays(b); err != nil {
		return err
	}
	if !f.fromHost {
		made, err := b.Adopt(ctx, f.from, f.name)
		return c.printImage(cmd, made, nil, err)
	}
	contents, vpp, err := collect(ctx, f.vpp)
	if err != nil {
		return err
	}
	made, err := b.Import(ctx, f.name, contents, vpp)
	return c.printImage(cmd, made, contents.Missing, err)
}

// collect finds what a node needs on this machine.
func collect(ctx context.Context, explicit string) (*image.Contents, string, error) {
	vpp, err := vppproc.Find(explicit)
	if err != nil {
		return nil, "", err
	}
	if vpp, err = filepath.Abs(vpp); err != nil {
		return nil, "", err
	}
	self, err := ownProgram()
	if err != nil {
		return nil, "", err
	}
	contents, err := image.Collect(ctx, image.Source{VPP: vpp, Program: self, ProgramPath: container.Program})
	if err != nil {
		return nil, "", cli.CannotRun(err)
	}
	return contents, vpp, nil
}

// ownProgram is the file of this program.
func ownProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return self, nil
}

// sweepStrays removes containers whose makers were killed.
func sweepStrays(b lab.Backend) error {
	strays, err := b.Strays()
	if err != nil {
		return err
	}
	for _, id := range strays {
		if err := b.Sweep(id, ""); err != nil {
			return cli.Broken(err)
		}
	}
	return nil
}

func (c *common) printImage(cmd *cobra.Command, made container.Image, missing []image.Missing, err error) error {
	if err != nil {
		if lab.IsCannotRun(err) {
			return err
		}
		return cli.Broken(err)
	}
	for _, m := range missing {
		fmt.Fprintln(cmd.ErrOrStderr(), "left out: "+m.String())
	}
	return c.print(cmd.OutOrStdout(), made, func(w io.Writer) {
		fmt.Fprintf(w, "%s: VPP %s at %s, %d MB\nplugins that labs load: %s\n", made.Name, made.Version, made.VPP, made.Bytes>>20, strings.Join(made.Plugins, " "))
	})
}

// nodeInitCommand is not for people: it is the first process of a node of world container.
func nodeInitCommand() *cobra.Command {
	return &cobra.Command{
		Use: container.InitWords[1] + " [SOCKET]", Hidden: true, Short: "Be the first process of a node that is a container", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return coded(nodeinit.Main(cmd.Context(), strings.Join(args, "")))
		},
	}
}
