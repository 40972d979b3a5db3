package agent

// podCheck compares an attachment with the allocation state and with what stands in VPP and Linux.
func (a *Agent) podCheck(e PodCheck) {
	t := a.pods.byOwner[e.Owner]
	if t == nil || !t.recorded() {
		a.refuse(e.Request, CodeUnknownContainer, "%s is not attached", e.Owner)
		return
	}
	if e.Addr.IsValid() && e.Addr.Unmap() != t.lease.Addr {
		a.refuse(e.Request, CodeMismatch, "%s has address %s, not %s", e.Owner, t.lease.Addr, e.Addr)
		return
	}
	if t.removing() {
		a.refuse(e.Request, CodeUnknownContainer, "%s is being removed", e.Owner)
		return
	}
	if t.stale {
		a.refuse(e.Request, CodeUnknownContainer, "%s is of an earlier boot", e.Owner)
		return
	}
	if !a.vppUp {
		a.refuse(e.Request, CodeTryAgain, "VPP is down")
		return
	}
	done, err := a.wire.Done(t.group)
	switch {
	case err != nil:
		a.refuse(e.Request, CodeMismatch, "%s: %v", e.Owner, err)
	case !done || !a.looked || t.phase < phaseHooking:
		a.refuse(e.Request, CodeMismatch, "%s is not wired", e.Owner)
	default:
		a.emit(Answer{Request: e.Request})
	}
}

// podStatus says whether an ADD would be taken on now.
func (a *Agent) podStatus(e PodStatus) {
	why := a.notReady()
	if why == "" && !a.vppUp {
		why = "VPP is down"
	}
	if why != "" {
		a.refuse(e.Request, CodeUnavailable, "%s", why)
		return
	}
	a.emit(Answer{Request: e.Request})
}
