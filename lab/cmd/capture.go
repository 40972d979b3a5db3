//go:build linux

package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
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
	var sides []string
	cmd := &cobra.Command{
		Use: "capture NODE[/POD] IFACE", Short: "Write an interface's packets as pcapng",
		Long: `Write an interface's packets as pcapng. IFACE is a Linux link of the node or the pod, or a VPP interface. One on a Linux
device (host-…, uplink0) is captured at that device's other end, a VXLAN tunnel's frames on the wire, out of what carries them, and
any other interface by VPP itself. --sides has VPP itself capture whatever interface it is: what comes in (rx), leaves (tx), or
came in and was dropped (drop); with it IFACE may be any, for all of them. A capture ends after --for, after --count, or at an
interrupt.`,
		Example: `  vppdrill lab capture node-1 uplink0 --for 5s --file wire.pcapng
  vppdrill lab capture node-1/node-1-pod-0 eth0 | tcpdump -r -
  vppdrill lab capture node-1 any --sides drop --for 5s --file dropped.pcapng`,
		Args: cli.Args(2, 2, "a node and an interface"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, s := range sides {
				if s != "rx" && s != "tx" && s != "drop" {
					return cli.Usagef("lab capture: --sides %q is none of rx, tx, drop", s)
				}
			}
			h, node, pod, err := c.target(args[0])
			if err != nil {
				return err
			}
			if pod != nil && sides != nil {
				return cli.Usagef("lab capture: --sides is about VPP's interfaces, and a pod's link is Linux'")
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
			n, err := capture(ctx, h, node, pod, args[1], "lab "+h.ID+" "+args[0], sides, out, count)
			fmt.Fprintf(cmd.ErrOrStderr(), "%d packets\n", n)
			if err != nil {
				return cli.Broken(err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "where to write; standard output when absent")
	cmd.Flags().StringSliceVar(&sides, "sides", nil, "have VPP itself capture rx, tx, drop, or several")
	cmd.Flags().IntVar(&count, "count", 0, "end after so many packets; 0 is no bound")
	cmd.Flags().DurationVar(&long, "for", 0, "end after this time; 0 is no bound")
	return cmd
}

func capture(ctx context.Context, h lab.StateDir, node lab.NodeFolder, pod *lab.PodFile, iface, comment string, sides []string, out io.Writer, count int) (int, error) {
	if pod != nil {
		return probe.Capture(ctx, pod.Netns, iface, comment, out, count, nil)
	}
	b, err := backendOf(h)
	if err != nil {
		return 0, err
	}
	wire := func() (string, string) { return b.Wire(h.ID, node.Number()) }
	if sides == nil {
		space, device := behind(node, iface, wire)
		var found error
		if err := spawn.Inside(space, func() error { _, found = net.InterfaceByName(device); return nil }); err != nil {
			return 0, err
		}
		if found == nil {
			return probe.Capture(ctx, space, device, comment, out, count, nil)
		}
		sides = []string{"rx", "tx"}
	}
	conn, err := vppproc.Dial(node.VPPDir())
	if err != nil {
		return 0, errors.Join(fmt.Errorf("no Linux link for %s on %s, and its VPP does not answer", iface, node.Name), err)
	}
	defer conn.Close()
	if t, ok, err := probe.TunnelOf(ctx, conn, iface); err != nil {
		return 0, err
	} else if ok {
		space, device := wire()
		return probe.CaptureTunnel(ctx, space, device, t, comment, sides, out, count, nil)
	}
	pid, err := vppproc.PID(node.VPPDir())
	if err != nil {
		return 0, err
	}
	return probe.CaptureVPP(ctx, conn.CLI, iface, comment, fmt.Sprintf("/proc/%d/root", pid), filepath.Base(node.Dir), sides, out, count, nil)
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
