//go:build linux

package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

func statusCommand(c *common) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the nodes of a lab, or all labs", Args: cli.Args(0, 0, "no arguments"),
		Example: "  vppdrill lab status --format json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			dirs, err := lab.StateDirs(c.root)
			if err != nil {
				return err
			}
			list := []lab.Status{}
			var silent error // a lab that does not answer, told in its line
			for _, h := range dirs {
				if c.id != "" && h.ID != c.id {
					continue
				}
				s := lab.Status{ID: h.ID, Backend: h.Backend, Scenario: h.Scenario, Dir: h.Dir(), Pending: "takes no orders"}
				if h.Standing() {
					if err := lab.NewClient(h).Call(cmd.Context(), "GET", "/status", nil, &s); err != nil {
						s.Pending, silent = err.Error(), cli.Broken(nil)
					}
				}
				list = append(list, s)
			}
			clusters, err := kindStatus(cmd.Context(), c)
			if err != nil {
				return err
			}
			list = append(list, clusters...)
			if c.id != "" && len(list) == 0 {
				return fmt.Errorf("there is no lab %s", c.id)
			}
			return errors.Join(c.print(cmd.OutOrStdout(), list, func(w io.Writer) { printStatus(w, list) }), silent)
		},
	}
}

func printStatus(out io.Writer, list []lab.Status) {
	if len(list) == 0 {
		fmt.Fprintln(out, "no lab")
	}
	for _, s := range list {
		state := "at rest"
		if s.Pending != "" {
			state = s.Pending
		}
		fmt.Fprintf(out, "lab %s (%s, %s): %s\n", s.ID, s.Backend, s.Scenario, state)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, n := range s.Nodes {
			fmt.Fprintf(w, "  %s\tID %d\t%s\t%s\tVPP %s\tagent %s\t%d pods\n", n.Name, n.ID, n.Address, strings.Join(n.Blocks, ","),
				process(n.VPP), process(n.Agent), len(n.Pods))
		}
		_ = w.Flush() // it fails where the line before did
	}
}

func process(p *lab.ProcessStatus) string {
	if p == nil {
		return "down"
	}
	return fmt.Sprintf("%d (%d MB, %.1f s)", p.PID, p.RSSBytes>>20, p.CPUSeconds)
}

func execCommand(c *common) *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "exec NODE[/POD] -- COMMAND…", Short: "Run a command in a node's or a pod's namespace",
		Long: `Run a command in a node's or a pod's network namespace. vppctl speaks to the VPP of that node. By default a command that a
person can interrupt has no limit, any other has 5 minutes, and vppctl has 30 seconds; --timeout changes that.`,
		Example: `  vppdrill lab exec node-1 -- vppctl show ip fib table 1
  vppdrill lab exec node-1/node-1-pod-0 -- ping 10.1.2.2`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cli.Usagef("lab exec wants NODE[/POD] -- COMMAND; see vppdrill lab exec --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			_, node, pod, err := c.target(args[0])
			if err != nil {
				return err
			}
			netns := node.Netns
			if pod != nil {
				netns = pod.Netns
			}
			argv := args[1:]
			if filepath.Base(argv[0]) == "vppctl" {
				words := argv[1:]
				if argv, err = vppctl(node, argv); lab.IsCannotRun(err) && len(words) > 0 {
					return show(cmd.Context(), cmd.OutOrStdout(), node, strings.Join(words, " "))
				} else if err != nil {
					return err
				}
			}
			limit := timeout
			if limit == 0 {
				limit = execLimit(argv)
			}
			return execute(cmd, argv, netns, args[0], limit)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "end the command after this time")
	return cmd
}

// execLimit is how long a command may take without --timeout: indefinitely, 0, at a terminal.
func execLimit(argv []string) time.Duration {
	switch {
	case filepath.Base(argv[0]) == "vppctl" && len(argv) > 3: // program, -s, socket and a command
		return vppctlLimit
	case term.IsTerminal(int(os.Stdin.Fd())):
		return 0
	}
	return execMost
}

