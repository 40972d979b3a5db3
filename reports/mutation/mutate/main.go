// Command mutate plants faults into the product and prints which of them laws catch.
//
// It decides nothing itself: faults and trials are package mutation's. It never changes a file of the tree but those in
// its scratch folder and those that --json and --survivors name. Start at run. It exits with 1 when fewer than --least
// percent of the faults that change a run are caught, or not all of the --listed ones, and with 2 when it could not
// look. An interrupt ends it with what is known so far, and --resume goes on from there. To add a kind of fault, see
// package mutation.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/vppdrill/vppdrill/reports/mutation"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main with its streams.
func run(ctx context.Context, args []string, out, notes io.Writer) int {
	c := mutation.Campaign{Root: ".", Notes: notes}
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.SetOutput(notes)
	flags.StringVar(&c.Root, "root", ".", "the tree to plant into")
	flags.StringVar(&c.Scratch, "scratch", "bin/_mutants", "folder for rewritten files and the planted program, out of the way of ./...")
	flags.IntVar(&c.Mutants, "mutants", 100, "how many faults are tried, of those that runs reach; 0: all")
	flags.Uint64Var(&c.Seed, "seed", 1, "decides which")
	flags.Func("only", "only those whose \"file:line:column kind function\" contains this; may be given several times", func(part string) error {
		c.Only = append(c.Only, part)
		return nil
	})
	flags.StringVar(&c.Listed, "listed", "", "a file that lists faults, such as reports/mutation/faults.yaml: all of them and no others, whatever --mutants says")
	flags.DurationVar(&c.Budget, "budget", time.Minute, "processor time for each")
	flags.IntVar(&c.Jobs, "jobs", 1, "how many are tried at the same time")
	again := flags.String("again", "", "a file of --json: only what was not caught then")
	resume := flags.Bool("resume", false, "go on with the campaign whose results the file of --json has, with the program that it built")
	least := flags.Float64("least", 0, "percent that must be caught of the faults that change a run")
	file := flags.String("json", "", "file for the results")
	issues := flags.String("survivors", "", "folder for a text about each fault that changed a run and that nothing told of: its first line is a title")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 || c.Budget < time.Second || c.Jobs < 1 || c.Mutants < 0 {
		fmt.Fprintln(notes, "mutate: --mutants from 0, --jobs from 1, --budget from 1s; no arguments")
		return 2
	}
	if *again != "" {
		former, err := mutation.Read(*again)
		if err != nil {
			fmt.Fprintln(notes, "mutate:", err)
			return 2
		}
		c.Again = former.Trials
	}
	if *resume {
		former, err := mutation.Read(*file)
		if err != nil {
			fmt.Fprintln(notes, "mutate:", err)
			return 2
		}
		c.Resume = former
	}
	r, err := c.Run(ctx)
	if r != nil {
		if err := r.WriteText(out); err != nil {
			fmt.Fprintln(notes, "mutate:", err)
			return 2
		}
		if err := write(*file, r); err != nil {
			fmt.Fprintln(notes, "mutate:", err)
			return 2
		}
		if err := r.WriteSurvivors(*issues); err != nil {
			fmt.Fprintln(notes, "mutate:", err)
			return 2
		}
	}
	if err != nil {
		fmt.Fprintln(notes, "mutate:", err)
		return 2
	}
	ofChanging, ofAll := r.Caught()
	if ofChanging < *least || c.Listed != "" && ofAll < 100 {
		return 1
	}
	return 0
}

// write writes the results to a file, if there is a name for one.
func write(name string, r *mutation.Report) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := r.WriteJSON(f); err != nil {
		_ = f.Close() // the first error says it
		return err
	}
	return f.Close()
}
