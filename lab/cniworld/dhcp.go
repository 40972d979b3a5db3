package cniworld

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/plugin"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/agentconfig"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

const (
	// leaseTime is how long an address is leased, dnsmasq's least.
	leaseTime = 2 * time.Minute
	nicMTU    = 1500
	// daemonSocket is where the plugin looks for its daemon, below a node's /run; daemonPatience how long it may take to be there.
	daemonSocket   = "cni/dhcp.sock"
	daemonPatience = 5 * time.Second
)

// serveDHCP starts the server that a chain's dhcp leases addresses of pods from, on the wire that nodes' NICs are on; it goes on with the
// range of a further plan.
func (w *World) serveDHCP(plan scenarios.IPAM) error {
	pools, err := agentconfig.Pools(plan)
	switch {
	case err != nil:
		return err
	case !pools.PodSubnet.Addr().Is4():
		return lab.Cannot("the DHCP server gives addresses of IPv4 alone, not of %s", pools.PodSubnet)
	case w.dhcp != nil:
		return w.dhcp.Serve(pools.PodSubnet)
	}
	w.dhcp, err = w.fabric.ServeDHCP(lab.DHCPConfig{ID: w.place.id, Dir: w.dir("dhcp"), Range: pools.PodSubnet, Lease: leaseTime, Renew: leaseTime / 2})
	return err
}

// startDHCP starts the plugin's daemon, as the node's init does; it ends with the machine's power. n.mu is held.
func (n *node) startDHCP() error {
	life, order := n.life, plugin.Order{Path: n.w.o.Chain.dhcp, Args: []string{"daemon"}, Env: os.Environ(), Netns: n.netns(), Binds: n.binds()}
	ended := make(chan string, 1)
	n.kubelet.running.Go(func() {
		out, err := plugin.Run(life, order)
		if why := fmt.Sprintf("dhcp daemon of %s ended: %s %s", n.name, oneline.Error(err), out.Stderr); life.Err() == nil {
			n.w.Note(why)
			ended <- why
		}
	})
	ctx, cancel := context.WithTimeout(life, daemonPatience)
	defer cancel()
	for {
		if _, err := os.Stat(filepath.Join(n.dir(runFolder), daemonSocket)); err == nil {
			return nil
		}
		select {
		case why := <-ended:
			return lab.Cannot("%s", why)
		case <-ctx.Done():
			return lab.Cannot("dhcp daemon of %s has no socket after %s", n.name, daemonPatience)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
