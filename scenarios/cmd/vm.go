package cmd

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// VM are virtual machines with a kernel that labs can use, whatever this machine has.
type VM struct {
	// Inside reports whether this program runs in one.
	Inside func() bool
	// Run runs this program's own command line again inside one, as root, and returns an error with its exit code.
	// Folders of write are written to on this machine; nothing else is.
	Run func(ctx context.Context, write []string, out, errOut io.Writer) error
}

// vmFlags choose to run in a virtual machine.
type vmFlags struct{ in bool }

func (f *vmFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.in, "in-vm", false, "with --world netns: run in a virtual machine, which has taps, netem and VLANs, and needs no root here")
}

// check refuses words that mean nothing together.
func (f *vmFlags) check(run runFlags) error {
	switch {
	case !f.in:
	case run.world != "netns":
		return cli.Usagef("run: --in-vm goes with --world netns: the machine has no containers and no clusters")
	case run.watch || run.list || run.check:
		return cli.Usagef("run: --in-vm runs scenarios, and excludes --watch, --list and --check")
	}
	return nil
}

// words are the flags as they follow --world in a command.
func (f *vmFlags) words() string {
	if f.in {
		return " --in-vm"
	}
	return ""
}

// inside: a build without virtual machines is in none.
func (v VM) inside() bool { return v.Inside != nil && v.Inside() }

// run runs the command line inside. A report's folder is made from the one above it.
func (v VM) run(cmd *cobra.Command, out string) error {
	if v.Run == nil {
		return cli.CannotRun(errors.New("--in-vm cannot run here: this build does not have it"))
	}
	var write []string
	if out != "" {
		dir, err := filepath.Abs(out)
		if err != nil {
			return cli.BadInput(err)
		}
		parent := filepath.Dir(dir)
		if filepath.Dir(parent) == parent {
			return cli.Usagef("run: --out %s: with --in-vm the folder lies in one that may be shared, and the root is not shared", out)
		}
		if err := os.MkdirAll(parent, 0o755); err != nil {
			return cli.BadInput(err)
		}
		write = append(write, parent)
	}
	return v.Run(cmd.Context(), write, cmd.OutOrStdout(), cmd.ErrOrStderr())
}
