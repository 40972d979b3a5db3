package agent

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
	"github.com/vppdrill/vppdrill/vppwire/mode"
	"github.com/vppdrill/vppdrill/vppwire/policy"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// Agent decides for one node. It is not safe for concurrent use: one driver calls Step, one event after the other.
type Agent struct {
	core
	own ownSpec
	// early holds what came before Restored.
	early []Event

	restored bool
	boot     string

	// Facts as last told.
	podCIDRs []netip.Prefix
	told     netip.Prefix // OwnAddress
	nics     []string     // VPP's, in its order
	// podsListed: the pods have been told once. permitted: every source of desired state has reported. incomplete: that
	// the store has not has been logged.
	podsListed, permitted, incomplete bool

	journal journal
	lease   lease
	steal   steal
	peers   peers
	ranges  ranges
	pods    pods
	// services is nil where others serve them.
	services *service.Table
	// policies is nil where they are not enforced. served are services' objects, for what policies say of their addresses,
	// unreached those addresses that a pod is not let to, as told.
	policies  *policy.Table
	served    map[service.Name][]vppwire.Object
	unreached map[policy.Name]map[netip.AddrPort]bool
	// untaken is since when facts about policies are collected, zero while none are.
	untaken time.Time
	groups  []string // scratch
	// unwired is since when the node's own wiring is not complete, zero while it is; calledAt when the last call went out.
	unwired, calledAt time.Time
	alarm             time.Time
	repairAt          time.Time // when everything is looked at for drift, zero for never
	armed             time.Time // the last WakeAt
	validates         bool
	steps, bookSteps  uint64 // those that were validated, and those of them that count for the books
	// lastWrite is the last write of the journal that was validated, acted the claim that was acted on then, and walked when the session was.
	lastWrite, walked uint64
	acted             nodeid.Claim
}

// core is what every part of an agent works on.
type core struct {
	cfg    Config
	wiring mode.Config
	alloc  ipam.NodeAllocator
	wire   *vppwire.Session
	ids    *nodeid.Machine

	// now is the agent's own time, which the caller's is ahead of by ahead: see ownTime.
	now   time.Time
	ahead time.Duration
	began time.Time // of this boot, zero where nobody knows
	out   []Effect
	todo  todo

	// zone is the own Node object's, for services. mgmt are its addresses, hosts those of the host's own links, as last
	// told.
	zone        string
	mgmt, hosts []netip.Addr
	// healths are those of the last HealthChecks.
	healths []service.Health

	node  mode.Node // what the node is wired as; ID 0: not yet
	vppUp bool
	// vppSilent: the last connection was given up because VPP did not answer.
	vppSilent bool
	// calling: a CallDataplane is outstanding. looked: VPP's and Linux's present state has been dumped completely at least
	// once in this life.
	calling, looked bool
}

// todo names the decisions that have to be taken again before the Step ends, in the order of the bits.
type todo uint16

const (
	todoRanges   todo = 1 << iota // pools, ID or pod CIDRs changed: which blocks and addresses are ours
	todoIdentity                  // our own record, or the lack of one
	todoBlocks                    // blocks may be taken or have gone
	todoNode                      // the node's own wiring
	todoPeers                     // every peer's wiring
	todoPods                      // waiting ADDs
	todoServices                  // what services want of NAT
	todoPolicies                  // what policies want of pods' ACLs
	todoStale                     // records of nodes that may be gone
	todoPermit                    // deletes in the dataplane
	todoJournal                   // a failed write is due again
)

// New returns an agent that waits for Restored. Defaults are applied to a copy of cfg; what Validate refuses is an
// error. The allocator must be fresh: the journal fills it.
func New(cfg Config, alloc ipam.NodeAllocator) (*Agent, error) {
	cfg.NodeConfig = slices.Clone(cfg.NodeConfig)
	cfg.ApplyDefaults()
	if cfg.NodeName == "" {
		return nil, errors.New("agent: NodeName is empty")
	}
	if alloc == nil {
		return nil, errors.New("agent: no allocator")
	}
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	a := &Agent{core: core{cfg: cfg, wiring: cfg.Mode(), alloc: alloc, wire: vppwire.NewSession()}, own: cfg.ownSpec()}
	if cfg.MemifFolder != "" { // an earlier life may have left some
		a.wire.Expect(vppwire.KindMemif)
	}
	if !a.wiring.Wires() {
		a.vppUp, a.looked = true, true // there is nothing to wait for
	}
	a.peers = peers{core: &a.core, ranges: &a.ranges, wired: map[uint32]bool{}, reached: map[[16]byte]uint32{}, contested: map[uint32]bool{}}
	a.journal.core, a.journal.of = &a.core, a
	if a.cfg.Services == ServicesVPP || a.cfg.NetworkPolicies == PoliciesVPP {
		a.services, a.served = service.New(), map[service.Name][]vppwire.Object{}
	}
	if a.cfg.NetworkPolicies == PoliciesVPP {
		a.policies, a.unreached = policy.New(), map[policy.Name]map[netip.AddrPort]bool{}
	}
	a.ids = nodeid.New(nodeid.Config{Name: cfg.NodeName, Quarantine: cfg.NodeIDQuarantine, Patience: cfg.ClaimPatience, Plan: (*plan)(a)})
	a.pods.init(&a.core, &a.journal, a)
	a.ranges.gateways = cfg.nodeGateways()
	if pools, ok, err := cfg.Pools(); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	} else if ok {
		if err := a.checkPools(pools); err != nil {
			return nil, fmt.Errorf("agent: ipamConfig: %w", err)
		}
		a.ranges.history = []Pools{pools}
	}
	return a, nil
}