const (
	vppctlLimit = 30 * time.Second
	execMost    = 5 * time.Minute
)

// execute runs a command in a namespace and ends it when its time is over.
func execute(cmd *cobra.Command, argv []string, netns, where string, limit time.Duration) error {
	ctx := cmd.Context()
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	run := exec.CommandContext(ctx, argv[0], argv[1:]...)
	run.WaitDelay = time.Second // what it has started may hold its output
	run.Stdin, run.Stdout, run.Stderr = os.Stdin, cmd.OutOrStdout(), cmd.ErrOrStderr()
	if err := spawn.Inside(netns, run.Start); err != nil {
		return cli.Broken(err)
	}
	err := run.Wait()
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return cli.Broken(fmt.Errorf("%s on %s has not ended within %s", strings.Join(argv, " "), where, limit))
	}
	return cli.Broken(fmt.Errorf("%s: %w", argv[0], err))
}

// show prints what a node's VPP answers to one command: for machines without a vppctl, whose nodes bring their VPP
// along.
func show(ctx context.Context, out io.Writer, node lab.NodeFolder, command string) error {
	conn, err := vppproc.Dial(node.VPPDir())
	if err != nil {
		return cli.Broken(err)
	}
	defer conn.Close()
	text, err := conn.CLI(ctx, command)
	if err != nil {
		return cli.Broken(err)
	}
	_, err = io.WriteString(out, text)
	return err
}

// vppctl finds the program, in PATH or beside this machine's VPP, and gives it the node's socket.
func vppctl(node lab.NodeFolder, argv []string) ([]string, error) {
	program := argv[0]
	if _, err := exec.LookPath(program); err != nil {
		vpp, err := vppproc.Find("")
		if err != nil {
			return nil, err
		}
		program = filepath.Join(filepath.Dir(vpp), "vppctl")
	}
	return append([]string{program, "-s", filepath.Join(node.VPPDir(), vppproc.CLISocketFile)}, argv[1:]...), nil
}

func graphCommand(c *common) *cobra.Command {
	kind := "mermaid"
	cmd := &cobra.Command{
		Use: "graph", Short: "Draw a lab: nodes, VRFs, tunnels, pods", Args: cli.Args(0, 0, "no arguments"),
		Example: "  vppdrill lab graph --as svg > lab.svg",
		RunE: func(cmd *cobra.Command, _ []string) error {
			draw, ok := map[string]func(lab.Graph) string{"mermaid": lab.Graph.Mermaid, "dot": lab.Graph.Dot, "svg": lab.Graph.SVG}[kind]
			if !ok {
				return cli.Usagef("--as %q is none of mermaid, dot, svg", kind)
			}
			client, _, err := c.standing()
			if err != nil {
				return err
			}
			var g lab.Graph
			if err := client.Call(cmd.Context(), "GET", "/graph", nil, &g); err != nil {
				return cli.Broken(err)
			}
			return c.print(cmd.OutOrStdout(), g, func(w io.Writer) { fmt.Fprint(w, draw(g)) })
		},
	}
	cmd.Flags().StringVar(&kind, "as", kind, "mermaid, dot or svg")
	return cmd
}

