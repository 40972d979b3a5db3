//go:build linux

package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// common are the flags of every command of labs.
type common struct {
	root, id string
	format   cli.Format
}

// labCommand is `vppdrill lab`; beside are commands about VPPs that need no lab.
func labCommand(beside []*cobra.Command) *cobra.Command {
	c := &common{}
	root := &cobra.Command{
		Use:   "lab",
		Short: "VPPs on this machine: labs of real ones, a modelled one on a socket, parity of the two",
		Long: `A lab is real. Each node is a network namespace or a container with a VPP, a node agent, and pods in namespaces of
their own; a fabric joins the nodes. --world kind makes a Kubernetes cluster instead. Several labs stand side by side, and
--lab chooses one. The next command removes what a killed lab left behind.

model serves a modelled VPP on a socket; parity compares the model with recorded and real VPPs.`,
		Example: `  vppdrill lab up --nodes 3 --pods 2
  vppdrill lab up my-lab.yaml --world container
  vppdrill lab exec node-1 -- vppctl show interface
  vppdrill lab down`,
		Args: cli.NoCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := root.PersistentFlags()
	flags.StringVar(&c.root, "labs", lab.DefaultRoot(), "folder of this machine's labs")
	flags.StringVar(&c.id, "lab", "", "which lab; the only one when absent")
	cli.AddFormatTo(flags, &c.format)
	up := upCommand(c)
	root.AddCommand(agentCommand(), serveCommand(c), up, downCommand(c), statusCommand(c), execCommand(c), captureCommand(c),
		graphCommand(c), probeCommand(c), traceCommand(c), doCommand(c), evidenceCommand(c))
	root.AddCommand(imageCommand(c), nodeInitCommand())
	for _, sub := range root.Commands() {
		if sub != up { // it removes nothing before it has understood its file
			hook(sub, c)
		}
	}
	root.AddCommand(vppCommand(), vmCommand(), vmInitCommand()) // whose machines have no labs
	root.AddCommand(beside...)
	return root
}

// hook makes a command check its flags and begin with a census.
func hook(cmd *cobra.Command, c *common) {
	run := cmd.RunE
	if cmd.Hidden {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := c.census(cmd.Context(), cmd.ErrOrStderr()); err != nil {
			return coded(err)
		}
		return coded(run(cmd, args))
	}
}

// find is the lab that is meant.
func (c *common) find() (lab.StateDir, error) { return lab.Find(c.root, c.id) }

// standing is the lab that is meant, which takes orders.
func (c *common) standing() (*lab.Client, lab.StateDir, error) {
	h, err := c.find()
	if err != nil {
		return nil, h, err
	}
	if !h.Standing() {
		return nil, h, fmt.Errorf("lab %s was kept after it failed and takes no orders; lab exec, capture and down work", h.ID)
	}
	return lab.NewClient(h), h, nil
}

// print writes an answer as JSON, or as text makes of it.
func (c *common) print(out io.Writer, answer any, text func(io.Writer)) error {
	if c.format == cli.JSON {
		return cli.WriteJSON(out, answer)
	}
	text(out)
	return nil
}

// nodesOf are the lab's nodes as its folder lists them.
func nodesOf(h lab.StateDir) ([]lab.NodeFolder, error) {
	b, err := backendOf(h)
	if err != nil {
		return nil, err
	}
	return h.Nodes(b.NodePath)
}

// target is what "node-1" or "node-1/web-0" names in the lab that is meant: a node, and a pod of it.
func (c *common) target(name string) (lab.StateDir, lab.NodeFolder, *lab.PodFile, error) {
	none := lab.NodeFolder{}
	h, err := c.find()
	if err != nil {
		return h, none, nil, err
	}
	node, pod, inPod := strings.Cut(name, "/")
	nodes, err := nodesOf(h)
	if err != nil {
		return h, none, nil, err
	}
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name)
		if n.Name != node {
			continue
		}
		if !inPod {
			return h, n, nil, nil
		}
		var pods []string
		for _, p := range n.Pods {
			if p.Name == pod {
				return h, n, &p, nil
			}
			pods = append(pods, p.Name)
		}
		return h, n, nil, cli.Usagef("%s has no pod %s; it has %s", node, pod, orNone(pods))
	}
	return h, none, nil, cli.Usagef("lab %s has no node %s; it has %s", h.ID, node, orNone(names))
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// downCommand ends labs.
func downCommand(c *common) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use: "down [LAB]", Short: "End a lab and remove everything of it",
		Example: "  vppdrill lab down\n  vppdrill lab down --all",
		Args:    cli.Args(0, 1, "at most one lab"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				c.id = args[0]
			}
			dirs, err := lab.StateDirs(c.root)
			if err != nil {
				return err
			}
			ended, err := kindDown(cmd.Context(), cmd.OutOrStdout(), c, all)
			if err != nil || ended && !all {
				return err
			}
			if !all {
				h, err := c.find()
				if err != nil {
					return err
				}
				dirs = []lab.StateDir{h}
			}
			for _, h := range dirs {
				if err := down(cmd.Context(), h); err != nil {
					return cli.Broken(err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "lab %s is down\n", h.ID)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every lab of this machine")
	return cmd
}

// down asks the owner to end the lab, and ends it itself where there is none.
func down(ctx context.Context, h lab.StateDir) error {
	b, err := backendOf(h)
	if err != nil {
		return err
	}
	if h.Standing() {
		var late *lab.NoAnswer
		if err := lab.NewClient(h).Call(ctx, "POST", "/down", nil, nil); errors.As(err, &late) {
			return fmt.Errorf("%w; kill -9 %s, and the next command of labs removes what is left", err, h.OwnerPID())
		} else if err == nil {
			if err := h.WaitGone(ctx); err != nil {
				return err
			}
		}
	} else if h.Alive() && !h.Kept {
		return fmt.Errorf("lab %s belongs to a run under way; interrupt that", h.ID)
	}
	if _, err := os.Stat(h.Dir()); os.IsNotExist(err) {
		return nil
	}
	return lab.Remove(h, b)
}
