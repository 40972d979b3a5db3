package host

import (
	"context"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// tellAddresses tells the agent the addresses of the host's own links, at the start before anything else, so that
// routes to them are not taken away and put back.
func (d *Driver) tellAddresses() error {
	addrs, err := d.cfg.HostAddresses.HostAddrs()
	if err != nil {
		return err
	}
	d.step(agent.HostAddresses{Addrs: addrs})
	if !d.cfg.Agent.Steals() {
		return nil
	}
	links, err := d.cfg.Linux.Dump("")
	if err != nil {
		return err
	}
	d.step(agent.HostLinks{State: links})
	return nil
}

// watchPause is between attempts to watch addresses: the kernel ends a watch whose reader was too slow for it.
const watchPause = time.Second

// watchAddresses has them told again whenever one has changed, and after each gap.
func (d *Driver) watchAddresses(ctx context.Context) {
	again := func() {
		d.inbox.put(func() {
			if err := d.tellAddresses(); err != nil {
				d.log.Warn("the host's addresses cannot be listed", "error", err)
			}
		})
	}
	for ctx.Err() == nil {
		err := d.cfg.HostAddresses.WatchAddrs(ctx, again)
		if ctx.Err() != nil {
			return
		}
		d.log.Warn("the host's addresses are watched anew", "error", err)
		d.rest(ctx, watchPause)
		again()
	}
}
