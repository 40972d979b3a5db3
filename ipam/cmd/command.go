package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// Exit codes of these commands, those of the whole program.
const (
	exitFindings = 1
	exitUsage    = 2
)

// exit is an error that knows its exit code. One with an empty text has been told already.
type exit struct {
	code int
	text string
}

func (e exit) Error() string { return e.text }

// ExitCode is how the program learns it.
func (e exit) ExitCode() int { return e.code }

func usagef(format string, args ...any) error { return exit{exitUsage, fmt.Sprintf(format, args...)} }

// badInput is an error of a file as bad usage.
func badInput(err error) error {
	if err == nil {
		return nil
	}
	return exit{exitUsage, err.Error()}
}

// Commands returns the ipam command.
func Commands() []*cobra.Command {
	ipam := &cobra.Command{
		Use:   "ipam",
		Short: "Plan address ranges and explain what allocators keep",
		Example: `  vppdrill ipam plan my-scenario.yaml
  vppdrill ipam explain --instance t3.small --warm-ip 2 --minimum-ip 5 --pods 0,5,9`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usagef("ipam: unknown command %q%s", args[0], hint(args[0], []string{"plan", "explain"}))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	ipam.AddCommand(planCommand(), explainCommand())
	return []*cobra.Command{ipam}
}

// hint is "; did you mean ...", or nothing when no candidate is near.
func hint(word string, candidates []string) string {
	if near := strictyaml.Nearest(word, candidates); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// formatFlag adds --format.
func formatFlag(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVar(into, "format", "text", "text or json")
}

func checkFormat(command, format string) error {
	if words := []string{"text", "json"}; !slices.Contains(words, format) {
		return usagef("%s: --format %q is none of %s%s", command, format, strings.Join(words, ", "), hint(format, words))
	}
	return nil
}

func writeJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(value)
}
