package sim

import (
	"errors"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// unlisted is what a life of an agent was told of pods that nobody will ask for again.
type unlisted struct {
	// pods are the UIDs that the last list of the API server's had, nil before the first.
	pods map[string]bool
	// added are what ADDs of this life were for; gone the namespaces that a call has not found.
	added map[ipam.Owner]bool
	gone  map[string]bool
}

// heard notes what an event tells, and reports whether it tells of a namespace that is gone. With the list itself a call may be under way, of which the agent
// waits to hear.
func (u *unlisted) heard(p *process, ev agent.Event) bool {
	switch ev := ev.(type) {
	case agent.PodsListed:
		u.pods = make(map[string]bool, len(ev.UIDs))
		for _, uid := range ev.UIDs {
			u.pods[uid] = true
		}
	case agent.PodAdd:
		if u.added == nil {
			u.added = map[ipam.Owner]bool{}
		}
		u.added[ev.Sandbox.Owner] = true
	case agent.Called:
		netns := p.call.call.Key().Netns
		if netns == "" || !p.call.call.Writes() || !errors.Is(ev.Result.Err, vppwire.ErrNoNamespace) {
			return false
		}
		if u.gone == nil {
			u.gone = map[string]bool{}
		}
		u.gone[netns] = true
		return u.pods != nil
	}
	return false
}

// wired tells of what an earlier life has attached, and this one goes on wiring, for a pod that is gone in a namespace that is gone.
func (u *unlisted) wired(p *process) {
	for t := range p.agent.Attachments() {
		s := &t.Sandbox
		if s.PodUID == "" || u.pods[s.PodUID] || !u.gone[s.Netns] || u.added[s.Owner] || t.Removing || t.Stale {
			continue
		}
		p.m.fact(scenarios.Fact{Kind: scenarios.FactNeedless, Text: "the wiring of pod " + s.PodNamespace + "/" + s.PodName,
			Broken: "goes on in a namespace that is gone, of a pod that the API server has not any more"})
	}
}
