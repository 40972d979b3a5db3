package cilium

import (
	"net/netip"
	"time"
)

// Answers is what the agent has to say about the release handshake, by address: ready or not for what is marked, the
// empty state for a released entry that it is done with.
func (s *NodeStore) Answers() map[netip.Addr]HandshakeState {
	answers := make(map[netip.Addr]HandshakeState)
	if s.node == nil {
		return answers
	}
	//vppdrill:unordered each address has an answer of its own
	for ip, state := range s.node.Status.IPAM.ReleaseIPs {
		_, pooled := s.node.Spec.IPAM.Pool[ip]
		_, used := s.used[ip]
		switch state {
		case MarkedForRelease:
			if used || s.restored && !pooled {
				answers[ip] = DoNotRelease
			} else if s.restored {
				answers[ip] = ReadyForRelease
			}
		case Released:
			if !pooled {
				answers[ip] = ""
			}
		case ReadyForRelease, DoNotRelease:
			// It is the operator's turn.
		}
	}
	return answers
}

// Ask has the resource ask for what these watermarks say, from the next Publish on.
func (s *NodeStore) Ask(w Watermarks) {
	s.marks = &w
	if s.node != nil && s.node.Spec.IPAM.Watermarks != w {
		s.changed = true
	}
}

// Publish returns the node's resource with the status that should be written now, and true when there is something to
// write: use has changed or the handshake waits for an answer, and the last write is at least the refresh interval ago.
// Before FinishRestore the published use only grows. A refused write is told to Refused; a newer resource then
// comes by Update.
func (s *NodeStore) Publish(now time.Time) (*CiliumNode, bool) {
	answers := s.Answers()
	if s.node == nil || !s.changed && len(answers) == 0 || now.Before(s.NextPublish()) {
		return nil, false
	}
	n := s.node.Clone()
	if s.marks != nil {
		n.Spec.IPAM.Watermarks = *s.marks
	}
	status := &n.Status.IPAM
	if s.restored || status.Used == nil {
		status.Used = make(AllocationMap, len(s.used))
	}
	//vppdrill:unordered a map is filled
	for ip, owner := range s.used {
		status.Used[ip] = AllocationIP{Owner: owner, Resource: n.Spec.IPAM.Pool[ip].Resource}
	}
	if len(status.Used) == 0 {
		status.Used = nil
	}
	for _, ip := range sortedAddrs(answers) {
		if answers[ip] == "" {
			delete(status.ReleaseIPs, ip)
		} else {
			status.ReleaseIPs[ip] = answers[ip]
		}
	}
	if len(status.ReleaseIPs) == 0 {
		status.ReleaseIPs = nil
	}
	s.changed = false
	s.written = now
	return n, true
}

// Refused says that the last published status was not stored. It will be published again.
func (s *NodeStore) Refused() { s.changed = true }

// NextPublish is the earliest time of the next write, the zero time before the first.
func (s *NodeStore) NextPublish() time.Time {
	if s.written.IsZero() {
		return time.Time{}
	}
	return s.written.Add(s.cfg.RefreshInterval)
}
