package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios"
)

// upFlags are the flags of `vppdrill lab up`.
type upFlags struct {
	nodes, pods int
	vpp         string
	dryRun      bool
	keep        bool
	wait        time.Duration
}

func upCommand(c *common) *cobra.Command {
	f := upFlags{}
	cmd := &cobra.Command{
		Use: "up [FILE]", Short: "Make a lab stand, or change one to what its file says now",
		Long: `Make a lab of FILE's topology and config stand and wait until every law of rest holds: agents idle, pods addressed. FILE is a
scenario file; its timeline is left to vppdrill run. Run again after editing FILE, only the difference is done. Without FILE,
--nodes and --pods say what to make.`,
		Example: `  vppdrill lab up --nodes 3 --pods 2
  vppdrill lab up my-lab.yaml --dry-run`,
		Args: maxArgs(1, "at most one file"),
		RunE: func(cmd *cobra.Command, args []string) error { return up(cmd, c, f, args) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.nodes, "nodes", 2, "nodes, where there is no file")
	flags.IntVar(&f.pods, "pods", 1, "pods of each node, where there is no file")
	flags.StringVar(&f.vpp, "vpp", "", "VPP's binary; looked for when absent")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what would change, and change nothing")
	flags.BoolVar(&f.keep, "keep", false, "leave a lab that does not come up as it is, to look at")
	flags.DurationVar(&f.wait, "wait", 2*time.Minute, "how long to wait until everything is at rest")
	return cmd
}

// wanted is the scenario that the lab is to be.
func (f upFlags) wanted(cmd *cobra.Command, args []string) (*scenarios.Scenario, error) {
	if len(args) == 1 {
		if cmd.Flags().Changed("nodes") || cmd.Flags().Changed("pods") {
			return nil, usagef("lab up: FILE says how many nodes and pods; --nodes and --pods are for labs without one")
		}
		s, err := scenarios.Load(args[0])
		if err != nil {
			return nil, exit{exitUsage, err}
		}
		return s, nil
	}
	text := fmt.Sprintf("# A lab without a file.\nname: lab\ntopology: {nodes: %d, podsPerNode: %d}\n", f.nodes, f.pods)
	s, err := scenarios.Parse("--nodes, --pods", []byte(text))
	if err != nil {
		return nil, exit{exitUsage, err}
	}
	return s, nil
}

func up(cmd *cobra.Command, c *common, f upFlags, args []string) error {
	s, err := f.wanted(cmd, args)
	if err != nil {
		return err
	}
	if missing := lab.Unsupported(s); len(missing) > 0 {
		return exit{exitCannotRun, fmt.Errorf("this machine cannot do %s", strings.Join(missing, ", "))}
	}
	h, exists, err := c.same(s)
	if err != nil {
		return err
	}
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	if exists {
		return change(ctx, out, c, f, h, s)
	}
	vpp, err := vppproc.Find(f.vpp)
	if err != nil {
		return err
	}
	if f.dryRun {
		return c.print(out, []string{"make a lab"}, func(w io.Writer) {
			fmt.Fprintf(w, "would make a lab of %d nodes with %d pods each, VPP %s\n", s.Topology.Nodes, s.Topology.PodsPerNode, vpp)
		})
	}
	begin := time.Now()
	if h, err = c.begin(ctx, s, vpp); err != nil {
		return err
	}
	return c.settled(ctx, out, f, h, begin)
}

// same finds the lab that a file means: the one of --lab, else one that was made of the same file.
func (c *common) same(s *scenarios.Scenario) (lab.Home, bool, error) {
	homes, err := lab.Homes(c.root)
	if err != nil {
		return lab.Home{}, false, err
	}
	for _, h := range homes {
		switch {
		case !h.Standing():
		case c.id != "" && h.ID == c.id, c.id == "" && h.File == absolute(s.File) && h.Scenario == s.Name:
			return h, true, nil
		}
	}
	return lab.Home{}, false, nil
}

// absolute is a path that means the same from any folder.
func absolute(file string) string {
	if file == "" {
		return ""
	}
	a, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	return a
}

// change makes a standing lab what the file says now.
func change(ctx context.Context, out io.Writer, c *common, f upFlags, h lab.Home, s *scenarios.Scenario) error {
	client, begin := lab.NewClient(h), time.Now()
	what := "/apply"
	if f.dryRun {
		what = "/plan"
	}
	var changes []string
	if err := client.Call(ctx, "POST", what, bytes.NewReader(s.Marshal()), &changes); err != nil {
		return exit{exitFailed, err}
	}
	if f.dryRun {
		return c.print(out, changes, func(w io.Writer) {
			if len(changes) == 0 {
				fmt.Fprintf(w, "lab %s is as it should be\n", h.ID)
			}
			for _, line := range changes {
				fmt.Fprintf(w, "would %s\n", line)
			}
		})
	}
	for _, line := range changes {
		if c.format == "text" {
			fmt.Fprintln(out, line)
		}
	}
	return c.settled(ctx, out, f, h, begin)
}

// settled waits until the lab is at rest and pings it.
func (c *common) settled(ctx context.Context, out io.Writer, f upFlags, h lab.Home, begin time.Time) error {
	client := lab.NewClient(h)
	limit, err := json.Marshal(f.wait)
	if err != nil {
		return err
	}
	if err := client.Call(ctx, "POST", "/settle", bytes.NewReader(limit), nil); lab.IsCannotRun(err) {
		return errors.Join(exit{exitCannotRun, err}, down(ctx, c, h))
	} else if err != nil {
		return c.notUp(ctx, f, h, fmt.Errorf("the lab is not at rest within %s: %w", f.wait, err))
	}
	var t lab.Traffic
	if err := client.Call(ctx, "POST", "/probe", strings.NewReader("{}"), &t); err != nil {
		return c.notUp(ctx, f, h, err)
	}
	if len(t.Failed) > 0 {
		return c.notUp(ctx, f, h, fmt.Errorf("%d of %d pings are not answered: %s", len(t.Failed), t.Pairs, t.Failed[0]))
	}
	took := time.Since(begin)
	var s lab.Status
	if err := client.Call(ctx, "GET", "/status", nil, &s); err != nil {
		return err
	}
	return c.print(out, s, func(w io.Writer) {
		fmt.Fprintf(w, "lab %s is up: %d nodes, %d of %d pings answered, half of them within %s; %s\n", h.ID, len(s.Nodes), t.Pings, t.Pairs,
			t.Median.Round(10*time.Microsecond), took.Round(10*time.Millisecond))
		fmt.Fprintf(w, "look around:  vppdrill lab status --lab %s;  vppdrill lab exec --lab %s node-1 -- vppctl show interface\n", h.ID, h.ID)
	})
}

// notUp says how to enter a lab that failed, or takes it down.
func (c *common) notUp(ctx context.Context, f upFlags, h lab.Home, why error) error {
	var dir string
	if err := lab.NewClient(h).Call(ctx, "POST", "/evidence", nil, &dir); err == nil {
		why = fmt.Errorf("%w (evidence in %s)", why, dir)
	}
	if f.keep {
		return exit{exitFailed, fmt.Errorf("%w; it stays up: vppdrill lab exec --lab %s node-1 -- bash enters it, vppdrill lab down %s ends it", why, h.ID, h.ID)}
	}
	return exit{exitFailed, errors.Join(why, down(ctx, c, h))}
}

// begin starts the process that owns the lab and waits until it takes orders.
func (c *common) begin(ctx context.Context, s *scenarios.Scenario, vpp string) (lab.Home, error) {
	if err := os.MkdirAll(c.root, 0o755); err != nil {
		return lab.Home{}, err
	}
	file, err := os.CreateTemp(c.root, ".up-*.yaml")
	if err != nil {
		return lab.Home{}, err
	}
	defer func() { _ = os.Remove(file.Name()) }() // the owner has read it
	if _, err := file.Write(s.Marshal()); err != nil {
		return lab.Home{}, errors.Join(err, file.Close())
	}
	if err := file.Close(); err != nil {
		return lab.Home{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return lab.Home{}, err
	}
	owner := exec.CommandContext(context.WithoutCancel(ctx), self, "lab", "--labs", c.root, "--lab", c.id, serveWord, file.Name(), absolute(s.File), vpp)
	owner.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	told, err := owner.StdoutPipe()
	if err != nil {
		return lab.Home{}, err
	}
	if err := owner.Start(); err != nil {
		return lab.Home{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = owner.Process.Signal(syscall.SIGTERM) }) // an interrupt takes the lab with it
	defer stop()
	line, err := io.ReadAll(io.LimitReader(told, 64<<10)) // until the owner lets go of it
	if err != nil {
		return lab.Home{}, err
	}
	id, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "ready ")
	if !ok {
		_ = owner.Wait() // it has ended, or ends
		why := strings.TrimSpace(string(line))
		if text, found := strings.CutPrefix(why, "cannot "); found {
			return lab.Home{}, exit{exitCannotRun, errors.New(text)}
		}
		if why == "" {
			why = "the lab's owner ended without a word"
		}
		return lab.Home{}, exit{exitFailed, errors.New(why)}
	}
	return lab.Find(c.root, id)
}

// serveWord is the command of the process that owns a lab.
const serveWord = "serve"

// serveCommand is not for people: up starts it. What it prints first says whether the lab stands.
func serveCommand(c *common) *cobra.Command {
	return &cobra.Command{
		Use: serveWord + " FILE ORIGIN VPP", Hidden: true, Short: "Own a standing lab", Args: cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			tell := func(line string) {
				fmt.Fprintln(cmd.OutOrStdout(), line)
				_ = os.Stdout.Close() // whoever waits goes on
			}
			if err := serve(cmd.Context(), c, args, tell); err != nil {
				line := err.Error()
				if lab.IsCannotRun(err) {
					line = "cannot " + line
				}
				tell(line)
				return coded(err)
			}
			return nil
		},
	}
}

func serve(ctx context.Context, c *common, args []string, tell func(string)) error {
	s, err := scenarios.Load(args[0])
	if err != nil {
		return err
	}
	s.File = args[1]
	self, err := AgentCommand()
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	w, err := lab.New(ctx, s, lab.Options{Backend: c.backend, Agent: self, Root: c.root, ID: c.id, VPP: args[2], Log: log})
	if err != nil {
		return err
	}
	err = w.Serve(ctx, func() { tell("ready " + w.Home().ID) })
	return errors.Join(err, w.Close())
}

// waitGone waits until a lab's owner has taken it down.
func waitGone(ctx context.Context, h lab.Home) {
	for h.Alive() && ctx.Err() == nil {
		if _, err := os.Stat(h.Dir()); os.IsNotExist(err) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
