package cmd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/sim/parity"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// hunt loads lone real VPPs until one does not stand it.
func hunt(cmd *cobra.Command, f parityFlags) error {
	names := parity.LoadNames()
	for _, l := range f.loads {
		if !slices.Contains(names, l) {
			if near := strictyaml.Nearest(l, names); near != "" {
				return cli.Usagef("lab parity: there is no load %q, did you mean %s?", l, near)
			}
			return cli.Usagef("lab parity: there is no load %q; there are %s", l, strings.Join(names, ", "))
		}
	}
	path, _, closeRoom, err := realVPPs(f)
	if err != nil {
		return err
	}
	closeRoom()
	out := cmd.OutOrStdout()
	tell := func(t parity.Trial) {
		fmt.Fprintf(out, "%-10s %6d %9s %9s %9s %10d %10d  %s\n", t.Load, t.Count, t.Added.Round(time.Millisecond), t.Slowest.Round(100*time.Microsecond),
			perObject(t.Held.Heap, t.Count), t.Left.Heap, t.Left.Descriptors, strings.TrimSpace(t.Verdict+" "+t.Why))
	}
	if f.format == cli.JSON {
		tell = nil
	} else {
		fmt.Fprintf(out, "%-10s %6s %9s %9s %9s %10s %10s\n", "load", "count", "added in", "slowest", "each", "heap left", "files left")
	}
	trials, err := parity.Hunt{Path: path, Most: f.most, Only: f.loads, Tell: tell}.Run(cmd.Context())
	if f.format == cli.JSON {
		if err := json.NewEncoder(out).Encode(trials); err != nil {
			return err
		}
	}
	switch {
	case err != nil && cmd.Context().Err() != nil:
		return err
	case err != nil:
		return cli.CannotRun(fmt.Errorf("lab parity: %s: %w", path, err))
	}
	if i := slices.IndexFunc(trials, func(t parity.Trial) bool { return t.Verdict != parity.Fine }); i >= 0 {
		t := trials[i]
		return cli.Broken(fmt.Errorf("lab parity: %s of %d: %s: %s", t.Load, t.Count, t.Verdict, t.Why))
	}
	return nil
}

// perObject is how many bytes one of many takes, a dash where VPP reports less.
func perObject(bytes int64, count int) string {
	if each := bytes / int64(count); each > 0 {
		return fmt.Sprintf("%d B", each)
	}
	return "-"
}
