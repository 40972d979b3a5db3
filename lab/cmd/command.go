package cmd

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/nodeagent"
)

// Exit codes, as scenarios/cmd has them.
const (
	exitFailed    = 1
	exitUsage     = 2
	exitCannotRun = 3
)

// exit is an error that knows its exit code.
type exit struct {
	code int
	err  error
}

func (e exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e exit) Unwrap() error { return e.err }

// ExitCode tells scenarios/cmd's Execute.
func (e exit) ExitCode() int { return e.code }

// coded gives an error its code: what the machine cannot do is told from what was asked wrongly.
func coded(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit{}):
		return err
	case lab.IsCannotRun(err):
		return exit{exitCannotRun, err}
	}
	return exit{exitUsage, err}
}

// AgentCommand is the command line by which labs start their agents: this program again.
func AgentCommand() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
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

// Commands are lab and doctor.
func Commands(b Build) []*cobra.Command { return []*cobra.Command{labCommand(), doctorCommand(b)} }
