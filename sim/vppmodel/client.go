package vppmodel

import (
	"maps"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/dhcp"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
)

// InProcess is the client that Invoke, NewStream and WatchEvent speak for: a user of the VPP in the same process.
const InProcess uint32 = 0

// Answer performs one request or dump for a client, numbered by the caller, and returns the answers in their order: one
// reply, a dump's details, or details and the reply that ends them. Clients differ in nothing but the events they get.
// Errors: ErrKilled, *UnknownMessageError.
func (v *VPP) Answer(client uint32, m api.Message) ([]api.Message, error) {
	if v.killed {
		return nil, ErrKilled
	}
	if details, isDump := v.dump(m); isDump {
		return details, nil
	}
	v.caller = client
	r, err := v.perform(m, nil)
	v.caller = InProcess
	if err != nil {
		return nil, err
	}
	return []api.Message{r}, nil
}

// Announce hands events for clients other than InProcess to f, during the call that causes them. A nil f hears nothing.
func (v *VPP) Announce(f func(client uint32, event api.Message)) { v.announce = f }

// Forget ends a client's subscription to events, as VPP does when a connection ends. Its DHCP clients stay and notify
// no client.
func (v *VPP) Forget(client uint32) {
	delete(v.wantEvents, client)
	v.forgetNeighborWatchers(client)
	for _, c := range v.dhcp { // in any order: each is changed alike
		if c.client == client {
			c.config.WantDHCPEvent = false
		}
	}
}

// tellClient hands an event to a client, wherever it is.
func (v *VPP) tellClient(client uint32, event api.Message) {
	switch {
	case client == InProcess:
		v.tell(event)
	case v.announce != nil:
		v.announce(client, event)
	}
}

// tellInterface announces a changed, new or deleted interface to the subscribed clients: events report what has
// changed, not the state (src/vnet/interface_api.c, link_state_process).
func (v *VPP) tellInterface(i *iface, risen interface_types.IfStatusFlags, deleted bool) {
	if len(v.wantEvents) == 0 {
		return
	}
	for _, client := range slices.Sorted(maps.Keys(v.wantEvents)) {
		v.tellClient(client, &interfaces.SwInterfaceEvent{PID: v.wantEvents[client], SwIfIndex: index(i.index), Flags: risen, Deleted: deleted})
	}
}

func (v *VPP) tellLease(at uint32, c *dhcpClient) {
	if c.config.WantDHCPEvent {
		v.tellClient(c.client, &dhcp.DHCPComplEvent{PID: c.config.PID, Lease: v.leaseMessage(at, c)})
	}
}

// wantInterfaceEvents is about the client, whatever PID it gives: asking twice and not wanting what was not asked for
// are both -31 (src/vlibapi/api_helper_macros.h, pub_sub_handler).
func (v *VPP) wantInterfaceEvents(m *interfaces.WantInterfaceEvents) int32 {
	_, wants := v.wantEvents[v.caller]
	switch {
	case wants == (m.EnableDisable != 0):
		return invalidReg
	case wants:
		delete(v.wantEvents, v.caller)
	default:
		v.wantEvents[v.caller] = m.PID
	}
	return ok
}
