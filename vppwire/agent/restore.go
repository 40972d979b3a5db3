package agent

import (
	"fmt"
	"maps"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// restore rebuilds the state from the journal. A record that contradicts the ones before it is logged and left out, and
// the rest is served: one bad line must not take a node down. What was left out is gone from the journal with its next
// rewriting.
func (a *Agent) restore(e Restored) {
	a.restored, a.boot = true, e.Boot
	clock := a.ownTime(e)
	named := journalOf(e.Records)
	if named != "" && named != a.cfg.NodeName {
		a.emit(Log{Level: levelWarn, Reason: ReasonLeftOut, Message: fmt.Sprintf("journal: it is of node %s, which this machine was: nothing of it counts for %s", named, a.cfg.NodeName)})
		e.Records, a.journal.stale = nil, true
	}
	configured := a.ranges.history
	a.ranges.history = nil
	sandboxes := map[ipam.Owner]*attachment{}
	boot, claim := "", nodeid.Claim{}
	var stolen mode.Stolen
	for _, r := range e.Records {
		switch r.Kind {
		case RecordBoot:
			boot = r.Boot
		case RecordIPAM:
			if err := a.alloc.Apply(r.IPAM); err != nil {
				a.leftOut("%q is left out: %v", r, err)
			}
		case RecordSandbox:
			if !r.Sandbox.Owner.Valid() {
				a.leftOut("%q is left out: the owner is not valid", r)
				continue
			}
			t := &attachment{sandbox: r.Sandbox, number: r.Number, phase: phaseUp, stale: boot != e.Boot, unhooked: a.cfg.EmitHooks, wired: true}
			if t.stale {
				a.pods.staleBoot = boot
			}
			sandboxes[r.Sandbox.Owner] = t
		case RecordGone:
			delete(sandboxes, r.Sandbox.Owner)
		case RecordNode:
			claim, a.told = nodeid.Claim{ID: r.NodeID, UID: r.NodeUID}, r.NodeAddress
		case RecordLease:
			a.lease.addr = r.NodeAddress
		case RecordStolen:
			of, err := stolenOf(r)
			if err != nil {
				a.leftOut("%q is left out: %v", r, err)
				continue
			}
			stolen = of
		case RecordPools:
			a.restorePools(r.Pools)
		case RecordFormat, RecordClock, RecordName: // whoever read it knew enough; ownTime and journalOf have read theirs
		default:
			a.leftOut("a record of kind %d is left out", r.Kind)
		}
	}
	if claim.ID != 0 {
		a.identity(nodeid.Restored(claim))
	}
	a.restoreSteal(stolen)
	a.journal.since = len(e.Records)
	a.restorePods(sandboxes)
	fresh := a.configuredPools(configured)
	if named != a.cfg.NodeName {
		fresh = append(fresh, Record{Kind: RecordName, Name: a.cfg.NodeName})
	}
	if boot != e.Boot || len(e.Records) == 0 {
		fresh = append(fresh, Record{Kind: RecordBoot, Boot: e.Boot})
	}
	fresh = append(fresh, clock...)
	if n := len(a.ranges.history); n > 0 {
		a.actOn(a.ranges.history[n-1])
	}
	a.todo |= todoRanges | todoIdentity
	if len(fresh) > 0 {
		a.journal.persist(fresh, journalWaiter{})
	}
}

// journalOf is the node whose journal these records are, empty where an older version has written them. ID, blocks and addresses of another
// node are its own for as long as the cluster says, also where the machine is the same: pods of the former node have no kubelet any more.
func journalOf(records []Record) (name string) {
	for i := range records {
		if records[i].Kind == RecordName {
			name = records[i].Name
		}
	}
	return name
}

// leftOut tells of a record that is not taken as it stands: a journal that we have written ourselves has none.
func (a *Agent) leftOut(format string, args ...any) {
	a.emit(Log{Level: levelError, Reason: ReasonLeftOut, Message: "journal: " + fmt.Sprintf(format, args...)})
}

func (a *Agent) restorePools(p Pools) {
	if err := a.checkPools(p); err != nil {
		a.leftOut("address ranges of generation %d are left out: %v", p.Generation, err)
		return
	}
	a.ranges.history = append(a.ranges.history, p)
}

// configuredPools adds the ranges of the configuration, unless newer ones have come since.
func (a *Agent) configuredPools(configured []Pools) []Record {
	var fresh []Record
	for _, p := range configured {
		if n := len(a.ranges.history); n > 0 && (a.ranges.history[n-1].Generation > 0 || a.ranges.history[n-1] == p) {
			continue
		}
		a.ranges.history = append(a.ranges.history, p)
		fresh = append(fresh, poolsRecords(p)...)
	}
	return fresh
}

// restorePods joins sandboxes with leases. A sandbox without lease was never answered or has been released: it is
// dropped. A lease without sandbox belongs to nobody who could ask for its release: it is released.
func (a *Agent) restorePods(sandboxes map[ipam.Owner]*attachment) {
	var orphans []ipam.Owner
	var attached []*attachment
	for lease := range a.alloc.Leases() {
		first, is := lease.Owner.First()
		t := sandboxes[first]
		switch {
		case t == nil:
			orphans = append(orphans, lease.Owner)
		case is:
			t.second = lease
		default:
			t.lease = lease
			attached = append(attached, t)
		}
	}
	for o, t := range sandboxes { //vppdrill:unordered sorted below
		switch {
		case t.lease.Addr.IsValid():
			delete(sandboxes, o)
		case t.second.Addr.IsValid():
			orphans = append(orphans, t.second.Owner)
		}
	}
	slices.SortFunc(orphans, compareOwners)
	slices.SortStableFunc(attached, func(x, y *attachment) int { return x.lease.Since.Compare(y.lease.Since) })
	records := a.restoreNumbers(attached)
	for _, t := range attached {
		a.pods.add(t)
	}
	for _, o := range orphans {
		a.leftOut("%s holds an address and has no sandbox: released", o)
		records = append(records, ipamRecords(a.alloc.Release(a.now, o))...)
	}
	for _, o := range slices.SortedFunc(maps.Keys(sandboxes), compareOwners) {
		a.leftOut("sandbox %s has no address: left out", o)
		records = append(records, Record{Kind: RecordGone, Sandbox: Sandbox{Owner: o}})
	}
	if len(records) > 0 {
		a.journal.persist(records, journalWaiter{})
	}
}

// restoreNumbers gives attachments their numbers again. One without, or with one that an older attachment has, gets
// another.
func (a *Agent) restoreNumbers(attached []*attachment) []Record {
	var without []*attachment
	for _, t := range attached {
		if n := t.number; !a.pods.claimNumber(t, n) {
			a.leftOut("%s has number %d, which is taken: it gets another", t.sandbox.Owner, n)
			without = append(without, t)
		}
	}
	var records []Record
	for _, t := range without {
		if !a.pods.takeNumber(t) {
			panic("agent: no number for an attachment that had one")
		}
		records = append(records, Record{Kind: RecordSandbox, Sandbox: t.sandbox, Number: t.number})
	}
	return records
}
