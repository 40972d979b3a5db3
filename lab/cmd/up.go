//go:build linux

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
	"github.com/vppdrill/vppdrill/lab/container"
	"github.com/vppdrill/vppdrill/lab/internal/kindcluster"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// upFlags are the flags of `vppdrill lab up`.
type upFlags struct {
	nodes, pods int
	// world is what nodes are made of; vpp names a binary of this machine, image an image that has one.
	world, vpp, image string
	// nodeImage, family and fromHost are for world kind.
	nodeImage, family string
	fromHost          bool
	dryRun            bool
	keep              bool
	wait              time.Duration
}

func upCommand(c *common) *cobra.Command {
	f := upFlags{}
	cmd := &cobra.Command{
		Use: "up [FILE]", Short: "Make a lab, or change one to match its file",
		Long: `Make a lab of FILE's topology and config, and wait until agents are idle and pods have addresses. FILE is a scenario; its
timeline, churn and faults are left out, and up says so, with the actions that a lab could not do. After an edit of FILE
up makes only the difference. Without FILE, --nodes and --pods describe the lab.`,
		Example: `  vppdrill lab up --nodes 3 --pods 2
  vppdrill lab up my-lab.yaml --dry-run
  vppdrill lab up --world container --vpp-image ligato/vpp-base:25.10-release`,
		Args: cli.Args(0, 1, "at most one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.world == kindWorld {
				return coded(kindUp(cmd, c, f, args))
			}
			return coded(up(cmd, c, f, args))
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.nodes, "nodes", 2, "nodes, without a file")
	flags.IntVar(&f.pods, "pods", 1, "pods of each node, without a file")
	flags.StringVar(&f.world, "world", backends()[0].Name(), "what nodes are made of: "+worlds()+", kind")
	flags.StringVar(&f.vpp, "vpp", "", "VPP's binary; looked for when absent")
	flags.StringVar(&f.image, "vpp-image", "", "for world container: the image of nodes, pulled if missing; "+
		container.Environment+", or the image of lab image, when absent")
	flags.StringVar(&f.nodeImage, "node-image", "", "for world kind: the image of nodes; "+kindcluster.NodeImageEnvironment+" or kind's own when absent")
	flags.StringVar(&f.family, "ip-family", "", "for world kind: "+strings.Join(kindcluster.FamilyWords, ", ")+" (both families); "+kindcluster.FamilyWords[0]+" when absent")
	flags.BoolVar(&f.fromHost, "vpp-from-host", false, "for world kind: make the image of this machine's VPP and this program first")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what would change, and change nothing")
	flags.BoolVar(&f.keep, "keep", false, "keep a lab that does not come up, to look at")
	flags.DurationVar(&f.wait, "wait", 2*time.Minute, "how long to wait until the lab is quiet")
	return cmd
}

// backend is how the machines of a new lab are made.
func (f upFlags) backend() (lab.Backend, error) {
	b := backendNamed(f.world)
	if b == nil {
		names := append(strings.Split(worlds(), ", "), kindWorld)
		near := ""
		if word := strictyaml.Nearest(f.world, names); word != "" {
			near = "; did you mean " + word + "?"
		}
		return nil, cli.Usagef("lab up: --world %q is none of %s%s", f.world, strings.Join(names, ", "), near)
	}
	if f.nodeImage != "" || f.fromHost || f.family != "" {
		return nil, cli.Usagef("lab up: --node-image, --ip-family and --vpp-from-host are for world kind")
	}
	_, supplied := b.(lab.Supplier)
	switch {
	case f.vpp != "" && supplied:
		return nil, cli.Usagef("lab up: --vpp is a binary of this machine; nodes of world %s have their image's, see --vpp-image", f.world)
	case f.image != "" && !supplied:
		return nil, cli.Usagef("lab up: --vpp-image is for world container; nodes of world %s run a binary of this machine, see --vpp", f.world)
	case f.image != "":
		if err := container.CheckName(f.image); err != nil {
			return nil, cli.Usagef("lab up: %w", err)
		}
	}
	if supplied {
		return container.Backend{Image: f.image}, nil
	}
	return b, nil
}

// kubeletPods is a kubelet's limit by default (Kubernetes' maxPods).
const kubeletPods = 110

// wanted is the scenario that the lab is to be.
func (f upFlags) wanted(cmd *cobra.Command, args []string) (*scenarios.Scenario, error) {
	if len(args) == 1 {
		if cmd.Flags().Changed("nodes") || cmd.Flags().Changed("pods") {
			return nil, cli.Usagef("lab up: FILE says how many nodes and pods; --nodes and --pods are for labs without one")
		}
		s, err := scenarios.Load(args[0])
		if err != nil {
			return nil, cli.BadInput(err)
		}
		return s, nil
	}
	text := fmt.Sprintf("# A lab without a file.\nname: lab\ntopology: {nodes: %d, podsPerNode: %d, maxPodsPerNode: %d}\n", f.nodes, f.pods, max(kubeletPods, f.pods))
	s, err := scenarios.Parse("--nodes, --pods", []byte(text))
	if err != nil {
		return nil, cli.BadInput(err)
	}
	return s, nil
}

