package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"

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
type Build struct{ Version string }

func doctorCommand(b Build) *cobra.Command {
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can run, and how to get the rest",
		Long: `Say which worlds can run on this machine as it is, with one command for each missing thing. Exit code 0: at least the
simulator can run, which needs nothing. doctor starts VPP for a moment to read its version and plugins, and leaves nothing behind.`,
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
	worlds := examineWorlds(ctx, machine)
	if format == cli.JSON {
		return json.NewEncoder(out).Encode(struct {
			Version string    `json:"version"`
			Worlds  []Finding `json:"worlds"`
			Machine []Finding `json:"machine"`
		}{b.Version, worlds, machine})
	}
	fmt.Fprintf(out, "vppdrill %s on %s/%s, %d processors\n\nworlds\n", b.Version, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	for _, f := range worlds {
		fmt.Fprintf(out, "  %-3s  %-16s  %s\n", yesNo(f.OK), f.What, f.Found)
		f.printFix(out)
	}
	fmt.Fprintln(out, "\nmachine")
	for _, f := range machine {
		fmt.Fprintf(out, "  %-3s  %-16s  %-44s  for %s\n", yesNo(f.OK), f.What, orWord(f.Found, "not found"), f.For)
		f.printFix(out)
	}
	return nil
}

func (f Finding) printFix(out io.Writer) {
	if !f.OK && f.Fix != "" {
		fmt.Fprintf(out, "       %-16s  fix: %s\n", "", f.Fix)
	}
}

// needed are the findings about the machine without which a world cannot run, the first to be fixed first.
var needed = map[string][]string{"netns": {"root", "VPP", "netns"}, "container": {"root", "Docker"}, "kind": {"Docker"}}

// examineWorlds asks each world whether it can run here.
func examineWorlds(ctx context.Context, machine []Finding) []Finding {
	worlds := []Finding{{What: "sim", Found: "can run here", OK: true, For: "world sim"}}
	for _, w := range Worlds() {
		f := Finding{What: w.Name, Found: "can run here", OK: true, For: "world " + w.Name}
		if err := w.Check(ctx); err != nil {
			f.missing(err)
			for _, m := range machine {
				if f.Fix == "" && !m.OK && slices.Contains(needed[w.Name], m.What) {
					f.Fix = m.Fix
				}
			}
		}
		worlds = append(worlds, f)
	}
	return append(worlds, examineVM()...)
}

// missing makes a finding of why something cannot be used: a line whose end, in backquotes, is the command that gets it.
func (f *Finding) missing(err error) {
	f.OK = false
	f.Found, f.Fix, _ = strings.Cut(cli.FirstLine(err.Error()), "; ")
	if _, command, quoted := strings.Cut(f.Fix, "`"); quoted {
		f.Fix, _, _ = strings.Cut(command, "`")
	}
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