// Step takes one event at one time and returns what has to be done because of it, in order. The package's documentation
// says what the caller owes and gets. An event of an unknown type panics.
func (a *Agent) Step(now time.Time, ev Event) []Effect {
	a.now = a.Time(now)
	clear(a.out)
	a.out = a.out[:0]
	calling := a.calling
	if !a.restored {
		r, ok := ev.(Restored)
		if !ok {
			a.early = append(a.early, ev)
			return nil
		}
		a.restore(r)
		for _, e := range a.early {
			a.take(e)
		}
		a.early = nil
	} else {
		a.take(ev)
	}
	a.alarmed()
	a.settle()
	if a.validates {
		a.validate(ev, calling)
	}
	return a.out
}

// take files one event.
func (a *Agent) take(ev Event) {
	switch e := ev.(type) {
	case Called:
		a.calling = false
		a.wire.Feed(a.now, e.Result)
		if a.wire.LeasesTold() {
			a.leasesTold()
		}
		if e.Result.Err != nil {
			a.pods.judgeWiring()
			a.pods.judgeUnlisted()
		}
	case Persisted:
		a.journal.persisted(e)
	case Woke:
		a.woke()
	case StoreReply:
		a.identity(nodeid.StoreReply(e))
	case StoreChanged:
		a.identity(nodeid.StoreChanged(e))
	case StoreWatchLost:
		a.identity(nodeid.StoreWatchLost(e))
	case PodAdd:
		a.pods.podAdd(e)
	case PodDel:
		a.pods.podDel(e)
	case PodCheck:
		a.pods.podCheck(e)
	case PodGC:
		a.pods.podGC(e)
	case PodStatus:
		a.pods.podStatus(e)
	case Withdrawn:
		a.pods.withdrawn(e)
	case Hooked:
		a.pods.hooked(e)
	case NodeSeen:
		a.nodeSeen(e)
	case NodeGone:
		a.identity(nodeid.NodeGone(e))
	case NodesListed:
		a.identity(nodeid.NodesListed(e))
	case PodsListed:
		if !a.podsListed {
			a.podsListed = true
			a.todo |= todoPermit
		}
		a.pods.listed(e)
	case ServiceSeen, ServiceGone, EndpointsSeen, EndpointsGone, ServicesListed, EndpointsListed:
		a.serviceFact(e)
	case PolicySeen, PeerSeen, NamespaceSeen, SelectableGone, SelectablesListed:
		a.policyFact(e)
	case PoolsChanged:
		a.poolsChanged(e.Pools)
	case OwnAddress:
		a.ownAddress(e.Addr)
	case HostLinks:
		a.hostLinks(e.State)
	case LinuxChanged:
		a.linuxChanged(e)
	case ReturnNIC:
		a.returnForGood()
	case HostAddresses:
		a.hostAddresses(e.Addrs)
	case VPPUp:
		a.vppIsUp(e)
	case VPPDown:
		a.vppUp, a.calling = false, false
		if a.vppSilent = e.Silent; e.Silent {
			a.emit(Log{Level: levelError, Reason: ReasonSilent, Message: vppSilence})
		}
		a.forgetLease()
		a.vppAway()
		a.wire.Disconnect()
	case Restored:
		a.log(levelError, "Restored came twice: ignored")
	default:
		panic(fmt.Sprintf("agent: unknown event %T", ev))
	}
}

// settle takes every decision that the event has opened, asks the Session for its next call, and sets the alarm.
func (a *Agent) settle() {
	for {
		changed := a.todo != 0
		for a.todo != 0 {
			bit := a.todo & -a.todo
			a.todo &^= bit
			a.decide(bit)
		}
		if changed {
			a.setAlarm()
		}
		if !a.drive() && a.todo == 0 && !a.takePolicies() {
			break
		}
	}
	a.watchNode()
	a.wake()
}

func (a *Agent) decide(bit todo) {
	switch bit {
	case todoRanges:
		a.resolve()
	case todoIdentity:
		a.identity(nodeid.Act{})
	case todoBlocks:
		a.takeBlocks()
	case todoNode:
		a.wireNode()
	case todoPeers:
		a.peers.wireAll()
	case todoPods:
		a.pods.admitPods()
	case todoServices:
		a.wireServices()
	case todoPolicies:
		a.wirePolicies()
	case todoStale:
		a.identity(nodeid.Judge{})
	case todoPermit:
		a.permit()
	case todoJournal:
		a.journal.retry()
	default:
		panic(fmt.Sprintf("agent: decision %b", bit))
	}
}

