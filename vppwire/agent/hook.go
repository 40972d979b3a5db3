package agent

// hookAfter asks the driver to run its hooks after an addition; true when they have to be waited for.
func (a *Agent) hookAfter(t *attachment) bool { return a.askHook(t, false) }

// hookBefore asks the driver to run its hooks before a removal; true when they have to be waited for.
func (a *Agent) hookBefore(t *attachment) bool { return a.askHook(t, true) }

func (a *Agent) askHook(t *attachment, before bool) bool {
	if !a.cfg.Hooks {
		return false
	}
	a.lastHook++
	t.hook = a.lastHook
	a.pods.hooks[t.hook] = t
	a.emit(Hook{ID: t.hook, Before: before, Namespace: t.sandbox.PodNamespace, PodName: t.sandbox.PodName})
	return true
}

// hooked goes on behind the driver's hooks. A hook that was overtaken by a DEL has nobody waiting.
func (a *Agent) hooked(e Hooked) {
	t := a.pods.hooks[e.ID]
	if t == nil {
		return
	}
	delete(a.pods.hooks, e.ID)
	t.hook = 0
	if e.Err != nil {
		a.log(levelWarn, "hook for pod %s/%s: %v", t.sandbox.PodNamespace, t.sandbox.PodName, e.Err)
	}
	switch t.phase {
	case phaseHooking:
		a.attached(t)
	case phaseUnhooking:
		a.unwire(t)
	}
}
