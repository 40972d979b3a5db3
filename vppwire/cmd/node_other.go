//go:build !linux

package cmd

import (
	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// nodeCommands run on a cluster's nodes, which are Linux.
func nodeCommands() []*cobra.Command {
	return []*cobra.Command{cli.LinuxCommand("agent", "the node agent"), cli.LinuxCommand("ipamd", "AWS VPC CNI's address daemon")}
}

var nodeCannotRun []error
