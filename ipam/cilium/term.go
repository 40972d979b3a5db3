package cilium

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// PoolTermConfig sets a PoolTerm up.
type PoolTermConfig struct {
	// Pools have their ranges, and nothing was restored into them.
	Pools Pools
	// LedgerSlack is how many entries the ledger may have beyond twice those that it needs, before it is begun anew; 0 is
	// 128.
	LedgerSlack int
}

// PoolTerm is one life of the elected operator of modes cluster-pool and multi-pool. It does one thing after the other:
// it restores the ledger, enters what resources show and the ledger does not know, and then sees to one node at a time,
// whose entries go into the ledger before its resource is written. It ends when it is not sure of the ledger any more.
//
// It makes no request by itself: each is an effect, and its answer an event. It has no clock: events come with the
// time. A request without an answer is unknown, never failed.
type PoolTerm struct {
	cfg    PoolTermConfig
	ledger termLedger
	// until is the end of the lease as last told, zero for none; begun: the first Leading has come.
	until time.Time
	begun bool
	// last is the ID of the last request, pending that of the one under way and then what its answer is for.
	last, pending uint64
	then          func(Event)

	// ready: ledger and resources have been read. views are the resources as seen last, by name, gone the incarnations
	// that went, by name and UID.
	ready bool
	views map[string]Object
	gone  map[string]string
	queue []string
	// short are nodes to be looked at again: they found no block, or a write about them is not known to be done. told are
	// those of which an event said that there is no block.
	short []string
	told  map[string]bool
	// again is when that is, asked the time of the last WakeAt.
	again, asked time.Time

	now  time.Time
	over bool
	out  []Effect
}

// again is until a term looks again at nodes for which there was no block: blocks may have cooled.
const again = 5 * time.Second

// errLeaseOver ends a term whose lease was not renewed in time. Its elector, which counts from a later moment and not
// while the machine sleeps, may not know yet.
var errLeaseOver = errors.New("the lease was not renewed in time")

// ReasonNoCIDR is the event about a node for which there is no block.
const ReasonNoCIDR = "CIDRNotAvailable"

// NewPoolTerm returns a term that does nothing before the first Leading.
func NewPoolTerm(c PoolTermConfig) *PoolTerm {
	if c.LedgerSlack == 0 {
		c.LedgerSlack = ledgerSlack
	}
	return &PoolTerm{cfg: c, ledger: termLedger{entries: make(map[uint64]int64)}, views: make(map[string]Object),
		gone: make(map[string]string), told: make(map[string]bool)}
}

// Step takes one event and returns what is to be done, in order.
func (t *PoolTerm) Step(now time.Time, ev Event) []Effect {
	if t.over {
		return nil
	}
	t.now = now
	switch ev := ev.(type) {
	case Leading:
		if t.until = ev.Until; !t.begun {
			t.begun = true
			t.open()
		}
	case Listed:
		t.listed(ev.Objects)
	case Seen:
		t.view(ev.Object)
	case Gone:
		t.lost(ev.Object)
	case Stored:
		t.answered(ev.ID, ev)
	case Wrote:
		t.answered(ev.ID, ev)
	case PoolsChanged:
		t.requeueShort()
	case Woke:
		if !t.again.IsZero() && !now.Before(t.again) {
			t.again = time.Time{}
			t.requeueShort()
			t.ledger.sweeping = sweepMost
		}
	default:
		panic(fmt.Sprintf("cilium: an operator's term heard %T", ev))
	}
	t.proceed()
	t.wake()
	out := t.out
	t.out = nil
	return out
}

func (t *PoolTerm) say(e Effect) { t.out = append(t.out, e) }

// end is the last that is heard of a term.
func (t *PoolTerm) end(why error) {
	t.over, t.then = true, nil
	t.say(End{why})
}

// leads reports whether this process leads for certain.
func (t *PoolTerm) leads() bool { return t.until.IsZero() || t.now.Before(t.until) }

// request makes a request, of which one is under way at a time.
func (t *PoolTerm) request(e func(id uint64) Effect, then func(Event)) {
	if !t.leads() {
		t.end(errLeaseOver)
		return
	}
	t.last++
	t.pending, t.then = t.last, then
	t.say(e(t.last))
}

// ask makes a request to the ledger's store.
func (t *PoolTerm) ask(e func(id uint64) Effect, then func(Stored)) {
	t.request(e, func(ev Event) { then(ev.(Stored)) })
}

func (t *PoolTerm) answered(id uint64, ev Event) {
	if t.then == nil || id != t.pending {
		return // another life's, or a second answer
	}
	then := t.then
	t.then = nil
	then(ev)
}

