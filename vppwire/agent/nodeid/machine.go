package nodeid

import (
	"fmt"
	"net/netip"
	"time"
)

// Config is what a Machine is made for. All fields are needed unless said otherwise.
type Config struct {
	// Name is the node's.
	Name string
	// Quarantine is how long the ID of a node that is gone is given to nobody.
	Quarantine time.Duration
	// Patience is how long the records of other nodes are waited for where the store has none; negative: not at all, and
	// every store is taken for complete.
	Patience time.Duration
	// Plan knows the addresses.
	Plan Plan
}

// Plan is what the Machine asks about addresses. The answers follow from the embedding's state; Replanned tells when
// those of Regular have changed. It is asked during Step, and must not Step the Machine itself.
type Plan interface {
	// IDs says up to which ID nodes have addresses; false while no address ranges are known.
	IDs() (most uint32, known bool)
	// Block is the block of addresses that comes with an ID, the zero Prefix where blocks do not follow from IDs; false
	// for an ID without addresses.
	Block(id uint32) (block netip.Prefix, ok bool)
	// Regular reports whether networks are no more than what Block gives the ID. Only those of irregular records can
	// overlap what somebody else is given.
	Regular(id uint32, networks []netip.Prefix) bool
	// Record is what this node's record under a claim should say; present is its record now, nil for none. False: nothing
	// is to be written now.
	Record(c Claim, present *Record) (Record, bool)
}

// Machine is one node's part in giving out node IDs. It is not safe for concurrent use.
type Machine struct {
	cfg   Config
	plan  Plan
	known *Known

	now     time.Time
	out     []Effect
	changed Changed
	uid     string // own Node object's, empty while it has not been seen

	view    view
	store   conversation
	claim   claim
	barrier barrier
	members members
	losing  bool // what is being applied is missing in a store that is not complete
}

// New returns a Machine that knows nothing.
func New(cfg Config) *Machine {
	m := &Machine{cfg: cfg, plan: cfg.Plan}
	m.members.init()
	m.Share(NewKnown())
	return m
}

// Share has a Machine that has not been stepped yet keep together with others what they know alike.
func (m *Machine) Share(known *Known) { m.known, m.members.nodes.known = known, known }

// Step takes one event at one time and returns what has to be done because of it, in order. Times never go back. The
// slice is valid until the next Step.
func (m *Machine) Step(now time.Time, ev Event) []Effect {
	m.now, m.changed = now, 0
	clear(m.out)
	m.out = m.out[:0]
	m.take(ev)
	if m.changed != 0 {
		m.out = append(m.out, m.changed)
	}
	return m.out
}

func (m *Machine) take(ev Event) {
	switch e := ev.(type) {
	case StoreReply:
		m.storeReplied(e)
	case StoreChanged:
		m.storeChanged(e)
	case StoreWatchLost:
		m.storeWatchLost(e.Watch)
	case NodeSeen:
		m.nodeSeen(e)
	case NodeGone:
		m.nodeGone(e)
	case NodesListed:
		m.nodesAreListed(e)
	case Act:
		m.act()
	case Judge:
		m.judge()
	case Woke:
		m.woke()
	case Saved:
		m.saved(Claim(e))
	case Await:
		m.barrier.awaited = e.On
	case Replanned:
		m.view.regularize(m.plan)
	case Restored:
		m.claim = claim{Claim: Claim(e), acting: true}
	default:
		panic(fmt.Sprintf("nodeid: unknown event %T", ev))
	}
}

// woke does what a deadline that has come asks for.
func (m *Machine) woke() {
	m.storeOverdue()
	if due(m.claim.retryAt, m.now) {
		m.claim.retryAt = time.Time{} // looked at when the store can be asked, which may not be now
	}
	m.changed |= WantsAct | WantsJudge
}

// Due is the earliest time after now at which Woke should be told, zero for never. What has come already waits for
// something else than time.
func (m *Machine) Due(now time.Time) time.Time {
	var first time.Time
	for _, at := range [...]time.Time{m.store.due(), m.claim.retryAt, m.members.dueAt} {
		if at.After(now) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// due reports whether a deadline is set and has come.
func due(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

func (m *Machine) emit(e Effect) { m.out = append(m.out, e) }

func (m *Machine) log(level Level, format string, args ...any) {
	m.emit(Log{Level: level, Message: fmt.Sprintf(format, args...)})
}
