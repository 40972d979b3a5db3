package nodeipam

import (
	"net/netip"
	"strconv"
	"time"
)

// Effect is something that a controller asks its driver to do: one of the types below. Each prints as one canonical
// line.
type Effect interface {
	AppendText(b []byte) []byte
	effect()
}

// Requests to the API server. IDs are never used twice in one life of a controller.
type (
	// ListNodes reads every node, consistently: nothing that was written before may be missing. Listed comes back.
	ListNodes struct{ ID uint64 }
	// GetNode reads one node, consistently.
	GetNode struct {
		ID   uint64
		Name string
	}
	// TouchNode writes something harmless on the node (an annotation), so that its ResourceVersion changes. It must not be
	// applied to an object with another UID or ResourceVersion.
	TouchNode struct {
		ID                         uint64
		Name, UID, ResourceVersion string
	}
	// PatchNodeCIDRs sets spec.podCIDRs, and spec.podCIDR to the first of them. It must not be applied to an object with
	// another UID, nor with another ResourceVersion where one is given.
	PatchNodeCIDRs struct {
		ID                         uint64
		Name, UID, ResourceVersion string
		CIDRs                      []netip.Prefix
	}
	// SetNetworkAvailable sets the condition NetworkUnavailable to False, reason RouteCreated, with this message.
	SetNetworkAvailable struct {
		ID            uint64
		Name, Message string
	}
)

// Requests to the cloud.
type (
	// GetAliases reads the alias ranges of the node's first interface.
	GetAliases struct {
		ID               uint64
		Name, ProviderID string
	}
	// AddAlias adds one.
	AddAlias struct {
		ID               uint64
		Name, ProviderID string
		CIDR             netip.Prefix
	}
)

// Words to others; nothing comes back.
type (
	// RecordEvent records a Kubernetes event about a node. Type is always Normal upstream, and here.
	RecordEvent struct{ Name, UID, Type, Reason, Message string }
	// WakeAt asks for Woke at that time; a later WakeAt replaces an earlier one, the zero time cancels.
	WakeAt struct{ At time.Time }
	// GiveUp says that the controller cannot do its work; upstream ends the process.
	GiveUp struct{ Why error }
)

func (ListNodes) effect()           {}
func (GetNode) effect()             {}
func (TouchNode) effect()           {}
func (PatchNodeCIDRs) effect()      {}
func (SetNetworkAvailable) effect() {}
func (GetAliases) effect()          {}
func (AddAlias) effect()            {}
func (RecordEvent) effect()         {}
func (WakeAt) effect()              {}
func (GiveUp) effect()              {}

func words(b []byte, list ...string) []byte {
	for i, w := range list {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, w...)
	}
	return b
}

func numbered(b []byte, verb string, id uint64, list ...string) []byte {
	b = append(words(b, verb), " #"...)
	b = strconv.AppendUint(b, id, 10)
	if len(list) > 0 {
		b = append(b, ' ')
	}
	return words(b, list...)
}

func prefixes(b []byte, list []netip.Prefix) []byte {
	for _, p := range list {
		b = p.AppendTo(append(b, ' '))
	}
	return b
}

// AppendText implements Effect.
func (e ListNodes) AppendText(b []byte) []byte { return numbered(b, "list-nodes", e.ID) }

// AppendText implements Effect.
func (e GetNode) AppendText(b []byte) []byte { return numbered(b, "get-node", e.ID, e.Name) }

// AppendText implements Effect.
func (e TouchNode) AppendText(b []byte) []byte {
	return numbered(b, "touch-node", e.ID, e.Name, "uid="+e.UID, "version="+e.ResourceVersion)
}

// AppendText implements Effect.
func (e PatchNodeCIDRs) AppendText(b []byte) []byte {
	return prefixes(numbered(b, "patch-node", e.ID, e.Name, "uid="+e.UID, "version="+e.ResourceVersion), e.CIDRs)
}

// AppendText implements Effect.
func (e SetNetworkAvailable) AppendText(b []byte) []byte {
	return strconv.AppendQuote(append(numbered(b, "network-available", e.ID, e.Name), ' '), e.Message)
}

// AppendText implements Effect.
func (e GetAliases) AppendText(b []byte) []byte {
	return numbered(b, "get-aliases", e.ID, e.Name, e.ProviderID)
}

// AppendText implements Effect.
func (e AddAlias) AppendText(b []byte) []byte {
	return prefixes(numbered(b, "add-alias", e.ID, e.Name, e.ProviderID), []netip.Prefix{e.CIDR})
}

// AppendText implements Effect.
func (e RecordEvent) AppendText(b []byte) []byte {
	return strconv.AppendQuote(append(words(b, "event", e.Name, e.Type, e.Reason), ' '), e.Message)
}

// AppendText implements Effect.
func (e WakeAt) AppendText(b []byte) []byte {
	if e.At.IsZero() {
		return words(b, "wake never")
	}
	return e.At.UTC().AppendFormat(words(b, "wake "), time.RFC3339Nano)
}

// AppendText implements Effect.
func (e GiveUp) AppendText(b []byte) []byte {
	return strconv.AppendQuote(words(b, "give-up "), e.Why.Error())
}
