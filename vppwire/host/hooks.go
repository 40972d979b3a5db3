package host

import (
	"context"
	"sync"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// hooks are those under way. The map is the driver's goroutine's.
type hooks struct {
	ctx     context.Context // ends with Run
	running sync.WaitGroup
	// last is of each attachment the end of its latest hook.
	last map[ipam.Owner]chan struct{}
}

// runHook runs a hook behind those of the same attachment: a removal may have come while the one after the addition runs.
func (d *Driver) runHook(e agent.Hook) {
	owner, ended := e.Sandbox.Owner, make(chan struct{})
	before := d.hooks.last[owner]
	if d.hooks.last == nil {
		d.hooks.last = map[ipam.Owner]chan struct{}{}
	}
	d.hooks.last[owner] = ended
	d.hooks.running.Go(func() {
		if before != nil {
			<-before
		}
		err := d.cfg.Hooks(d.hooks.ctx, e)
		close(ended)
		d.inbox.put(func() {
			if d.hooks.last[owner] == ended {
				delete(d.hooks.last, owner)
			}
			d.step(agent.Hooked{ID: e.ID, Err: err})
		})
	})
}
