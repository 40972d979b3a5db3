//go:build linux

package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/lab/internal/kindcluster"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// vppCommand runs the one VPP of a node: what the DaemonSet of fixtures/kubernetes/vpp does.
func vppCommand() *cobra.Command {
	cfg := kindcluster.VPPConfig{}
	cmd := &cobra.Command{
		Use: "vpp", Short: "Run VPP for this machine's agent, with one of its links as the uplink",
		Long: `Run VPP until it is stopped, with its sockets in a folder and one of this machine's links as its uplink by AF_PACKET. VPP
takes the link's addresses. Agents see the API socket once the uplink is there.`,
		Example: "  vppdrill lab vpp --dir /run/vpp --uplink eth1",
		Args:    cli.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg.Say = func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }
			return coded(kindcluster.RunVPP(cmd.Context(), cfg))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&cfg.Binary, "vpp", "", "VPP's binary; looked for when absent")
	flags.StringVar(&cfg.Dir, "dir", "/run/vpp", "`folder` of sockets and logs")
	flags.StringVar(&cfg.Uplink, "uplink", "", "the `link` that leads to the other nodes; empty: VPP has none")
	flags.DurationVar(&cfg.Sleep, "sleep", 0, "sleep between two rounds of VPP's main loop; 0: until an interface wakes it")
	return cmd
}