func up(cmd *cobra.Command, c *common, f upFlags, args []string) error {
	s, err := f.wanted(cmd, args)
	if err != nil {
		return err
	}
	b, err := f.backend()
	if err != nil {
		return err
	}
	s, left := lab.Standing(s)
	if missing := lab.Unsupported(s); len(missing) > 0 {
		return cli.CannotRun(fmt.Errorf("this machine cannot do %s", timeline.Line(missing)))
	}
	if err := lab.Validate(s); err != nil {
		return cli.Usagef("lab up: %w", err)
	}
	for _, line := range left {
		fmt.Fprintln(cmd.ErrOrStderr(), line)
	}
	if !f.dryRun {
		if err := c.census(cmd.Context(), cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	h, exists, err := c.same(s)
	if err != nil {
		return err
	}
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	switch {
	case exists && cmd.Flags().Changed("world") && h.Backend != f.world:
		return cli.Usagef("lab up: lab %s is of world %s; vppdrill lab down %s ends it", h.ID, h.Backend, h.ID)
	case exists:
		return change(ctx, out, c, f, h, s)
	}
	from, err := f.supply(ctx, b)
	if err != nil {
		return err
	}
	if f.dryRun {
		return c.print(out, []string{"make a lab"}, func(w io.Writer) {
			fmt.Fprintf(w, "would make a lab of %d nodes with %d pods each, VPP of %s\n", s.Topology.Nodes, s.Topology.PodsPerNode, from)
		})
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%d nodes: %s; vppdrill lab down ends it all\n", s.Topology.Nodes, announced(b, from))
	begin := time.Now()
	if h, err = c.begin(ctx, s, f); err != nil {
		return err
	}
	return c.settled(ctx, out, f, h, begin)
}

// supply makes sure of what a new lab's nodes need, and says where their VPP is from.
func (f upFlags) supply(ctx context.Context, b lab.Backend) (string, error) {
	if c, ok := b.(container.Backend); ok && f.image != "" && !f.dryRun {
		if err := c.Pull(ctx); err != nil {
			return "", err
		}
	}
	if s, ok := b.(lab.Supplier); ok {
		if f.dryRun && f.image != "" {
			return s.SuppliesVPP(), nil // it may have to be pulled first
		}
		return s.SuppliesVPP(), b.Check(ctx)
	}
	vpp, err := lab.FindVPP(b, f.vpp)
	return vpp, err
}

// same finds the lab that a file means: the one of --lab, else one that was made of the same file.
func (c *common) same(s *scenarios.Scenario) (lab.StateDir, bool, error) {
	dirs, err := lab.StateDirs(c.root)
	if err != nil {
		return lab.StateDir{}, false, err
	}
	for _, h := range dirs {
		switch {
		case !h.Standing():
		case c.id != "" && h.ID == c.id, c.id == "" && h.File == absolute(s.File) && h.Scenario == s.Name:
			return h, true, nil
		}
	}
	return lab.StateDir{}, false, nil
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
func change(ctx context.Context, out io.Writer, c *common, f upFlags, h lab.StateDir, s *scenarios.Scenario) error {
	client, begin := lab.NewClient(h), time.Now()
	what := "/apply"
	if f.dryRun {
		what = "/plan"
	}
	var changes []string
	if err := client.Call(ctx, "POST", what, bytes.NewReader(s.Marshal()), &changes); err != nil {
		return cli.Broken(err)
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
		if c.format == cli.Text {
			fmt.Fprintln(out, line)
		}
	}
	return c.settled(ctx, out, f, h, begin)
}

// settled waits until the lab is at rest and pings it.
func (c *common) settled(ctx context.Context, out io.Writer, f upFlags, h lab.StateDir, begin time.Time) error {
	client := lab.NewClient(h)
	limit, err := json.Marshal(f.wait)
	if err != nil {
		return err
	}
	// The least that machines get in real time is the lab's own.
	if err := client.CallWithin(ctx, f.wait+lab.SettleLeast+30*time.Second, "POST", "/settle", bytes.NewReader(limit), nil); lab.IsCannotRun(err) {
		return errors.Join(cli.CannotRun(err), down(ctx, h))
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
		pings := fmt.Sprintf("%d of %d pings answered, half of them within %s", t.Pings, t.Pairs, t.Median.Round(10*time.Microsecond))
		if t.Nothing() != "" {
			pings = "no pings: there are no two pods"
		}
		fmt.Fprintf(w, "lab %s is up: %d nodes, %s; %s\n", h.ID, len(s.Nodes), pings, took.Round(10*time.Millisecond))
		fmt.Fprintf(w, "look around:  vppdrill lab status --lab %s;  vppdrill lab exec --lab %s node-1 -- vppctl show interface\n", h.ID, h.ID)
	})
}

// notUp says how to enter a lab that failed, or takes it down.
func (c *common) notUp(ctx context.Context, f upFlags, h lab.StateDir, why error) error {
	var dir string
	if err := lab.NewClient(h).Call(ctx, "POST", "/evidence", nil, &dir); err == nil {
		why = fmt.Errorf("%w (evidence in %s)", why, dir)
	}
	if f.keep {
		return cli.Broken(fmt.Errorf("%w; it stays up: vppdrill lab exec --lab %s node-1 -- bash enters it, vppdrill lab down %s ends it", why, h.ID, h.ID))
	}
	return cli.Broken(errors.Join(why, down(ctx, h)))
}

// startTime is how long the owner of a new lab may take until it takes orders: machines are made then, their VPPs come
// after.
const startTime = 5 * time.Minute

// begin starts the process that owns the lab and waits until it takes orders.
func (c *common) begin(ctx context.Context, s *scenarios.Scenario, f upFlags) (lab.StateDir, error) {
	if err := os.MkdirAll(c.root, 0o755); err != nil {
		return lab.StateDir{}, err
	}
	file, err := os.CreateTemp(c.root, ".up-*.yaml")
	if err != nil {
		return lab.StateDir{}, err
	}
	defer func() { _ = os.Remove(file.Name()) }() // the owner has read it
	if _, err := file.Write(s.Marshal()); err != nil {
		return lab.StateDir{}, errors.Join(err, file.Close())
	}
	if err := file.Close(); err != nil {
		return lab.StateDir{}, err
	}
	self, err := ownProgram()
	if err != nil {
		return lab.StateDir{}, err
	}
	owner := exec.CommandContext(context.WithoutCancel(ctx), self, "lab", "--labs", c.root, "--lab", c.id, serveWord,
		"--world", f.world, "--vpp", f.vpp, "--vpp-image", f.image, file.Name(), absolute(s.File))
	owner.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	told, err := owner.StdoutPipe()
	if err != nil {
		return lab.StateDir{}, err
	}
	if err := owner.Start(); err != nil {
		return lab.StateDir{}, err
	}
	// An interrupt takes the lab with it, and so does an owner that says nothing.
	starting, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	stop := context.AfterFunc(starting, func() { _ = owner.Process.Signal(syscall.SIGTERM) })
	defer stop()
	line, err := io.ReadAll(io.LimitReader(told, 64<<10)) // until the owner lets go of it
	if err != nil {
		return lab.StateDir{}, err
	}
	id, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "ready ")
	if !ok {
		_ = owner.Wait() // it has ended, or ends
		why := strings.TrimSpace(string(line))
		if text, found := strings.CutPrefix(why, "cannot "); found {
			return lab.StateDir{}, cli.CannotRun(errors.New(text))
		}
		switch {
		case why != "":
		case starting.Err() != nil && ctx.Err() == nil:
			why = fmt.Sprintf("the lab's owner (process %d) has not said within %s that it takes orders", owner.Process.Pid, startTime)
		default:
			why = "the lab's owner ended without a word"
		}
		return lab.StateDir{}, cli.Broken(errors.New(why))
	}
	return lab.Find(c.root, id)
}

// serveWord is the command of the process that owns a lab.
const serveWord = "serve"

// serveCommand is not for people: up starts it. What it prints first says whether the lab stands.
func serveCommand(c *common) *cobra.Command {
	f := upFlags{}
	cmd := &cobra.Command{
		Use: serveWord + " FILE ORIGIN", Hidden: true, Short: "Own a standing lab", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			tell := func(line string) {
				fmt.Fprintln(cmd.OutOrStdout(), line)
				_ = os.Stdout.Close() // whoever waits goes on
			}
			if err := serve(cmd.Context(), c, f, args, tell); err != nil {
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
	cmd.Flags().StringVar(&f.world, "world", "", "")
	cmd.Flags().StringVar(&f.vpp, "vpp", "", "")
	cmd.Flags().StringVar(&f.image, "vpp-image", "", "")
	return cmd
}

func serve(ctx context.Context, c *common, f upFlags, args []string, tell func(string)) error {
	b, err := f.backend()
	if err != nil {
		return err
	}
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
	w, err := lab.New(ctx, s, lab.Options{Backend: b, Agent: self, Root: c.root, ID: c.id, VPP: f.vpp, RunOptions: lab.RunOptions{Log: log}})
	if err != nil {
		return err
	}
	err = w.Serve(ctx, func() { tell("ready " + w.StateDir().ID) })
	return errors.Join(err, w.Close())
}
