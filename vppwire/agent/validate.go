package agent

import (
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// booksEvery is after how many steps the books are compared, answers to calls not counted: the books grow with the
// node's pods, and on a node of a large mesh nearly all steps are calls that have nothing to do with them.
const booksEvery = 16

// Validate has the agent panic from now on where a step breaks its own contract (see the package's comment): for
// simulators and tests.
func (a *Agent) Validate() { a.validates = true }

// validate looks at what a step has done.
func (a *Agent) validate(ev Event, calling bool) {
	switch ev.(type) {
	case Called, VPPUp, VPPDown:
		calling = false
	}
	calls, alarms := 0, 0
	for _, e := range a.out {
		switch e := e.(type) {
		case CallDataplane:
			calls++
		case WakeAt:
			alarms++
		case Persist:
			a.assert(e.Seq > a.lastWrite, "write %d of the journal comes behind write %d", e.Seq, a.lastWrite)
			a.assert(e.GivenUp < e.Seq, "write %d of the journal gives up write %d", e.Seq, e.GivenUp)
			a.assert(len(e.Records) > 0, "write %d of the journal is empty", e.Seq)
			a.lastWrite = e.Seq
		}
	}
	a.assert(calls <= 1, "%d calls of one step", calls)
	a.assert(calls == 0 || !calling, "a call while another one has no answer")
	a.assert(alarms <= 1, "%d alarms of one step", alarms)
	a.validateID()
	a.steps++
	if _, called := ev.(Called); !called {
		if a.bookSteps++; a.bookSteps%booksEvery == 0 {
			a.validateBooks()
		}
	}
	if a.steps-a.walked > uint64(a.wire.Size()) { // a walk costs as much as what is walked
		a.walked = a.steps
		if err := a.wire.Inconsistent(); err != nil {
			a.assert(false, "%s", err)
		}
	}
}

// validateID looks at what ID the node acts on: one of a claim with a UID, and not another one of the same Node object
// without having given up the first.
func (a *Agent) validateID() {
	id, claim := a.ids.Acting(), a.ids.Claim()
	if id == 0 {
		a.acted = nodeid.Claim{}
		return
	}
	if claim == a.acted && claim.ID == id { // as nearly always, and arguments for words cost memory
		return
	}
	a.assert(claim.ID == id && claim.UID != "", "it acts on ID %d, and its claim is %+v", id, claim)
	a.assert(a.acted.UID != claim.UID || a.acted.ID == id, "it acts on ID %d, and on %d before, of the same Node object %s", id, a.acted.ID, claim.UID)
	a.acted = claim
}

// validateBooks compares attachments with the allocator's leases: each has its own address, and the allocator says so.
func (a *Agent) validateBooks() {
	leases := map[ipam.Owner]netip.Addr{}
	for l := range a.alloc.Leases() {
		leases[l.Owner] = l.Addr
	}
	owners := map[netip.Addr]ipam.Owner{}
	for t := range a.Attachments() {
		addr := t.Lease.Addr
		if !addr.IsValid() || t.Stale || t.Removing {
			continue
		}
		other, twice := owners[addr]
		a.assert(!twice, "%s is attached for %s and for %s", addr, t.Sandbox.Owner, other)
		owners[addr] = t.Sandbox.Owner
		leased, known := leases[t.Sandbox.Owner]
		a.assert(!known || leased == addr, "%s is attached with %s, and the allocator says %s", t.Sandbox.Owner, addr, leased)
	}
}

func (a *Agent) assert(so bool, format string, args ...any) {
	if !so {
		panic("agent: " + fmt.Sprintf(format, args...))
	}
}
