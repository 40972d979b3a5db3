package sim

import (
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// quiet says why the cluster is not quiet, or "".
func (w *World) quiet() string {
	for _, m := range w.order {
		if len(m.plugins) > 0 {
			return m.plugins[0].String()
		}
	}
	if why := w.unchanging(); why != "" {
		return why
	}
	return w.play.Owed()
}

// unchanging says what is under way beside requests that change nothing, or "". It asks what is cheap to ask first.
func (w *World) unchanging() string {
	if w.policies.due && w.api.Available() {
		return "network policies are being written"
	}
	if w.services.due && w.api.Available() {
		return "the controller of endpoint slices has not looked yet"
	}
	if w.claims.probing > 0 {
		return "VPPs have a stranger's MAC for a node's address, and have not probed their neighbors yet"
	}
	if b := w.net.Busy(); !b.Quiet() {
		return "something is under way on the network"
	}
	for _, m := range w.order {
		if why := m.unquiet(); why != "" {
			return why
		}
		for _, x := range m.plugins {
			if x.command != "Check" && x.command != "Status" {
				return x.String()
			}
		}
	}
	return w.controlPending()
}

// unquiet says what a machine and its programs lack, or "".
func (m *machine) unquiet() string {
	switch {
	case !m.up && m.w.play.Healed():
		return "the machine is down"
	case !m.up: // down on purpose: quiet as it gets
	case m.proc == nil && !m.agentHeld:
		return "the agent is starting"
	case m.proc == nil || m.proc.paused || m.vppPaused:
	case m.proc.newsLate > 0:
		return "what watches brought is on its way"
	case m.lacksVPP() && !m.vppHeld:
		return "VPP is starting"
	case m.lacksVPP():
	case !m.proc.agent.Idle():
		return m.proc.agent.Pending()
	}
	if m.up && m.proc != nil && !m.proc.paused && !m.vppPaused {
		return m.unleased()
	}
	return ""
}

// held says what an action has stopped on a machine and none has started again, or "".
func (m *machine) held() string {
	switch {
	case !m.up:
		return "the machine is off"
	case m.proc != nil && m.proc.paused:
		return "the agent stands still until somebody lets it go on"
	case m.vppPaused:
		return "VPP stands still until somebody lets it go on"
	case m.w.cluster.Kubelet(m.name).Paused():
		return "the kubelet stands still until somebody lets it go on"
	case m.agentHeld && m.proc == nil:
		return "the agent is down and stays so until somebody starts it"
	case m.vppHeld && m.vpp == nil:
		return "VPP is down and stays so until somebody starts it"
	}
	return ""
}

// Times that distinguish a hang from work on its way.
const (
	// callLate is how old a request of the control plane is that should have been answered: API server and store take
	// milliseconds.
	callLate = time.Second
	// podsNamed is how many pods are named of those that are not where they should be.
	podsNamed = 20
)

// unquiet lists all that keeps the cluster from being quiet, what is nearest to the cause first.
func (w *World) unquiet() error {
	u := &result.Unquiet{}
	add := func(node, what string) {
		if what != "" {
			u.Pending = append(u.Pending, result.Pending{Node: node, What: what})
		}
	}
	waits := map[string]bool{}
	for _, m := range w.order {
		add(m.name, m.unquiet())
		waits[m.name] = len(m.plugins) > 0
		if k := w.cluster.Kubelet(m.name); k != nil {
			waits[m.name] = waits[m.name] || k.Unsettled() > k.Starved()
		}
	}
	for _, m := range w.order {
		if waits[m.name] {
			add(m.name, m.held())
		}
	}
	for _, m := range w.order {
		for _, x := range m.plugins {
			add(m.name, x.String())
		}
	}
	for _, c := range w.net.Open(w.eng.Now() - callLate) {
		add("", fmt.Sprintf("request of %s to %s is open since %s: %s", c.From, c.To, scenarios.FormatDuration(c.Since), c.Text))
	}
	if !w.cluster.Load().Quiet() {
		for _, line := range w.cluster.Pending(podsNamed) {
			add("", line)
		}
	}
	add("", w.starvedDespiteFree())
	add("", w.system.Pending())
	add("", w.play.Owed())
	if len(u.Pending) == 0 {
		add("", w.quiet())
	}
	return u
}
