package agent

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// Bounds of journal work.
const (
	// compactFactor and compactSlack: the journal is rewritten when it holds more than compactFactor times the records
	// that the state needs, plus compactSlack. Four keeps the cost of rewriting below a third of all writing.
	compactFactor = 4
	compactSlack  = 64
	// journalRetryFirst doubles to journalRetryMost while the disk refuses to write.
	journalRetryFirst = time.Second
	journalRetryMost  = 30 * time.Second
)

// journal knows which writes are outstanding and who waits for them.
type journal struct {
	*core
	of      journaled
	seq     uint64 // of the last Persist
	durable uint64 // the highest seq known to be on disk
	lost    uint64 // the highest seq that is given up, because it failed or an earlier one did
	// since counts records written since the journal was last rewritten (or read).
	since int
	// unverified: a write failed, so what the disk holds is not certain. The next write replaces everything.
	unverified bool
	// stale: records on disk say more than is true.
	stale   bool
	tries   int
	retryAt time.Time
	waiters []journalWaiter
	// drops are blocks that the allocator has given up; they stay published until the disk knows. Otherwise another node
	// could give out addresses that a crash here brings back to life.
	drops []droppedBlock
}

// journaled is whose journal it is.
type journaled interface {
	// snapshot is the shortest history that recreates the state, and liveRecords estimates its length.
	snapshot() []Record
	liveRecords() int
	// written goes on after a write; attachFailed undoes an attachment that could not be written, false when it is being
	// removed already.
	written(w journalWaiter)
	attachFailed(t *attachment, err error) bool
}

// droppedBlock is a block that is gone when the Persist with its seq is on disk.
type droppedBlock struct {
	prefix netip.Prefix
	seq    uint64
}

// journalWaiter is one thing that goes on when the Persist with its seq is on disk; ascending by seq.
type journalWaiter struct {
	seq   uint64
	what  persistStep
	att   *attachment
	gen   int64
	claim nodeid.Claim
}

// persistStep is what a write was for.
type persistStep uint8

const (
	stepNothing persistStep = iota
	stepAttach              // lease and sandbox of att
	stepDetach              // release of att, or its undoing
	stepNode                // claim
	stepPools               // pools of generation gen
	stepSteal               // what the host had on its NIC
	stepReturn              // that the host has its NIC back
)

// persist has records written. They must already be part of the state that snapshot returns, because any write may turn
// into one that replaces everything.
func (j *journal) persist(records []Record, w journalWaiter) {
	j.seq++
	w.seq = j.seq
	if w.what != stepNothing {
		j.waiters = append(j.waiters, w)
	}
	for i := range records {
		j.drop(&records[i].IPAM, j.seq)
	}
	j.since += len(records)
	if j.unverified || j.stale || j.since > compactFactor*j.of.liveRecords()+compactSlack {
		j.since, j.stale = 0, false
		j.emit(Persist{Seq: j.seq, GivenUp: j.lost, Replace: true, Records: j.of.snapshot()})
		return
	}
	j.emit(Persist{Seq: j.seq, GivenUp: j.lost, Records: records})
}

// drop notes that the write with this seq drops a block, if it does.
func (j *journal) drop(r *ipam.Record, seq uint64) {
	if r.Op == ipam.OpDrop {
		j.drops = append(j.drops, droppedBlock{r.Prefix, seq})
	}
}

// rewrite replaces everything by the present state, for what no record can take back.
func (j *journal) rewrite() {
	j.stale = true
	j.persist(nil, journalWaiter{})
}

// persisted goes on with what waited for a write, or undoes it.
func (j *journal) persisted(e Persisted) {
	if e.Seq > j.seq {
		j.log(levelError, "journal: Persisted %d was never asked for", e.Seq)
		return
	}
	if e.Seq <= j.lost {
		return // given up together with the first that failed
	}
	if e.Err != nil {
		j.failed(e)
		return
	}
	if e.Seq <= j.durable {
		return
	}
	j.durable = e.Seq
	if j.unverified {
		j.unverified, j.tries, j.retryAt = false, 0, time.Time{} // everything behind what is given up replaces everything
		j.log(levelInfo, "journal: written again")
		j.todo |= todoJournal
	}
	if len(j.drops) > 0 {
		j.drops = slices.DeleteFunc(j.drops, func(d droppedBlock) bool { return d.seq <= e.Seq })
		j.todo |= todoIdentity
	}
	n := 0
	for n < len(j.waiters) && j.waiters[n].seq <= e.Seq {
		n++
	}
	ready := slices.Clone(j.waiters[:n])
	j.waiters = slices.Delete(j.waiters, 0, n)
	for _, w := range ready {
		j.of.written(w)
	}
}

