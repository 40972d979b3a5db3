package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// Finding is one fact about this machine.
type Finding struct {
	// What is the thing looked for, Found what was seen of it, empty for absent.
	What  string `json:"what"`
	Found string `json:"found,omitempty"`
	OK    bool   `json:"ok"`
	// For says what needs it, Fix is the one command that gets it.
	For string `json:"for"`
	Fix string `json:"fix,omitempty"`
}

// Build is what this program has, for doctor to tell.
type Build struct {
	Version string
	// Worlds are those of this build.
	Worlds []string
}

// allWorlds are all that any build can have.
var allWorlds = []string{"sim", "netns", "container", "kind"}

func doctorCommand(b Build) *cobra.Command {
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can run, and how to get the rest",
		Long: `Say what this machine can run, with one command for each missing thing. Exit code 0: at least the simulator can run, which
needs nothing. doctor starts VPP for a moment to read its version and plugins, and leaves nothing behind.`,
		Example: "  vppdrill doctor --format json",
		Args:    cli.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return examine(cmd.Context(), cmd.OutOrStdout(), b, format)
		},
	}
	cli.AddFormat(cmd, &format)
	return cmd
}

func examine(ctx context.Context, out io.Writer, b Build, format cli.Format) error {
	machine := examineMachine(ctx)
	var worlds []Finding
	for _, name := range allWorlds {
		f := Finding{What: name, OK: slices.Contains(b.Worlds, name), For: "world " + name}
		if f.OK {
			f.Found = "in this build"
		}
		worlds = append(worlds, f)
	}
	if format == cli.JSON {
		return json.NewEncoder(out).Encode(struct {
			Version string    `json:"version"`
			Worlds  []Finding `json:"worlds"`
			Machine []Finding `json:"machine"`
		}{b.Version, worlds, machine})
	}
	fmt.Fprintf(out, "vppdrill %s on %s/%s, %d processors\n\nworlds\n", b.Version, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	for _, f := range worlds {
		fmt.Fprintf(out, "  %-3s  %-16s  %s\n", yesNo(f.OK), f.What, orWord(f.Found, "not in this build"))
	}
	fmt.Fprintln(out, "\nmachine")
	for _, f := range machine {
		fmt.Fprintf(out, "  %-3s  %-16s  %-44s  for %s\n", yesNo(f.OK), f.What, orWord(f.Found, "not found"), f.For)
		if !f.OK && f.Fix != "" {
			fmt.Fprintf(out, "       %-16s  fix: %s\n", "", f.Fix)
		}
	}
	if len(b.Worlds) == 0 {
		return cli.CannotRun(errors.New("no world of this build can run here"))
	}
	return nil
}

func program(what, purpose, fix string, names ...string) Finding {
	f := Finding{What: what, For: purpose, Fix: fix}
	for _, n := range names {
		if path, err := exec.LookPath(n); err == nil {
			f.Found, f.OK = path, true
			break
		}
	}
	return f
}

func yesNo(ok bool) string {
	if ok {
		return "yes"
	}
	return "no"
}

func orWord(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
