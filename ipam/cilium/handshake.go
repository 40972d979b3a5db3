package cilium

// HandshakeState is how far operator and agent are in giving one address back to the cloud. It stands in the
// CiliumNode's status.ipam.release-ips; an address without entry has the empty state.
type HandshakeState string

// Handshake states, in the order of a release that goes through.
const (
	// MarkedForRelease: the operator wants the address back, the agent must answer.
	MarkedForRelease HandshakeState = "marked-for-release"
	// ReadyForRelease: the agent does not use the address and will not; the operator may free it.
	ReadyForRelease HandshakeState = "ready-for-release"
	// DoNotRelease: the agent uses the address, or does not know it; the operator must let go of it.
	DoNotRelease HandshakeState = "do-not-release"
	// Released: the cloud has the address back; the agent forgets the entry once the address has left the pool.
	Released HandshakeState = "released"
)

// Actor is a side of the handshake.
type Actor string

// Sides of the handshake.
const (
	AgentActor    Actor = "agent"
	OperatorActor Actor = "operator"
)

// Valid reports whether s is one of the four states.
func (s HandshakeState) Valid() bool {
	switch s {
	case MarkedForRelease, ReadyForRelease, DoNotRelease, Released:
		return true
	}
	return false
}

// Next is whose turn it is. The operator may take back what it marked out of turn.
func (s HandshakeState) Next() Actor {
	if s == MarkedForRelease || s == Released {
		return AgentActor
	}
	return OperatorActor
}

// Blocked reports whether the agent must not hand out an address in this state.
func (s HandshakeState) Blocked() bool { return s.Valid() && s != DoNotRelease }
