//go:build linux

package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

func traceCommand(c *common) *cobra.Command {
	var tcp, udp uint16
	cmd := &cobra.Command{
		Use: "trace POD POD|ADDRESS", Short: "Send a packet and show its path hop by hop, by VPP's tracer and as foretold",
		Long: `Send a real packet from a pod to another one, or to an address such as a service's, and have the VPP of every node trace it.
The path that they saw stands beside the one that follows from what the agents want. The first hop that differs is marked.
Without --tcp and --udp the packet is a ping. VPPs' trace buffers are emptied.

 =  seen as foretold          x  foretold, and the first that differs
 +  seen instead              -  foretold, and not seen then
    without a mark: Linux' part, which VPP's tracer does not show

Exit code 1: the packet was not answered, or took another path.`,
		Example: `  vppdrill lab trace node-1/node-1-pod-0 node-2/node-2-pod-0
  vppdrill lab trace node-1-pod-0 node-2-pod-1 --tcp 8080 --format json
  vppdrill lab trace node-1-pod-0 10.96.0.10 --udp 53`,
		Args: cli.Args(2, 2, "two pods, or a pod and an address"),
		RunE: func(cmd *cobra.Command, args []string) error {
			want := lab.TraceWanted{Proto: 1}
			switch {
			case cmd.Flags().Changed("tcp") && cmd.Flags().Changed("udp"):
				return cli.Usagef("lab trace: --tcp or --udp, not both")
			case cmd.Flags().Changed("tcp"):
				want.Proto, want.Port = 6, tcp
			case cmd.Flags().Changed("udp"):
				want.Proto, want.Port = 17, udp
			}
			if want.Proto != 1 && want.Port == 0 {
				return cli.Usagef("lab trace: a port is 1 to 65535")
			}
			client, _, err := c.standing()
			if err != nil {
				return err
			}
			if want.From, err = c.podNamed(args[0]); err != nil {
				return err
			}
			if addr, bad := netip.ParseAddr(args[1]); bad == nil {
				want.To = addr.String()
			} else if want.To, err = c.podNamed(args[1]); err != nil {
				return err
			}
			body, err := json.Marshal(want)
			if err != nil {
				return err
			}
			var t lab.Trace
			if err := client.CallWithin(cmd.Context(), lab.TraceLimit, "POST", "/trace", bytes.NewReader(body), &t); err != nil {
				return cli.Broken(err)
			}
			if err := c.print(cmd.OutOrStdout(), t, func(w io.Writer) { printTrace(w, &t) }); err != nil {
				return err
			}
			if t.Wrong != "" {
				return cli.Broken(errors.New(t.Wrong))
			}
			return nil
		},
	}
	cmd.Flags().Uint16Var(&tcp, "tcp", 0, "begin a TCP connection to this `port`")
	cmd.Flags().Uint16Var(&udp, "udp", 0, "send a datagram to this `port`")
	return cmd
}

// podNamed is the pod that "node-1/web-0", or "web-0" where one node has it, means in the lab, with its node.
func (c *common) podNamed(name string) (string, error) {
	if strings.Contains(name, "/") {
		_, node, pod, err := c.target(name)
		if err != nil {
			return "", err
		}
		return node.Name + "/" + pod.Name, nil
	}
	h, err := c.find()
	if err != nil {
		return "", err
	}
	nodes, err := nodesOf(h)
	if err != nil {
		return "", err
	}
	var found, all []string
	for _, n := range nodes {
		for _, p := range n.Pods {
			all = append(all, p.Name)
			if p.Name == name {
				found = append(found, n.Name+"/"+p.Name)
			}
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", cli.Usagef("lab %s has no pod %s; it has %s", h.ID, name, orNone(all))
	}
	return "", cli.Usagef("which %s? there are %s", name, strings.Join(found, ", "))
}

func printTrace(out io.Writer, t *lab.Trace) {
	state := "not seen at its destination"
	switch {
	case t.Answered:
		state = "answered"
	case t.Arrived:
		state = "arrived, not answered"
	}
	fmt.Fprintf(out, "%s to %s: %s: %s\n", t.From, t.To, t.Packet, state)
	for _, note := range t.Notes {
		fmt.Fprintln(out, note)
	}
	printLeg(out, "there", &t.There)
	if t.Back != nil {
		printLeg(out, "back", t.Back)
	}
}

func printLeg(out io.Writer, name string, l *lab.Leg) {
	fmt.Fprintln(out, name)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range l.Rows {
		if h := r.Foretold; h != nil {
			fmt.Fprintf(w, " %s\t%s\t%s\t%s\n", r.Mark(), h.Node, h.Place, h.Says)
		}
		if h := r.Seen; h != nil && !r.Same {
			fmt.Fprintf(w, " +\t%s\t%s\t%s\n", h.Node, h.Place, h.Says)
		}
	}
	_ = w.Flush() // it fails where the line before did
	for _, g := range l.Graphs {
		fmt.Fprintln(out, "    "+g)
	}
}
