package sim

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// owing is something that is due: may is how long it takes by design.
type owing struct {
	scenarios.Pending
	may time.Duration
}

// dueNow lists what somebody is to do without anybody else's help, and at once or within what he documents to take. Left out are quarantines, leases
// of the DHCP server, which are renewed in their time, and pods and their CNI requests, which requests-answered is about.
func (w *World) dueNow() (list []owing) {
	add := func(node, what string, may time.Duration) {
		if what != "" {
			list = append(list, owing{scenarios.Pending{Node: node, What: what}, may})
		}
	}
	if w.system.Prompt() {
		add("", w.system.Pending(), 0)
	}
	if w.services.due && w.api.Available() {
		add("", "the controller of endpoint slices has not looked yet", 0)
	}
	load := w.cluster.Load()
	if load.Unsynced > 0 {
		add("", "informers have no watch", 0)
	}
	if load.Scheduling {
		add("", "the scheduler is binding pods", 0)
	}
	hook := w.s.Config.Agent.HookTime
	for _, m := range w.order {
		if m.proc == nil || m.vpp == nil {
			continue
		}
		add(m.name, m.proc.due(), hook)
	}
	return list
}

// due is what the agent has to do. It is asked at most once for each of its steps.
func (p *process) due() string {
	if p.stepped {
		p.stepped, p.lastDue = false, p.agent.Due()
	}
	return p.lastDue
}
