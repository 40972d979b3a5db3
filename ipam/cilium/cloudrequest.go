package cilium

import (
	"net/netip"
	"strconv"
)

// Requests to the cloud, or to whatever has single addresses for nodes. CloudAnswered answers each.
type (
	// ListAddresses reads which addresses a node has.
	ListAddresses struct {
		ID   uint64
		Node string
	}
	// AssignAddresses gets a node Count more, or as many as there are, where Placement.Assign says.
	AssignAddresses struct {
		ID    uint64
		Node  string
		Count int
	}
	// UnassignAddresses gives addresses of a node back, in one request for each interface as Cilium does (pkg/aws/eni,
	// ReleaseIPs): one for each address would be throttled. What is not there has gone already.
	UnassignAddresses struct {
		ID   uint64
		Node string
		IPs  []netip.Addr
	}
)

// CloudAnswered answers a request to the cloud, once.
type CloudAnswered struct {
	ID uint64
	// Err is why it failed, or nil. Unknown: nobody knows whether it was performed. Throttled: it was not, as there were
	// too many requests.
	Err                error
	Unknown, Throttled bool
	// Addresses are those that the node has, of ListAddresses, or that it got, of AssignAddresses, also where there was an
	// error.
	Addresses AllocationMap
}

func (CloudAnswered) event() {}

func (ListAddresses) effect()     {}
func (AssignAddresses) effect()   {}
func (UnassignAddresses) effect() {}

// AppendText implements Effect.
func (e ListAddresses) AppendText(b []byte) []byte {
	return append(append(numbered(b, "list-addresses", e.ID), ' '), e.Node...)
}

// AppendText implements Effect.
func (e AssignAddresses) AppendText(b []byte) []byte {
	b = append(append(append(numbered(b, "assign", e.ID), ' '), e.Node...), ' ')
	return strconv.AppendInt(b, int64(e.Count), 10)
}

// AppendText implements Effect.
func (e UnassignAddresses) AppendText(b []byte) []byte {
	b = append(append(numbered(b, "unassign", e.ID), ' '), e.Node...)
	for _, ip := range e.IPs {
		b = ip.AppendTo(append(b, ' '))
	}
	return b
}
