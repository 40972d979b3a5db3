package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/fixtures/vppapi"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/sim/parity"
)

// parityFlags are the flags of `vppdrill lab parity`.
type parityFlags struct {
	live      bool
	hunt      bool
	most      int
	loads     []string
	record    string
	vpp       string
	sequences int
	calls     int
	chain     int
	seed      uint64
	format    cli.Format
}

func parityCommand() *cobra.Command {
	var f parityFlags
	cmd := &cobra.Command{
		Use:   "parity",
		Short: "Compare the modelled VPP with recorded and real VPPs",
		Long: `Compare the modelled VPP with real ones. Plain, parity replays recorded conversations and prints a table: each message, how
often it was asked and answered equally, VPP's return codes, and the gaps with their reasons.

  --live     drives real VPPs and the model with the same random calls, compares answers, dumps and packets, and shrinks a
             difference to its shortest sequence
  --record   asks a real VPP the requests of a folder's transcripts again and writes its answers down
  --hunt     loads a standalone real VPP with ever more objects of one kind until it fails, and watches for death, silence
             and leaks

VPP is the first of --vpp, VPPDRILL_VPP, PATH, /usr/bin/vpp, /opt/*/bin/vpp. Real VPPs need root.`,
		Example: `  vppdrill lab parity
  vppdrill lab parity --live --sequences 2000 --seed 7
  vppdrill lab parity --record fixtures/vppapi/25.10
  vppdrill lab parity --hunt --load af-packets`,
		Args: cli.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case f.live && f.record != "" || f.hunt && (f.live || f.record != ""):
				return cli.Usagef("lab parity: --live, --record and --hunt exclude each other")
			case f.sequences < 1 || f.calls < 1 || f.chain < 1 || f.most < 1:
				return cli.Usagef("lab parity: --sequences, --calls, --chain and --most are above 0")
			case f.hunt:
				return hunt(cmd, f)
			case cmd.Flags().Changed("most") || cmd.Flags().Changed("load"):
				return cli.Usagef("lab parity: --most and --load are of --hunt")
			case f.live:
				return compareLive(cmd, f)
			case f.record != "":
				return record(cmd, f)
			}
			return compareRecorded(cmd, f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.live, "live", false, "compare with a real VPP")
	flags.BoolVar(&f.hunt, "hunt", false, "load a standalone VPP until it fails")
	flags.IntVar(&f.most, "most", 4096, "largest count of --hunt; expensive loads end earlier")
	flags.StringSliceVar(&f.loads, "load", nil, "loads of --hunt: "+strings.Join(parity.LoadNames(), ", ")+" (default all)")
	flags.StringVar(&f.record, "record", "", "folder of transcripts to record again")
	flags.StringVar(&f.vpp, "vpp", "", "the VPP to run")
	flags.IntVar(&f.sequences, "sequences", 100, "number of random sequences")
	flags.IntVar(&f.calls, "calls", 50, "calls in a sequence")
	flags.IntVar(&f.chain, "chain", 10, "sequences on one VPP before a new one is started")
	flags.Uint64Var(&f.seed, "seed", 1, "the first seed; every chain has its own")
	cli.AddFormatTo(flags, &f.format)
	return cmd
}

// compareRecorded prints the table of the transcripts in this build.
func compareRecorded(cmd *cobra.Command, f parityFlags) error {
	s, err := parity.Table(vppapi.Transcripts)
	if err != nil {
		return cli.Usagef("lab parity: %s", cli.FirstLine(err.Error()))
	}
	if f.format == cli.JSON {
		if err := json.NewEncoder(cmd.OutOrStdout()).Encode(s); err != nil {
			return err
		}
	} else if err := tellTable(cmd.OutOrStdout(), s); err != nil {
		return err
	}
	if len(s.Differences) > 0 {
		return cli.Broken(fmt.Errorf("lab parity: %d answers differ", len(s.Differences)))
	}
	return nil
}

