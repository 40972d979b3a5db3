package kindcluster

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/vppproc"
)

// VPPConfig is the one VPP of a node that is a container or a machine, and not a lab's.
type VPPConfig struct {
	// Binary is VPP; empty looks for it.
	Binary string
	// Dir receives sockets and logs.
	Dir string
	// Uplink is the link that VPP takes as its way to other nodes; empty: none.
	Uplink string
	// Sleep is how long VPP sleeps between two rounds of its main loop.
	Sleep time.Duration
	// Say gets a line when VPP is started again; nil: nobody.
	Say func(line string)
}

// livedLeast is how long a VPP has to live for another one to be started behind it at once. One that dies sooner will
// again, and whoever runs this program waits longer each time.
const livedLeast = 5 * time.Second

// RunVPP runs a VPP until ctx ends, which is no error. Its uplink is taken from Linux, and is there before its API
// socket is. One that ends is followed by another at once: a kubelet would take seconds, and packets wait.
func RunVPP(ctx context.Context, cfg VPPConfig) error {
	binary, err := vppproc.Find(cfg.Binary)
	if err != nil {
		return err
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return err
	}
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return fmt.Errorf("VPP's folder: %w", err)
	}
	for {
		boot, err := takeUplink(cfg.Uplink)
		if err != nil {
			return err
		}
		p, err := vppproc.Start(ctx, vppproc.Config{Binary: binary, Dir: cfg.Dir, Sleep: cfg.Sleep, Boot: boot})
		if err != nil {
			return err
		}
		began := time.Now()
		select {
		case <-ctx.Done():
			p.Stop()
			return nil
		case <-p.Done():
		}
		lived := time.Since(began)
		if lived < livedLeast {
			return fmt.Errorf("VPP has ended after %s; what it said last is in %s", lived.Round(time.Millisecond), filepath.Join(cfg.Dir, vppproc.OutputFile))
		}
		cfg.say("VPP has ended after %s and is started again", lived.Round(time.Second))
	}
}

func (c VPPConfig) say(format string, args ...any) {
	if c.Say != nil {
		c.Say(fmt.Sprintf(format, args...))
	}
}

// takeUplink takes a link's addresses off and switches it on; it returns the commands by which VPP takes it. VPP has a
// MAC of its own on it: what Linux heard under its own, it would forward a second time.
func takeUplink(name string) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	link, err := netlink.LinkByName(name)
	if err != nil {
		return nil, lab.Cannot("no link %s for VPP's uplink: %s", name, err)
	}
	addrs, err := netlink.AddrList(link, netlink.FAMILY_ALL)
	if err != nil {
		return nil, fmt.Errorf("addresses of %s: %w", name, err)
	}
	for i := range addrs {
		if err := netlink.AddrDel(link, &addrs[i]); err != nil {
			return nil, fmt.Errorf("take %s off %s: %w", addrs[i].IPNet, name, err)
		}
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return nil, fmt.Errorf("switch %s on: %w", name, err)
	}
	return []string{
		fmt.Sprintf("create host-interface name %s hw-addr %s tx-size 10240", name, uplinkMAC(link.Attrs().HardwareAddr)),
		fmt.Sprintf("set interface name host-%s %s", name, lab.NICName),
	}, nil
}

// uplinkMAC is a locally administered address that is one machine's as Linux's own is.
func uplinkMAC(own net.HardwareAddr) net.HardwareAddr {
	mac := append(net.HardwareAddr{0x02, 0x76}, own...)
	return append(mac[:2:2], own[len(own)-4:]...)
}