// adopt enters what resources show and the ledger does not know.
func (t *PoolTerm) adopt(objects []Object) {
	var entries []Claim
	for _, x := range objects {
		if x.Bad != nil {
			continue
		}
		more, err := t.cfg.Pools.Adopt(t.now, x.CiliumNode)
		entries = append(entries, more...)
		if err != nil {
			t.say(Note{x.Metadata.Name + " is left alone: " + err.Error()})
		}
	}
	t.append(entries, func() {
		t.cfg.Pools.FinishRestore()
		t.ready = true
		alive := map[string]bool{"-": true} // a block that cools belongs to no node
		for _, name := range sortedKeys(t.views) {
			alive[t.views[name].Metadata.Incarnation()] = true
		}
		// A node that is in the ledger and has no resource went while no operator ran.
		for _, c := range t.cfg.Pools.Records() {
			if c.Op == OpClaim && !alive[c.Node] {
				t.gone[c.Node] = c.Node
				t.enqueue(c.Node)
			}
		}
	})
}

// proceed does what is due until a request is under way.
func (t *PoolTerm) proceed() {
	for t.ready && !t.over && t.then == nil {
		switch {
		case len(t.queue) > 0:
			t.next()
		case t.long() && t.compact():
		case t.ledger.sweeping > 0 && len(t.ledger.dead) > 0:
			t.sweep()
		default:
			return
		}
	}
}

// next sees to the next node of the queue.
func (t *PoolTerm) next() {
	name := t.queue[0]
	t.queue = t.queue[1:]
	if incarnation, ok := t.gone[name]; ok {
		delete(t.gone, name)
		t.append(t.cfg.Pools.Delete(t.now, incarnation), t.requeueShort) // others may have waited for its blocks
		return
	}
	if x := t.views[name]; x.exists() && x.Bad == nil {
		t.reconcile(x)
	}
}

// reconcile answers one resource.
func (t *PoolTerm) reconcile(x Object) {
	allocated, entries, err := t.cfg.Pools.Reconcile(t.now, x.CiliumNode)
	if err != nil {
		t.refuse(x, err)
	} else {
		delete(t.told, x.Metadata.Name)
	}
	t.append(entries, func() {
		if slices.ContainsFunc(entries, func(c Claim) bool { return c.Op == OpReturn }) {
			t.requeueShort()
		}
		if !slices.EqualFunc(allocated, x.Spec.IPAM.Pools.Allocated, PoolAllocation.equal) {
			t.write(x, allocated)
		}
	})
}

func (a PoolAllocation) equal(b PoolAllocation) bool {
	return a.Pool == b.Pool && slices.Equal(a.CIDRs, b.CIDRs)
}

// refuse says once that there is no block for a node.
func (t *PoolTerm) refuse(x Object, err error) {
	name := x.Metadata.Name
	if !t.told[name] {
		t.told[name] = true
		t.say(RecordEvent{Name: name, UID: x.Owner, Type: "Warning", Reason: ReasonNoCIDR, Message: err.Error()})
	}
	t.later(name)
}

// write shows a node what it has.
func (t *PoolTerm) write(x Object, allocated []PoolAllocation) {
	x.CiliumNode = x.Clone()
	x.Spec.IPAM.Pools.Allocated = allocated
	t.request(func(id uint64) Effect { return WriteResource{id, x} }, func(ev Event) {
		switch r := ev.(Wrote); r.Outcome {
		case ipam.Done:
			t.cfg.Pools.Wrote(r.Object.CiliumNode)
			if old := t.views[x.Metadata.Name]; old.exists() && old.Metadata.UID == x.Metadata.UID && r.Object.newer(old) {
				t.views[x.Metadata.Name] = r.Object
			}
		case ipam.Conflict, ipam.NotFound: // the watch brings what is there
		default:
			t.say(Note{fmt.Sprintf("%s is not shown what it has: %s", x.Metadata.Name, r.Outcome.Because(r.Why))})
			t.later(x.Metadata.Name)
		}
	})
}

// wake asks to be woken when nodes are to be looked at again, or old entries to be deleted.
func (t *PoolTerm) wake() {
	if t.over {
		return
	}
	if len(t.ledger.dead) == 0 {
		t.ledger.sweeping = 0
	}
	if t.again.IsZero() && (len(t.short) > 0 || t.ready && t.ledger.sweeping == 0 && len(t.ledger.dead) > 0) {
		t.again = t.now.Add(again)
	}
	if !t.again.Equal(t.asked) {
		t.asked = t.again
		t.say(WakeAt{t.again})
	}
}

// Pending says what is under way, empty when nothing is.
func (t *PoolTerm) Pending() string {
	switch {
	case !t.ready:
		return "is starting"
	case t.then != nil || len(t.queue) > 0:
		return "is at work"
	}
	return ""
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