func tellTable(out io.Writer, s *parity.Summary) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "message\tasked\tequal\treturn codes\tgaps")
	asked, equal, covered := 0, 0, 0
	for _, r := range s.Rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\n", r.Message, r.Asked, r.Equal, strings.Join(r.Retvals, " "), strings.Join(r.Gaps, " "))
		asked, equal = asked+r.Asked, equal+r.Equal
		if r.Asked > 0 {
			covered++
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d of %d messages in %d transcripts of VPP %s: %d of %d answers equal\n", covered, len(s.Rows), s.Transcripts,
		strings.Join(s.Releases, ", "), equal, asked)
	fmt.Fprintln(out, "\ngaps that comparing meets")
	for _, g := range s.Gaps {
		fmt.Fprintf(out, "  %s: %s\n", g.Name, g.Why)
	}
	fmt.Fprintln(out, "\nwhat the model does not do")
	for _, g := range s.ModelGaps {
		fmt.Fprintf(out, "  %s\n", g)
	}
	for _, d := range s.Differences {
		fmt.Fprintf(out, "\n%s\n", d)
	}
	return nil
}

// realVPPs finds a VPP and prepares to run it.
func realVPPs(f parityFlags) (path string, fresh func(context.Context) (parity.Subject, error), closeRoom func(), err error) {
	if path, err = parity.FindVPP(f.vpp); err != nil {
		err = fmt.Errorf("lab parity: %w", err)
		if errors.Is(err, parity.ErrNoVPP) {
			return "", nil, nil, cli.CannotRun(err)
		}
		return "", nil, nil, cli.BadInput(err)
	}
	if fresh, closeRoom, err = parity.RealVPPs(path); err != nil {
		return "", nil, nil, cli.CannotRun(fmt.Errorf("lab parity: %w", err))
	}
	return path, fresh, closeRoom, nil
}

// compareLive runs a campaign.
func compareLive(cmd *cobra.Command, f parityFlags) error {
	path, fresh, closeRoom, err := realVPPs(f)
	if err != nil {
		return err
	}
	defer closeRoom()
	p := startProgress(cmd.ErrOrStderr(), f.sequences)
	at := 0
	c := parity.Campaign{Seed: f.seed, Sequences: f.sequences, Calls: f.calls, Chain: f.chain,
		Sequence: parity.Sequence{Real: fresh, Model: func(context.Context) (parity.Subject, error) { return parity.NewModel(), nil }},
		Progress: func(done int) {
			for ; at < done; at++ {
				p.end(nil)
			}
		}}
	o, err := c.Run(cmd.Context())
	p.stop()
	if err != nil && cmd.Context().Err() == nil {
		return cli.CannotRun(fmt.Errorf("lab parity: %s: %w", path, err))
	}
	if err := tellOutcome(cmd.OutOrStdout(), f, path, o); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	if len(o.Findings) > 0 {
		return cli.Broken(fmt.Errorf("lab parity: %d kinds of differences", len(o.Findings)))
	}
	return nil
}

func tellOutcome(out io.Writer, f parityFlags, path string, o *parity.Outcome) error {
	if f.format == cli.JSON {
		var found []string
		for _, d := range o.Findings {
			found = append(found, d.String())
		}
		return json.NewEncoder(out).Encode(struct {
			VPP string `json:"vpp"`
			*parity.Outcome
			Findings []string `json:"findings"`
		}{path, o, found})
	}
	for _, d := range o.Findings {
		fmt.Fprintf(out, "%s# again: vppdrill lab parity --live --seed %d --sequences %d --calls %d --chain %d\n\n", d, d.Seed, f.chain, f.calls, f.chain)
	}
	_, err := fmt.Fprintf(out, "%d sequences, %d calls, %d packets: %d kinds of differences\n", o.Sequences, o.Calls, o.Packets, len(o.Findings))
	return err
}

// record records every transcript of a folder again. A folder is written whole or not at all.
func record(cmd *cobra.Command, f parityFlags) error {
	path, _, closeRoom, err := realVPPs(f)
	if err != nil {
		return err
	}
	closeRoom()
	all, err := parity.Read(os.DirFS(filepath.Dir(filepath.Clean(f.record))), filepath.Base(f.record))
	if err != nil {
		return cli.Usagef("lab parity: %s", cli.FirstLine(err.Error()))
	}
	if len(all) == 0 {
		return cli.Usagef("lab parity: %s has no transcripts", f.record)
	}
	written := map[string]string{}
	for _, t := range all {
		recorded, err := parity.Record(cmd.Context(), path, "vppdrill lab parity --record", t)
		if err != nil {
			return cli.CannotRun(fmt.Errorf("lab parity: %w", err))
		}
		written[filepath.Join(f.record, t.Name+".txt")] = recorded.String()
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %d requests\n", t.Name, len(recorded.Steps))
	}
	for name, text := range written { // in any order: each is a file of its own
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return cli.BadInput(err)
		}
	}
	return nil
}
