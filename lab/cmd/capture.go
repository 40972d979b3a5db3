//go:build linux

package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

func captureCommand(c *common) *cobra.Command {
	var file string
	var count int
	var long time.Duration
	cmd := &cobra.Command{
		Use: "capture NODE[/POD] IFACE", Short: "Write an interface's packets as pcapng",
		Long: `Write an interface's packets as pcapng. IFACE is a Linux link of the node or the pod, or a VPP interface. One on a Linux
device (host-…, uplink0) is captured at that device's other end, any other by VPP itself. A capture ends after --for, after
--count, or at an interrupt.`,
		Example: `  vppdrill lab capture node-1 uplink0 --for 5s --file wire.pcapng
  vppdrill lab capture node-1/node-1-pod-0 eth0 | tcpdump -r -`,
		Args: cli.Args(2, 2, "a node and an interface"),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, node, pod, err := c.target(args[0])
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if file != "" {
				f, err := os.Create(file)
				if err != nil {
					return err
				}
				defer func() { _ = f.Close() }() // flushed after each packet
				out = f
			}
			ctx := cmd.Context()
			if long > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, long)
				defer cancel()
			}
			n, err := capture(ctx, h, node, pod, args[1], "lab "+h.ID+" "+args[0], out, count)
			fmt.Fprintf(cmd.ErrOrStderr(), "%d packets\n", n)
			if err != nil {
				return cli.Broken(err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "where to write; standard output when absent")
	cmd.Flags().IntVar(&count, "count", 0, "end after so many packets; 0 is no bound")
	cmd.Flags().DurationVar(&long, "for", 0, "end after this time; 0 is no bound")
	return cmd
}

func capture(ctx context.Context, h lab.StateDir, node lab.NodeFolder, pod *lab.PodFile, iface, comment string, out io.Writer, count int) (int, error) {
	if pod != nil {
		return probe.Capture(ctx, pod.Netns, iface, comment, out, count, nil)
	}
	b, err := backendOf(h)
	if err != nil {
		return 0, err
	}
	space, device := behind(node, iface, func() (string, string) { return b.Wire(h.ID, node.Number()) })
	var found error
	if err := spawn.Inside(space, func() error { _, found = net.InterfaceByName(device); return nil }); err != nil {
		return 0, err
	}
	if found == nil {
		return probe.Capture(ctx, space, device, comment, out, count, nil)
	}
	conn, err := vppproc.Dial(node.VPPDir())
	if err != nil {
		return 0, errors.Join(fmt.Errorf("no Linux link %s on %s, and its VPP does not answer", device, node.Name), err)
	}
	defer conn.Close()
	return probe.CaptureVPP(ctx, conn.CLI, iface, comment, node.Dir, out, count, nil)
}

// behind is where everything shows that passes an interface. What VPP sends bypasses the captures on its own end of a
// veth, so the other end is taken: the fabric's port, which wire tells, the pod's link, the host's.
func behind(node lab.NodeFolder, iface string, wire func() (space, link string)) (space, link string) {
	device := strings.TrimPrefix(iface, "host-")
	switch device {
	case lab.NICName, lab.NICDevice:
		return wire()
	case vppwire.HostVPPDevice:
		return node.Netns, vppwire.HostLinuxDevice
	}
	for _, p := range node.Pods {
		if mode.PodDevice(p.ContainerID, lab.PodLink) == device {
			return p.Netns, lab.PodLink
		}
	}
	return node.Netns, device
}
