//go:build !linux

package cmd

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Worlds are those of real machines, all of which need Linux and say so.
func Worlds() (list []World) {
	for _, name := range [...]string{"netns", "container", "kind"} {
		list = append(list, World{Name: name,
			Run: func(context.Context, *scenarios.Scenario, RunOptions) (result.Result, error) {
				return result.Result{}, cli.NeedsLinux(name + " labs")
			},
			Check: func(context.Context) error { return cli.NeedsLinux(name + " labs") }})
	}
	return list
}

// LoadCNI refuses: plugins wire pods on Linux alone.
func LoadCNI(string, string) (CNI, error) { return CNI{}, cli.NeedsLinux("CNI plugins") }

// InsideVM is false: virtual machines of labs run Linux.
func InsideVM() bool { return false }

// AgainInVM refuses: it needs a Linux to take its files from.
func AgainInVM(context.Context, []string, io.Writer, io.Writer) error {
	return cli.NeedsLinux("virtual machines of labs")
}

// examineVM finds nothing: virtual machines of labs need Linux.
func examineVM() []Finding { return nil }

// Commands are lab, with the commands about VPPs that need no lab, and doctor.
func Commands(b Build, beside ...*cobra.Command) []*cobra.Command {
	root := &cobra.Command{
		Use:     "lab",
		Short:   "VPPs on this machine: a modelled one on a socket, parity with recorded real ones",
		Long:    `model serves a modelled VPP on a socket; parity compares the model with recorded VPPs. Labs of real VPPs need Linux.`,
		Example: "  vppdrill lab model --socket /tmp/vpp-api.sock",
		Args:    cli.NoCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(beside...)
	for _, name := range [...]string{"up", "down", "status", "exec", "capture", "graph", "probe", "do", "evidence", "image", "vpp", "vm"} {
		root.AddCommand(cli.LinuxCommand(name, "a lab of real VPPs"))
	}
	return []*cobra.Command{root, doctorCommand(b)}
}

// examineMachine looks for what the simulator's users and the project's tests can need here.
func examineMachine(context.Context) []Finding {
	return []Finding{
		program("Chromium", "tests of the HTML report", "install Chrome or Chromium", "chromium", "google-chrome", "chrome"),
		program("golangci-lint", "make check: the lint part", "go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@latest", "golangci-lint"),
	}
}
