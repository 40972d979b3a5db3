package agent

import (
	"net/netip"
	"slices"
)

// PodActionHook is told of one pod before its removal or after its addition. It runs within Step, in the order of
// registration, and may call the lookups; its error is logged and changes nothing.
type PodActionHook func(podNamespace, podName string) error

// hooks are the callbacks that other parts of a program have registered.
type hooks struct {
	preRemoval, postAdd []PodActionHook
	addresses           []func(netip.Prefix)
}

func (h *hooks) addressChanged(p netip.Prefix) {
	for _, fn := range h.addresses {
		fn(p)
	}
}

// RegisterPodPreRemovalHook has hook run for each pod immediately before its removal.
func (a *Agent) RegisterPodPreRemovalHook(hook PodActionHook) {
	a.hooks.preRemoval = append(a.hooks.preRemoval, hook)
}

// RegisterPodPostAddHook has hook run for each pod once it is added and before the CNI reply is sent.
func (a *Agent) RegisterPodPostAddHook(hook PodActionHook) {
	a.hooks.postAdd = append(a.hooks.postAdd, hook)
}

// WatchNodeIP has subscriber called within Step whenever this node's interconnect address is known or changed; not for the
// address known already. Drivers see the same as the NodeAddress effect.
func (a *Agent) WatchNodeIP(subscriber func(netip.Prefix)) {
	a.hooks.addresses = append(a.hooks.addresses, subscriber)
}

// hookAfter runs the hooks after addition; true when the driver's have to be waited for.
func (a *Agent) hookAfter(t *attachment) bool {
	a.runHooks(a.hooks.postAdd, t)
	return a.askHook(t, false)
}

// hookBefore runs the hooks before removal; true when the driver's have to be waited for.
func (a *Agent) hookBefore(t *attachment) bool {
	a.runHooks(a.hooks.preRemoval, t)
	return a.askHook(t, true)
}

func (a *Agent) runHooks(list []PodActionHook, t *attachment) {
	for _, hook := range slices.Clone(list) {
		if err := hook(t.sandbox.PodNamespace, t.sandbox.PodName); err != nil {
			a.log(levelWarn, "hook for pod %s/%s: %v", t.sandbox.PodNamespace, t.sandbox.PodName, err)
		}
	}
}

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