// drive looks at what the Session has finished and asks it for the next call; true when groups were finished.
func (a *Agent) drive() bool {
	if done := a.wire.Changed(); len(done) > 0 {
		a.groups = append(a.groups[:0], done...)
		for _, name := range a.groups {
			a.pods.groupDone(name)
		}
		return true
	}
	if a.returning() || a.steal.leaving {
		a.returnNIC()
		return false
	}
	if (!a.looked || a.pods.named) && a.vppUp && !a.calling && !a.wire.Dumping() { // dumps always come first
		a.looked = true
		a.pods.unwireDelayed()
		return true
	}
	call, ok := a.wire.Next(a.now)
	if ok {
		a.calling, a.calledAt = true, a.now
		a.emit(CallDataplane{Call: call})
	}
	if a.wire.Short() {
		a.pods.judgeRoom()
		return true
	}
	a.pods.answerChecks(call, ok)
	return false
}

// wake keeps the driver's alarm at the earliest time at which anything is due.
func (a *Agent) wake() {
	at := a.alarm
	if t, ok := a.wire.WakeAt(); ok && (at.IsZero() || t.Before(at)) {
		at = t
	}
	if at.Equal(a.armed) {
		return
	}
	a.armed = at
	if !at.IsZero() {
		at = at.Add(a.ahead)
	}
	a.emit(WakeAt{At: at})
}

// woke opens every decision that may have waited for its time.
func (a *Agent) woke() { a.armed = time.Time{} }

// alarmed does what a deadline that has come asks for. It does not wait for Woke: another event at the same instant may
// have come first and moved the alarm.
func (a *Agent) alarmed() {
	if due(a.alarm, a.now) {
		a.alarm = time.Time{}
		a.identity(nodeid.Woke{})
		a.watchLease()
		a.watchSteal()
		a.repairDrift()
		a.pods.judgeWaiting()
		a.pods.judgeWiring()
		a.todo |= todoBlocks | todoJournal
	}
}

// setAlarm finds the earliest of our own deadlines; the Session's are added in wake. An alarm that is due stays: what
// it was set for is done first.
func (a *Agent) setAlarm() {
	if due(a.alarm, a.now) {
		return
	}
	var at time.Time
	for _, t := range [...]time.Time{a.ids.Due(a.now), a.ranges.retryAt, a.journal.retryAt, a.lease.lookAt, a.steal.at, a.repairAt, a.pods.due(a.cfg.AddPatience)} {
		if t.After(a.now) && (at.IsZero() || t.Before(at)) {
			at = t // one that has come already waits for something else than time
		}
	}
	a.alarm = at
}

// due reports whether a deadline is set and has come.
func due(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// vppIsUp makes the Session look at what is there. The NIC is known before it does.
func (a *Agent) vppIsUp(e VPPUp) {
	if !slices.Equal(a.nics, e.NICs) {
		a.nics = slices.Clone(e.NICs)
		a.todo |= todoNode
		a.wireNode()
	}
	a.missingNICs()
	a.vppUp, a.vppSilent, a.calling = true, false, false
	most, limited := vppwire.AFPacketRoom(e.Version)
	if !limited {
		most = -1
	}
	a.wire.LimitAFPacket(most)
	a.wire.Without(e.Without)
	a.forgetLease()
	a.vppHere(e.PID)
	a.repairLater()
	a.pods.standingFirst()
	a.wire.Connect(e.PID)
}

// permit allows deletes in the dataplane once everything that could want an object has said so: the journal, the
// ranges, our own ID and address, the node list, the node records, the pod list and, where they are ours, services and policies.
// A store that has lost its data does not say who is there: what leads to nodes that have not written their records
// again is left alone until they have, or their Node objects are gone.
func (a *Agent) permit() {
	if a.permitted || !a.podsListed || !a.ids.NodesKnown() || !a.ids.RecordsKnown() || a.node.ID == 0 || !a.servicesKnown() || !a.policiesKnown() {
		return
	}
	if name := a.ids.Unrecorded(); name != "" {
		if !a.incomplete {
			a.incomplete = true
			a.log(levelInfo, "the store is not complete: what nobody wants stays in VPP until there is a record of %s and perhaps others", name)
		}
		return
	}
	a.permitted = true
	a.wire.AllowDelete()
}

func (c *core) emit(e Effect) { c.out = append(c.out, e) }

// Levels of Log, after slog.
const (
	levelDebug = -4
	levelInfo  = 0
	levelWarn  = 4
	levelError = 8
)

func (c *core) log(level int, format string, args ...any) {
	c.emit(Log{Level: level, Message: fmt.Sprintf(format, args...)})
}
