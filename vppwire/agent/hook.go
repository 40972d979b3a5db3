package agent

// hookAfter asks the driver to run its hooks after an addition; true when they have to be waited for.
func (p *pods) hookAfter(t *attachment) bool { return p.askHook(t, false) }

// hookBefore asks the driver to run its hooks before a removal; true when they have to be waited for.
func (p *pods) hookBefore(t *attachment) bool { return p.askHook(t, true) }

func (p *pods) askHook(t *attachment, before bool) bool {
	if !p.cfg.EmitHooks {
		return false
	}
	t.unhooked = false
	p.lastHook++
	t.hook = p.lastHook
	p.hooks[t.hook] = t
	p.emit(Hook{ID: t.hook, Before: before, Sandbox: t.sandbox, Addr: t.lease.Addr, Second: t.second.Addr, Interface: t.iface})
	return true
}

// hooked goes on behind the driver's hooks. A hook that was overtaken by a DEL has nobody waiting.
func (p *pods) hooked(e Hooked) {
	t := p.hooks[e.ID]
	if t == nil {
		return
	}
	delete(p.hooks, e.ID)
	t.hook = 0
	if e.Err != nil {
		p.log(levelWarn, "hook for pod %s/%s: %v", t.sandbox.PodNamespace, t.sandbox.PodName, e.Err)
	}
	switch t.phase {
	case phaseHooking:
		p.attached(t)
	case phaseUnhooking:
		p.unwire(t)
	}
}
