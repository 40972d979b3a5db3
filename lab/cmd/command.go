//go:build linux

package cmd

import (
	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/nodeagent"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// coded gives an error its code: what the machine cannot do differs from bad usage.
func coded(err error) error {
	switch {
	case err == nil:
		return nil
	case cli.Coded(err):
		return err
	case lab.IsCannotRun(err):
		return cli.CannotRun(err)
	}
	return cli.BadInput(err)
}

// AgentCommand is the command line by which labs start their agents: this program again.
func AgentCommand() ([]string, error) {
	self, err := ownProgram()
	if err != nil {
		return nil, err
	}
	return []string{self, "lab", agentWord}, nil
}

const agentWord = "node-agent"

// agentCommand is not for people: labs start it.
func agentCommand() *cobra.Command {
	return &cobra.Command{
		Use: agentWord + " FILE", Hidden: true, Short: "Run one lab node's agent", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return coded(nodeagent.Main(cmd.Context(), args[0]))
		},
	}
}

// Commands are lab, with further commands about VPPs, and doctor.
func Commands(b Build, beside ...*cobra.Command) []*cobra.Command {
	return []*cobra.Command{labCommand(beside), doctorCommand(b)}
}
