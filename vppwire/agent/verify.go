package agent

import (
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
)

// podCheck compares an attachment with the allocation state and with what stands in VPP and Linux: what the agent made
// may have been changed by another hand, so it looks again before it answers.
func (p *pods) podCheck(e PodCheck) {
	if answer, done := p.checked(e); done || !p.wiring.Wires() {
		p.emit(answer)
		return
	}
	p.checks = append(p.checks, e)
	t := p.byOwner[e.Owner]
	for _, group := range p.groupsOf(t) {
		p.wire.Look(group)
	}
	if t.sandbox.Memif != 0 { // nothing of it is in the namespace
		p.wire.LookNetns(t.sandbox.Netns)
	}
}

// groupsOf are the groups that an attachment's packets depend on: its own and, where pods share an interface, the
// node's.
func (p *pods) groupsOf(t *attachment) []string {
	if p.wiring.SharesInterface() {
		return []string{t.group, groupNode}
	}
	return []string{t.group}
}

// checked answers a CHECK as far as it can be without a look; done when that is all.
func (p *pods) checked(e PodCheck) (answer Answer, done bool) {
	t := p.byOwner[e.Owner]
	switch {
	case t == nil || !t.recorded():
		return refused(e.Request, CodeUnknownContainer, "%s is not attached", e.Owner), true
	case e.Addr.IsValid() && e.Addr.Unmap() != t.lease.Addr && e.Addr.Unmap() != t.second.Addr:
		return refused(e.Request, CodeMismatch, "%s has address %s, not %s", e.Owner, t.lease.Addr, e.Addr), true
	case t.removing():
		return refused(e.Request, CodeUnknownContainer, "%s is being removed", e.Owner), true
	case t.stale:
		return refused(e.Request, CodeUnknownContainer, "%s is of an earlier boot", e.Owner), true
	case !p.vppUp:
		return refused(e.Request, CodeTryAgain, "VPP is down"), true
	case t.phase < phaseHooking || p.node.ID == 0:
		return refused(e.Request, CodeMismatch, "%s is not wired", e.Owner), true
	}
	return Answer{Request: e.Request}, false
}

// answerChecks answers what waited for a look, once it is over: call is what comes next, where anything does.
func (p *pods) answerChecks(call vppwire.Call, next bool) {
	if len(p.checks) == 0 || p.vppUp && (!p.looked || !p.wire.Looked() || p.calling && (!next || call.Verb() == vppwire.VerbDump)) {
		return
	}
	for _, e := range p.checks {
		answer, done := p.checked(e)
		if !done {
			t := p.byOwner[e.Owner]
			if p.wire.NetnsGone(t.sandbox.Netns) {
				answer = refused(e.Request, CodeMismatch, "%s is not wired as it should be: there is no namespace %s", e.Owner, t.sandbox.Netns)
			}
			for _, group := range p.groupsOf(t) {
				if wrong := p.wire.Wrong(group); wrong != "" {
					answer = refused(e.Request, CodeMismatch, "%s is not wired as it should be: %s", e.Owner, wrong)
					break
				}
			}
		}
		p.emit(answer)
	}
	p.checks = nil
	p.wire.NetnsLooked()
}

// withdrawCheck forgets a CHECK that nobody waits for.
func (p *pods) withdrawCheck(request uint64) {
	p.checks = slices.DeleteFunc(p.checks, func(e PodCheck) bool { return e.Request == request })
}

// podStatus says whether an ADD would be taken on and could be done now.
func (p *pods) podStatus(e PodStatus) {
	if why := p.rest.trouble(p.now); why != "" {
		p.refuse(e.Request, CodeUnavailable, "%s", why)
		return
	}
	p.emit(Answer{Request: e.Request})
}
