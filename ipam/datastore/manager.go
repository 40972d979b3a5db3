package datastore

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Times of a Manager; upstream's pkg/ipamd/ipamd.go (v1.7.5) has the first five.
const (
	poolInterval      = 5 * time.Second
	reconcileInterval = time.Minute
	decreaseInterval  = 30 * time.Second
	setUpInterval     = 10 * time.Second
	// freedMemory is how long a unit that was given back is not believed to be attached still.
	freedMemory = time.Minute
	// awaitInterval is how often a new ENI is looked for in the metadata service.
	awaitInterval = time.Second
	// callTimeout is when an answer is given up: EC2's SDK gives up after three tries of 30 s.
	callTimeout = 2 * time.Minute
	// Failures in a row wait 5 s, 10 s, 20 s, … at most backoffMax: EC2 throttles an account for minutes.
	backoffMin = 5 * time.Second
	backoffMax = 5 * time.Minute
)

const (
	setUpTries = 6
	awaitTries = 60
)

// Manager keeps a node's store at its targets, and equal to what EC2 has attached, as a pure state machine. It has one
// Call outstanding at most, and every decision about size is Sizing's.
//
// What EC2 says decides; the metadata service only raises suspicion. An address or ENI leaves the store when EC2 was
// asked and does not have it, never because somebody else failed to mention it.
type Manager struct {
	sizing Sizing
	ds     store

	call    Call // outstanding; Number 0 when none is
	asked   time.Time
	numbers uint64
	effects []Effect

	phase phase
	// stopping: the pool stays as it is. doubt: EC2 is to be asked before the pool changes.
	stopping, doubt, trunkWanted bool
	failures                     int
	retry                        time.Time // nothing is asked of EC2 before
	nextPool, nextReconcile      time.Time
	lastDecrease                 time.Time

	joining   []joining
	unshown   map[string]time.Time // ENIs that the metadata service did not show in time, since then
	attached  map[string]bool      // every ENI of the instance, managed or not
	unmanaged map[string]bool
	freed     map[freedUnit]time.Time
	// unsure are those of the freed units whose giving back nobody has answered, until a look behind freedMemory has shown
	// what became of them; an ENI whose deletion nobody has answered has no unit.
	unsure map[freedUnit]time.Time
	// throttled is the UnassignUnits that EC2 refused because of its request limit; its Number is 0 for none. Its units are
	// attached, and stay out of the store.
	throttled Call
}

// freedUnit is a unit that an ENI gave back, which EC2 may give to another ENI at once; without a unit it is an ENI that was deleted.
type freedUnit struct {
	eni  string
	unit netip.Prefix
}

type phase uint8

const (
	unborn phase = iota
	adopting
	running
)

// joining is an ENI on its way into the store.
type joining struct {
	AttachedENI
	// fresh: the metadata service has not shown it yet.
	fresh bool
	tries int
	at    time.Time
}

// store is what a Manager fills and asks: a DataStore, or a NodePool.
type store interface {
	AddENI(eniID string, deviceNumber int, isPrimary, isTrunk bool) error
	AddIPv4CidrToStore(eniID string, cidr netip.Prefix) error
	DelIPv4CidrFromStore(eniID string, cidr netip.Prefix, force bool) error
	RemoveENIFromDataStore(eniID string, force bool) error
	RemoveUnusedENI(enough func(rest Stats) bool) string
	ENIIDs() []string
	GetENIs() int
	GetTrunkENI() string
	GetIPStats() Stats
	Units(eniID string) []netip.Prefix
	IdleUnits(eniID string) []netip.Prefix
	rooms() []Room
	ReadBackingStore() error
	Flush() error
}

// NewManager returns a Manager for an empty store, which it fills and lets read its backing store; until that is done
// the store assigns nothing. Send it a Woke to start.
func NewManager(ds *DataStore, sizing Sizing) *Manager {
	ds.unread = fmt.Errorf("%w: not read yet", ErrBackingStore)
	return newManager(ds, sizing)
}

// NewNodeManager returns a Manager for the blocks of a Node; see NodePool for what its driver has to keep. Send it a
// Woke to start.
func NewNodeManager(p *NodePool, sizing Sizing) *Manager { return newManager(p, sizing) }

func newManager(ds store, sizing Sizing) *Manager {
	return &Manager{
		sizing: sizing, ds: ds,
		attached: make(map[string]bool), unshown: make(map[string]time.Time), unmanaged: make(map[string]bool), freed: make(map[freedUnit]time.Time), unsure: make(map[freedUnit]time.Time),
	}
}

// Ready reports whether the store knows what live pods hold, so that pods can be served.
func (m *Manager) Ready() bool { return m.phase == running }

// Joining reports whether an ENI is on its way into the store: EC2 has it, and the metadata service does not show it
// yet or the host's side is not set up.
func (m *Manager) Joining() bool { return len(m.joining)+len(m.unshown) > 0 }

// Waits reports whether the answer to a call is still waited for: not once it has come, or the call was given up.
func (m *Manager) Waits(c Call) bool { return m.call.Number != 0 && m.call.Number == c.Number }

