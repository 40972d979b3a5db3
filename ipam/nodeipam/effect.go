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
		// UID, where given, is that of the object: another one must not get the condition.
		UID string
	}
	// SetNetworkUnavailable sets it to True, reason NoRouteCreated.
	SetNetworkUnavailable struct {
		ID                 uint64
		Name, Message, UID string
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
	// ListRoutes reads the routes of the cloud's network, at least those of this cluster. Routes comes back.
	ListRoutes struct {
		ID      uint64
		Cluster string
	}
	// CreateRoute makes a route under its name, to the machine of its node, which the cloud knows by ProviderID. One that is
	// there already is done; a destination that is another route's is refused.
	CreateRoute struct {
		ID         uint64
		ProviderID string
		Route      Route
	}
	// DeleteRoute deletes the route of that name. One that is not there is done.
	DeleteRoute struct {
		ID    uint64
		Route Route
	}
)

// Words to others; nothing comes back.
type (
	// RecordEvent records a Kubernetes event about a node. Type is Normal, as upstream's, and RouteController's Warning.
	RecordEvent struct{ Name, UID, Type, Reason, Message string }
	// WakeAt asks for Woke at that time; a later WakeAt replaces an earlier one, the zero time cancels.
	WakeAt struct{ At time.Time }
	// GiveUp says that the controller cannot do its work; upstream ends the process.
	GiveUp struct{ Why error }
)

func (ListNodes) effect()             {}
func (GetNode) effect()               {}
func (TouchNode) effect()             {}
func (PatchNodeCIDRs) effect()        {}
func (SetNetworkAvailable) effect()   {}
func (SetNetworkUnavailable) effect() {}
func (GetAliases) effect()            {}
func (AddAlias) effect()              {}
func (ListRoutes) effect()            {}
func (CreateRoute) effect()           {}
func (DeleteRoute) effect()           {}
func (RecordEvent) effect()           {}
func (WakeAt) effect()                {}
func (GiveUp) effect()                {}

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
	if id >= routeIDs {
		b, id = append(b, 'r'), id-routeIDs
	}
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
	return condition(b, "network-available", e.ID, e.Name, e.UID, e.Message)
}

// AppendText implements Effect.
func (e SetNetworkUnavailable) AppendText(b []byte) []byte {
	return condition(b, "network-unavailable", e.ID, e.Name, e.UID, e.Message)
}

func condition(b []byte, verb string, id uint64, name, uid, message string) []byte {
	b = numbered(b, verb, id, name)
	if uid != "" {
		b = append(append(b, " uid="...), uid...)
	}
	return strconv.AppendQuote(append(b, ' '), message)
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
func (e ListRoutes) AppendText(b []byte) []byte { return numbered(b, "list-routes", e.ID, e.Cluster) }

// AppendText implements Effect.
func (e CreateRoute) AppendText(b []byte) []byte {
	return numbered(b, "create-route", e.ID, e.Route.Name, e.Route.Destination, e.Route.Node, e.ProviderID)
}

// AppendText implements Effect.
func (e DeleteRoute) AppendText(b []byte) []byte {
	return numbered(b, "delete-route", e.ID, e.Route.Name, e.Route.Destination)
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
