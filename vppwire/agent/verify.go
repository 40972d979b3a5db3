package agent

// podCheck compares an attachment with the allocation state and with what stands in VPP and Linux.
func (p *pods) podCheck(e PodCheck) {
	t := p.byOwner[e.Owner]
	if t == nil || !t.recorded() {
		p.refuse(e.Request, CodeUnknownContainer, "%s is not attached", e.Owner)
		return
	}
	if e.Addr.IsValid() && e.Addr.Unmap() != t.lease.Addr {
		p.refuse(e.Request, CodeMismatch, "%s has address %s, not %s", e.Owner, t.lease.Addr, e.Addr)
		return
	}
	if t.removing() {
		p.refuse(e.Request, CodeUnknownContainer, "%s is being removed", e.Owner)
		return
	}
	if t.stale {
		p.refuse(e.Request, CodeUnknownContainer, "%s is of an earlier boot", e.Owner)
		return
	}
	if !p.vppUp {
		p.refuse(e.Request, CodeTryAgain, "VPP is down")
		return
	}
	done, err := p.wire.Done(t.group)
	switch {
	case err != nil:
		p.refuse(e.Request, CodeMismatch, "%s: %v", e.Owner, err)
	case !done || !p.looked || t.phase < phaseHooking:
		p.refuse(e.Request, CodeMismatch, "%s is not wired", e.Owner)
	default:
		p.emit(Answer{Request: e.Request})
	}
}

// podStatus says whether an ADD would be taken on and could be done now.
func (p *pods) podStatus(e PodStatus) {
	if why := p.rest.Trouble(p.now); why != "" {
		p.refuse(e.Request, CodeUnavailable, "%s", why)
		return
	}
	p.emit(Answer{Request: e.Request})
}
