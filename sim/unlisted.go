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
	// added are what ADDs of this life were for; gone is how many calls have not found a namespace.
	added map[ipam.Owner]bool
	gone  map[string]int
}

// goneSurely is how many calls have to have missed a namespace before its pod is given back: the agent goes by the first failure of a pod's wiring, which may be
// another one.
const goneSurely = 3

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
			u.gone = map[string]int{}
		}
		u.gone[netns]++
		return u.pods != nil
	}
	return false
}

// wired tells of what an earlier life has attached, and this one goes on wiring, for a pod that is gone in a namespace that is gone.
func (u *unlisted) wired(p *process) {
	for t := range p.agent.Attachments() {
		s := &t.Sandbox
		if s.PodUID == "" || u.pods[s.PodUID] || u.gone[s.Netns] < goneSurely || u.added[s.Owner] || t.Removing || t.Stale {
			continue
		}
		p.m.fact(scenarios.Fact{Kind: scenarios.FactNeedless, Text: "the wiring of pod " + s.PodNamespace + "/" + s.PodName,
			Broken: "goes on in a namespace that is gone, of a pod that the API server has not any more"})
	}
}
