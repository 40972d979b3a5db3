package agent

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// How often VPP is asked for the lease of its DHCP client: VPP tells nobody when it loses one, and an agent that did
// not make the client of nothing at all.
const (
	leaseAwaited = time.Second
	leaseWatched = 5 * time.Second
)

// lease is the node's interconnect address where VPP leases it by DHCP.
type lease struct {
	// addr was leased last, in this life or an earlier one. The node stays wired with it while there is none: that costs
	// nobody anything, as VPP has no way out then, and the same address most often comes back.
	addr netip.Prefix
	// held: a dump has shown it since VPP was connected; since is when this or its opposite began.
	held  bool
	since time.Time
	// lookAt is when VPP is asked next.
	lookAt time.Time
}

// leasing reports whether the node's address comes by DHCP.
func (a *Agent) leasing() bool {
	switch {
	case a.InSTNMode() || a.told.IsValid() || a.own.address.IsValid():
		return false
	case a.own.dhcp:
		return true
	}
	return a.ranges.known && !a.ranges.plan.NodeInterconnect.IsValid()
}

// mainNIC is VPP's name of the node's main physical interface, empty where there is none.
func (a *Agent) mainNIC() string {
	if a.own.nic != "" {
		return a.own.nic
	}
	for _, name := range a.nics {
		if !slices.ContainsFunc(a.own.others, func(o mode.OtherNIC) bool { return o.Name == name }) {
			return name
		}
	}
	return ""
}

// leasesTold takes what a dump has shown.
func (a *Agent) leasesTold() {
	nic, r := a.mainNIC(), &a.lease
	if !a.watchesLeases() {
		return
	}
	r.lookAt = a.now.Add(leaseWatched)
	for _, o := range a.node.Others {
		if _, held := a.wire.Lease(o.Name); o.DHCP && !held {
			r.lookAt = a.now.Add(leaseAwaited)
		}
	}
	if a.leasing() && nic != "" {
		a.mainLeaseTold(nic)
	}
	a.setAlarm()
}

// mainLeaseTold takes what a dump has shown of the main interface's lease.
func (a *Agent) mainLeaseTold(nic string) {
	r := &a.lease
	l, held := a.wire.Lease(nic)
	if held != r.held {
		if !held {
			a.emit(Log{Level: levelWarn, Reason: ReasonLeaseLost, Message: "the DHCP lease of " + r.addr.String() + " on " + nic + " is lost, and VPP asks for another"})
		}
		r.held, r.since = held, a.now
	}
	if !held {
		r.lookAt = a.now.Add(leaseAwaited)
	} else if l.Addr != r.addr {
		a.log(levelInfo, "%s is leased on %s", l.Addr, nic)
		r.addr = l.Addr
		a.journal.persist([]Record{a.leaseRecord()}, journalWaiter{})
		a.todo |= todoNode | todoIdentity
	}
}

// watchesLeases reports whether VPP leases an address of the node.
func (a *Agent) watchesLeases() bool {
	return a.leasing() && a.mainNIC() != "" || slices.ContainsFunc(a.node.Others, func(o mode.OtherNIC) bool { return o.DHCP })
}

// LeaseOf is what VPP has leased on an interface as far as it has told, false for nothing.
func (a *Agent) LeaseOf(nic string) (netip.Prefix, bool) {
	l, ok := a.wire.Lease(nic)
	return l.Addr, ok
}

// awaitLease begins to ask VPP: it may have told of its clients before anybody knew that there is to be one.
func (a *Agent) awaitLease() {
	if r := &a.lease; r.lookAt.IsZero() && a.watchesLeases() {
		r.lookAt = a.now.Add(leaseAwaited)
	}
}

// watchLease asks VPP again when it is time.
func (a *Agent) watchLease() {
	if r := &a.lease; due(r.lookAt, a.now) {
		r.lookAt = time.Time{} // the answer sets it again
		if a.vppUp {
			a.wire.LookForLeases()
		}
	}
}

// forgetLease notes that VPP is gone, and its DHCP client with it.
func (a *Agent) forgetLease() {
	a.lease.held, a.lease.since, a.lease.lookAt = false, a.now, time.Time{}
}

func (a *Agent) leaseRecord() Record { return Record{Kind: RecordLease, NodeAddress: a.lease.addr} }

// unleased says what the node's address waits for where it comes by DHCP; empty when it has come.
func (a *Agent) unleased() string {
	switch {
	case !a.leasing() || a.lease.held:
		return ""
	case a.mainNIC() == "":
		return "the node's address comes by DHCP, and VPP has no interface to lease it on"
	}
	switch done, err := a.wire.Done(groupNode); {
	case err != nil:
		return err.Error()
	case !done:
		return "no address is leased on " + a.mainNIC() + ", and it is not known yet whether VPP asks for one"
	}
	return "no address is leased on " + a.mainNIC() + ": VPP asks for one, and no DHCP server answers"
}