// Unsure reports whether nobody has answered that units or an ENI were given back, and the Manager, which leaves them
// alone for a while, has not looked yet whether they are attached still; or whether units wait to be given back until EC2
// takes requests again.
func (m *Manager) Unsure() bool { return len(m.unsure) > 0 || m.throttled.Number != 0 }

// unshownMemory is how long an ENI that the metadata service did not show in time counts as on its way: a few
// reconciliations.
const unshownMemory = 5 * time.Minute

// Step takes an event and returns what follows from it, in order; the slice is valid until the next Step.
func (m *Manager) Step(now time.Time, ev Event) []Effect {
	m.effects = m.effects[:0]
	switch ev := ev.(type) {
	case Woke:
		m.wake(now)
	case Called:
		if ev.Result.Number != m.call.Number || m.call.Number == 0 {
			return nil // the answer to a call that was given up
		}
		c := m.call
		m.call = Call{}
		m.called(now, c, ev.Result)
	case Terminating:
		m.stopping = true
	default:
		panic(fmt.Sprintf("datastore: unknown event %T", ev))
	}
	m.effects = append(m.effects, WakeAt{At: m.next()})
	return m.effects
}

func (m *Manager) note(format string, args ...any) {
	m.effects = append(m.effects, Note{Text: fmt.Sprintf(format, args...)})
}

func (m *Manager) ask(now time.Time, c Call) {
	m.numbers++
	c.Number = m.numbers
	m.call, m.asked = c, now
	m.effects = append(m.effects, Perform{Call: c})
}

// next is when there is something to do again.
func (m *Manager) next() time.Time {
	if m.call.Number != 0 {
		return m.asked.Add(callTimeout)
	}
	if m.phase == unborn || m.doubt {
		return m.retry
	}
	at := m.nextPool
	if m.nextReconcile.Before(at) && m.phase == running {
		at = m.nextReconcile
	}
	for _, j := range m.joining {
		if j.at.Before(at) {
			at = j.at
		}
	}
	return at
}

func (m *Manager) wake(now time.Time) {
	for id, at := range m.unshown { // in any order: each by itself
		if now.Sub(at) >= unshownMemory {
			delete(m.unshown, id)
		}
	}
	if m.call.Number != 0 {
		if now.Before(m.asked.Add(callTimeout)) {
			return
		}
		m.note("no answer to %s", m.call)
		m.lost(now)
		if m.call.Number != 0 {
			return
		}
	}
	switch {
	case m.phase == unborn || m.doubt:
		if !now.Before(m.retry) {
			m.ask(now, Call{Op: DescribeENIs})
		}
	case m.join(now):
	case m.phase == adopting:
		if !now.Before(m.nextPool) {
			m.restore(now)
		}
	case !now.Before(m.nextReconcile):
		m.nextReconcile = now.Add(reconcileInterval)
		m.ask(now, Call{Op: ReadIMDS})
	case !now.Before(m.nextPool):
		m.nextPool = now.Add(poolInterval)
		m.pool(now)
	}
}

// lost gives the outstanding call up: whether it was done is unknown.
func (m *Manager) lost(now time.Time) {
	c := m.call
	m.call = Call{}
	m.called(now, c, Result{Err: errors.New("no answer")})
}

func (m *Manager) called(now time.Time, c Call, r Result) {
	switch c.Op {
	case DescribeENIs:
		m.described(now, r)
	case ReadIMDS:
		if c.ENI != "" {
			m.awaited(now, c.ENI, r)
		} else {
			m.imds(now, r)
		}
	case SetUpENI:
		m.setUp(now, c, r)
	case AssignUnits:
		m.grown(now, c, r)
	case UnassignUnits:
		m.shrunk(now, c, r)
	case CreateENI:
		m.created(now, r)
	case DeleteENI:
		m.deleted(now, c, r)
	default:
		panic(fmt.Sprintf("datastore: unknown call %d", c.Op))
	}
	if m.call.Number == 0 && m.phase != unborn && !m.doubt {
		m.goOn(now)
	}
}

// goOn does at once what need not wait for a time: the start, and ENIs on their way in.
func (m *Manager) goOn(now time.Time) {
	if !m.join(now) && m.phase == adopting {
		m.restore(now)
	}
}

// restore ends the start: with the ENIs in the store, it reads what live pods hold.
func (m *Manager) restore(now time.Time) {
	err := m.ds.ReadBackingStore()
	if err != nil {
		m.note("%v", err)
		if !errors.Is(err, ErrQuarantined) {
			m.nextPool = now.Add(m.backoff())
			return
		}
	}
	m.failures = 0
	m.phase = running
	m.nextReconcile = now.Add(reconcileInterval)
	m.nextPool = now
}

// fail notes a refused or unanswered call and makes the next one wait.
func (m *Manager) fail(now time.Time, what string, err error) {
	m.note("%s: %v", what, err)
	m.retry = now.Add(m.backoff())
	if codeOf(err) == "" {
		m.doubt = true
	}
}

func (m *Manager) backoff() time.Duration {
	d := min(backoffMin<<min(m.failures, 10), backoffMax)
	m.failures++
	return d
}

func (m *Manager) succeeded() { m.failures = 0 }
