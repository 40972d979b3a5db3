package sim

import (
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// made are the keys of what the agent has made or removed since an ADD could wait for nothing but that, in this order.
type made []vppwire.Key

// heard notes what an event tells of calls, before the agent learns of it. What is asked anew, a hook, a disk, a call that has failed and a VPP that has
// come may be what an ADD waited for.
func (l *made) heard(p *process, ev agent.Event) {
	switch ev := ev.(type) {
	case agent.Called:
		switch c := p.call.call; {
		case ev.Result.Err != nil || len(p.open) == 0:
			*l = (*l)[:0]
		case c.Writes():
			*l = append(*l, c.Key())
		}
	case agent.Hooked, agent.Persisted, agent.VPPUp, agent.PodAdd:
		*l = (*l)[:0]
	}
}

// promptly tells of an ADD that is answered only when the agent has made other things behind the last that is its own.
func (p *process) promptly(owner ipam.Owner, a agent.Answer) {
	r := &a.Result
	if a.Code != 0 || !r.Addr.IsValid() || len(p.made) == 0 {
		return
	}
	about := func(k vppwire.Key) bool {
		return k.MAC != (vppwire.MAC{}) && k.MAC == r.MAC || k.Netns != "" && k.Netns == r.Netns ||
			k.Prefix.IsValid() && (k.Prefix.Addr() == r.Addr.Addr() || k.Prefix.Addr() == r.Second.Addr())
	}
	if about(p.made[len(p.made)-1]) {
		return // as a rule, so that not all attachments are gone through for the name of its interface
	}
	iface := ""
	for t := range p.agent.Attachments() {
		if t.Sandbox.Owner == owner {
			iface = t.Interface
			break
		}
	}
	own := func(k vppwire.Key) bool { return about(k) || k.Name != "" && strings.HasSuffix(iface, k.Name) }
	trunk := vppwire.AFPacketName(vppwire.TrunkVPPDevice)
	for i, k := range slices.Backward(p.made) {
		if k.Name == trunk && k.MAC == (vppwire.MAC{}) {
			return // all pods behind it wait for it
		}
		if !own(k) {
			continue
		}
		if n := len(p.made) - 1 - i; n > 0 {
			p.m.fact(scenarios.Fact{Kind: scenarios.FactSlow, Owner: owner, Text: scenarios.AskedAdd, Number: uint32(n), Broken: p.made[i+1].String()})
		}
		return
	}
}