func probeCommand(c *common) *cobra.Command {
	want := lab.Wanted{Deep: 10, Within: lab.ProbeLimit}
	cmd := &cobra.Command{
		Use: "probe", Short: "Send real packets between the pods of a lab: pings, TCP, UDP, the MTU's edge", Args: cli.Args(0, 0, "no arguments"),
		Long: "Ping all pairs of pods of a small lab, or a sample of a large one. Some pairs also get TCP, UDP and the longest packet.\n" +
			"Exit code 1: something was lost, the time did not suffice, or there were no pods.",
		Example: "  vppdrill lab probe --deep 20",
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, _, err := c.standing()
			if err != nil {
				return err
			}
			body, err := json.Marshal(want)
			if err != nil {
				return err
			}
			var t lab.Traffic
			if err := client.CallWithin(cmd.Context(), want.Within+30*time.Second, "POST", "/probe", bytes.NewReader(body), &t); err != nil {
				return cli.Broken(err)
			}
			if err := c.print(cmd.OutOrStdout(), t, func(w io.Writer) {
				if t.Nothing() != "" {
					return // the error says it
				}
				fmt.Fprintf(w, "pings %d of %d, half of them within %s, the slowest %s; TCP %d, UDP %d, MTU %d pairs\n", t.Pings, t.Pairs, t.Median, t.Slowest, t.TCP, t.UDP, t.Edge)
				for _, line := range t.Failed {
					fmt.Fprintln(w, line)
				}
			}); err != nil {
				return err
			}
			if why := t.Nothing(); why != "" {
				return cli.Broken(errors.New(why))
			}
			if len(t.Failed) > 0 {
				return cli.Broken(nil)
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&want.Pairs, "pairs", lab.DefaultPairs, "most pairs to ping")
	cmd.Flags().DurationVar(&want.Within, "timeout", want.Within, "how long the probe may take")
	cmd.Flags().IntVar(&want.Deep, "deep", want.Deep, "pairs that get TCP, UDP and the longest packet, too")
	return cmd
}

func doCommand(c *common) *cobra.Command {
	streams := false
	cmd := &cobra.Command{
		Use: "do ACTION", Short: "Do one action of scenario files in a lab; heal ends every fault",
		Long: `Do one action of scenario files in a lab. With --streams datagrams run between pods, one a millisecond, until the lab is
quiet again, and the losses are printed. Expected are none across an agent's restart, and VPP's own outage across one of VPP.`,
		Example: `  vppdrill lab do restart-vpp node=node-1 --streams
  vppdrill lab do partition between=node-1,store
  vppdrill lab do heal`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("lab do wants an action; see vppdrill lab do --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			client, _, err := c.standing()
			if err != nil {
				return err
			}
			line := strings.Join(args, " ")
			if line == "heal" {
				return failed(client.Call(cmd.Context(), "POST", "/heal", nil, nil))
			}
			if _, err := scenarios.ParseAction(line); err != nil {
				return cli.BadInput(err)
			}
			body, err := json.Marshal(struct {
				Action  string
				Streams bool
			}{line, streams})
			if err != nil {
				return err
			}
			var told []lab.Outage
			if err := client.Call(cmd.Context(), "POST", "/do", bytes.NewReader(body), &told); err != nil {
				return cli.Broken(err)
			}
			if !streams {
				return nil
			}
			return c.print(cmd.OutOrStdout(), told, func(w io.Writer) {
				for _, o := range told {
					fmt.Fprintf(w, "%s to %s: %d of %d lost, longest silence %s\n", o.From, o.To, o.Lost, o.Sent, o.Longest.Round(100*time.Microsecond))
				}
			})
		},
	}
	cmd.Flags().BoolVar(&streams, "streams", false, "stream datagrams between pods meanwhile and report losses")
	return cmd
}

func failed(err error) error {
	if err == nil {
		return nil
	}
	return cli.Broken(err)
}

func evidenceCommand(c *common) *cobra.Command {
	return &cobra.Command{
		Use: "evidence [DIR]", Short: "Save logs, plans, dumps and VPP's state of every node", Args: cli.Args(0, 1, "at most one folder"),
		Example: "  vppdrill lab evidence out",
		RunE: func(cmd *cobra.Command, args []string) error {
			client, _, err := c.standing()
			if err != nil {
				return err
			}
			where := ""
			if len(args) == 1 {
				if where, err = filepath.Abs(args[0]); err != nil {
					return err
				}
			}
			var dir string
			if err := client.Call(cmd.Context(), "POST", "/evidence", strings.NewReader(where), &dir); err != nil {
				return cli.Broken(err)
			}
			return c.print(cmd.OutOrStdout(), dir, func(w io.Writer) { fmt.Fprintln(w, dir) })
		},
	}
}
