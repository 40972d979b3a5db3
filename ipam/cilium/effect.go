package cilium

import (
	"net/netip"
	"strconv"
	"time"
)

// Effect is something that a machine of this package asks its driver to do: one of the types below. Each prints as one
// canonical line.
type Effect interface {
	AppendText(b []byte) []byte
	effect()
}

// Requests about resources. IDs are never used twice in one life of a machine.
type (
	// WriteResource replaces a resource. It must not be applied unless the stored one has Object's UID and
	// ResourceVersion.
	WriteResource struct {
		ID     uint64
		Object Object
	}
	// CreateResource makes a node's resource, which belongs to the Node with the UID Object.Owner.
	CreateResource struct {
		ID     uint64
		Object Object
	}
)

// Words to others; nothing comes back.
type (
	// Follow asks for every resource, consistently, and for every change of them: Listed, Seen and Gone.
	Follow struct{}
	// LookAtAgent asks for AgentSeen.
	LookAtAgent struct{}
	// TellAgent gives the node's agent its blocks.
	TellAgent struct{ Blocks []netip.Prefix }
	// RecordEvent records a Kubernetes event about the Node with that UID.
	RecordEvent struct{ Name, UID, Type, Reason, Message string }
	// Note is for the log.
	Note struct{ Text string }
	// WakeAt asks for Woke at that time; a later WakeAt replaces an earlier one, the zero time cancels.
	WakeAt struct{ At time.Time }
	// End: this life is over, and hears nothing more. The next one begins with the ledger.
	End struct{ Why error }
)

func (WriteResource) effect()  {}
func (CreateResource) effect() {}
func (Follow) effect()         {}
func (LookAtAgent) effect()    {}
func (TellAgent) effect()      {}
func (RecordEvent) effect()    {}
func (Note) effect()           {}
func (WakeAt) effect()         {}
func (End) effect()            {}

func numbered(b []byte, verb string, id uint64) []byte {
	return strconv.AppendUint(append(append(b, verb...), " #"...), id, 10)
}

// AppendText implements Effect.
func (e WriteResource) AppendText(b []byte) []byte {
	b = append(append(numbered(b, "write", e.ID), ' '), e.Object.Metadata.Incarnation()...)
	return e.Object.appendText(append(append(b, " version="...), e.Object.Metadata.ResourceVersion...))
}

// AppendText implements Effect.
func (e CreateResource) AppendText(b []byte) []byte {
	b = append(append(numbered(b, "create", e.ID), ' '), e.Object.Metadata.Name...)
	return e.Object.appendText(append(append(b, " owner="...), e.Object.Owner...))
}

// appendText is what a write says of pools and addresses.
func (o Object) appendText(b []byte) []byte {
	for _, r := range o.Spec.IPAM.Pools.Requested {
		b = append(append(append(b, " needs="...), r.Pool...), ':')
		b = strconv.AppendInt(b, int64(r.Needed.IPv4Addrs+r.Needed.IPv6Addrs), 10)
	}
	for _, a := range o.Spec.IPAM.Pools.Allocated {
		b = append(append(b, " has="...), a.Pool...)
		for _, p := range a.CIDRs {
			b = p.AppendTo(append(b, ':'))
		}
	}
	if n := len(o.Spec.IPAM.Pool); n > 0 {
		b = strconv.AppendInt(append(b, " pool="...), int64(n), 10)
	}
	if n := o.Spec.IPAM.MinAllocate; n > 0 {
		b = strconv.AppendInt(append(b, " min="...), int64(n), 10)
	}
	if n := len(o.Status.IPAM.Used); n > 0 {
		b = strconv.AppendInt(append(b, " used="...), int64(n), 10)
	}
	for _, ip := range sortedAddrs(o.Status.IPAM.ReleaseIPs) {
		b = append(append(ip.AppendTo(append(b, ' ')), '='), o.Status.IPAM.ReleaseIPs[ip]...)
	}
	if e := o.Status.IPAM.OperatorStatus.Error; e != "" {
		b = strconv.AppendQuote(append(b, " error="...), e)
	}
	return b
}

// AppendText implements Effect.
func (Follow) AppendText(b []byte) []byte { return append(b, "follow"...) }

// AppendText implements Effect.
func (LookAtAgent) AppendText(b []byte) []byte { return append(b, "look-at-agent"...) }

// AppendText implements Effect.
func (e TellAgent) AppendText(b []byte) []byte {
	b = append(b, "tell"...)
	for _, p := range e.Blocks {
		b = p.AppendTo(append(b, ' '))
	}
	return b
}

// AppendText implements Effect.
func (e RecordEvent) AppendText(b []byte) []byte {
	b = append(append(append(append(b, "event "...), e.Name...), ' '), e.Type...)
	return strconv.AppendQuote(append(append(append(b, ' '), e.Reason...), ' '), e.Message)
}

// AppendText implements Effect.
func (e Note) AppendText(b []byte) []byte { return append(append(b, "note "...), e.Text...) }

// AppendText implements Effect.
func (e WakeAt) AppendText(b []byte) []byte {
	if e.At.IsZero() {
		return append(b, "wake never"...)
	}
	return e.At.UTC().AppendFormat(append(b, "wake "...), time.RFC3339Nano)
}

// AppendText implements Effect.
func (e End) AppendText(b []byte) []byte {
	return strconv.AppendQuote(append(b, "end "...), e.Why.Error())
}