// written goes on after a write.
func (a *Agent) written(w journalWaiter) {
	switch w.what {
	case stepAttach:
		a.pods.attachWritten(w.att)
	case stepDetach:
		a.pods.detachWritten(w.att)
	case stepNode:
		a.identity(nodeid.Saved(w.claim))
	case stepPools:
		a.poolsWritten(w.gen)
	case stepSteal:
		a.stealWritten()
	case stepReturn:
		a.returnWritten()
	}
}

// failed: an ADD is undone and told so; everything else is true whether the disk knows it or not and is written again,
// as a whole, until it is there. What failed may be on disk all the same, so that a crash brings an undone ADD back: it
// stays, on its way out, until the rewriting has reached the disk, and whoever asks for its removal waits for that.
func (j *journal) failed(e Persisted) {
	n := 0
	for n < len(j.waiters) && j.waiters[n].seq < e.Seq {
		n++
	}
	undone := j.waiters[n:]
	j.unverified, j.lost = true, j.seq
	j.retryAt = j.now.Add(backOff(journalRetryFirst, journalRetryMost, j.tries))
	j.tries++
	j.log(levelError, "journal: write %d: %v", e.Seq, e.Err)
	for i := range j.drops {
		j.drops[i].seq = max(j.drops[i].seq, j.seq+1)
	}
	// They wait for the write that replaces everything, which is the next one.
	held := j.waiters[:n]
	for _, w := range undone {
		w.seq = j.seq + 1
		if w.what == stepAttach {
			if !j.of.attachFailed(w.att, e.Err) {
				continue
			}
			w.what = stepDetach
		}
		held = append(held, w)
	}
	j.waiters = held
	j.todo |= todoJournal
}

// outstanding: a write is under way that is not given up.
func (j *journal) outstanding() bool { return max(j.durable, j.lost) < j.seq }

// hasten has an unverified journal rewritten at once: somebody asks for something that waits for it.
func (j *journal) hasten() {
	if j.unverified && !j.outstanding() {
		j.retryAt = j.now
		j.todo |= todoJournal
	}
}

// retry rewrites an unverified journal when its time has come.
func (j *journal) retry() {
	if !j.unverified || j.outstanding() || !due(j.retryAt, j.now) {
		return
	}
	j.retryAt = time.Time{} // the answer sets it anew
	j.persist(nil, journalWaiter{})
}

// liveRecords estimates how many records the state needs.
func (a *Agent) liveRecords() int { return 7 + 2*len(a.pods.byOwner) }

// snapshot is the shortest history that recreates the state. Sandboxes of the earlier boot come behind its name.
func (a *Agent) snapshot() []Record {
	leases := a.alloc.Records()
	records := make([]Record, 0, len(leases)+len(a.pods.byOwner)+len(a.ranges.history)+4)
	records = append(records, Record{Kind: RecordName, Name: a.cfg.NodeName})
	for _, p := range a.ranges.history {
		records = append(records, poolsRecords(p)...)
	}
	if a.ids.Claim().ID != 0 {
		records = append(records, a.nodeRecord())
	}
	if a.lease.addr.IsValid() && a.leasing() {
		records = append(records, a.leaseRecord())
	}
	if a.steal.of.Has() {
		records = append(records, stolenRecords(a.steal.of)...)
	}
	for _, r := range leases {
		records = append(records, Record{Kind: RecordIPAM, IPAM: r})
	}
	list := a.pods.recorded()
	for _, stale := range [...]bool{true, false} {
		boot := a.boot
		if stale {
			boot = a.pods.staleBoot
		}
		named := false
		for _, att := range list {
			if att.stale != stale {
				continue
			}
			if !named {
				records = a.appendBoot(records, boot, stale)
				named = true
			}
			records = append(records, Record{Kind: RecordSandbox, Sandbox: att.sandbox, Number: att.number})
		}
		if !stale && !named {
			records = a.appendBoot(records, boot, stale)
		}
	}
	return records
}

// appendBoot names a boot, and says of the present one when it began.
func (a *Agent) appendBoot(records []Record, boot string, stale bool) []Record {
	records = append(records, Record{Kind: RecordBoot, Boot: boot})
	if !stale && !a.began.IsZero() {
		records = append(records, Record{Kind: RecordClock, Began: a.began})
	}
	return records
}

func (a *Agent) nodeRecord() Record {
	c := a.ids.Claim()
	return Record{Kind: RecordNode, NodeID: c.ID, NodeUID: c.UID, NodeAddress: a.told}
}

// backOff is first doubled tries times, at most most.
func backOff(first, most time.Duration, tries int) time.Duration {
	for ; tries > 0 && first < most; tries-- {
		first *= 2
	}
	return min(first, most)
}

// attachFailed undoes an attachment that could not be written.
func (a *Agent) attachFailed(t *attachment, err error) bool { return a.pods.attachFailed(t, err) }
