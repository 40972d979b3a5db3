package cilium

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// AddressAgentConfig sets an AddressAgent up.
type AddressAgentConfig struct {
	// Node is the agent's own node, Alloc its allocator, Mode a mode whose CiliumNodes have a pool.
	Node  string
	Alloc *ExpiringNode
	Mode  string
	// PodCIDR is what the addresses of pods come from.
	PodCIDR netip.Prefix
	// Watermarks are written into a new resource.
	Watermarks Watermarks
	// Expiration is how long an address waits that a plugin has asked for and no pod has; 0 is 10 minutes.
	Expiration time.Duration
	Pick       Picker
	// Routes are those of the node's host.
	Routes func() []Route
	// Handshake, Timers and Reserver replace parts, for tests that plant faults; nil: the right ones.
	Handshake func(Handshake) Handshake
	Timers    func(Expirations) Expirations
	Reserver  func(*IPAM) Reserver
}

// Handshake is what an agent says in the release handshake.
type Handshake interface {
	// Blocked reports whether an address in this state must not be given to pods.
	Blocked(s HandshakeState) bool
	// Forget reports whether the agent says that it is done with a released address.
	Forget() bool
}

// Expirations are the timers of addresses that plugins have asked for: an IPAM.
type Expirations interface {
	// Advance releases what no pod has taken in its time.
	Advance(now time.Time) []Expiry
}

// Reserver keeps a node's own routes out of what pods get: an IPAM.
type Reserver interface {
	ReserveLocalRoutes() (RouteReport, error)
}

// ownHandshake is the right one.
type ownHandshake struct{}

// Blocked implements Handshake.
func (ownHandshake) Blocked(s HandshakeState) bool { return s.Blocked() }

// Forget implements Handshake.
func (ownHandshake) Forget() bool { return true }

// AddressAgent is the part of a node's agent that tells the operator which addresses of the node's pool are in use, and
// answers it in the release handshake. It is one life of it, a machine like PoolTerm, in the modes whose CiliumNodes
// have a pool.
type AddressAgent struct {
	cfg   AddressAgentConfig
	store *NodeStore
	// core gives the pool's addresses out; timers and routes are parts of it.
	core   *IPAM
	timers Expirations
	routes Reserver
	says   Handshake

	// listed and known: the resource, and the own Node object's uid. restored: what pods have is in core.
	listed, known, restored bool
	uid                     string
	view                    Object
	agent                   AgentSeen
	told                    []netip.Prefix
	spoke                   bool
	// asked are addresses that plugins have asked for and no pod has yet. leases is how many pods had one when the machine
	// looked last.
	asked  map[ipam.Owner]waiting
	leases int
	// refused are pods that found no address since the last step, pending those that count as demand.
	refused []string
	pending pending[string]

	last    uint64
	writing bool
	// again is when a write is tried again, woken the time of the last WakeAt.
	again, woken time.Time
	now          time.Time
	out          []Effect
}

// waiting is an address that a plugin has asked for. Its time begins with the next step.
type waiting struct {
	addr  netip.Addr
	uuid  string
	until time.Time
}

const (
	// expirationTime is how long an address waits that a plugin has asked for (pkg/defaults, IPAMExpiration).
	expirationTime = 10 * time.Minute
	// conflictAgain is until a write is tried again that met a newer resource: longer than a watch takes as a rule.
	conflictAgain = 20 * time.Millisecond
)

// NewAddressAgent returns an agent that has heard nothing.
func NewAddressAgent(c AddressAgentConfig) (*AddressAgent, error) {
	c.Expiration = cmp.Or(c.Expiration, expirationTime)
	a := &AddressAgent{cfg: c, says: ownHandshake{}, asked: make(map[ipam.Owner]waiting)}
	var err error
	if a.store, err = NewNodeStore(StoreConfig{Name: c.Node, Pick: c.Pick}); err != nil {
		return nil, err
	}
	a.core, err = NewIPAM(Addressing{CIDR4: c.PodCIDR}, Configuration{
		EnableIPv4: true, IPAM: c.Mode, Store: a.store, Pick: c.Pick, BlacklistConflictingRoutes: true,
		Now:    func() time.Time { return a.now },
		Routes: func() ([]Route, error) { return c.Routes(), nil },
	}, nil)
	if err != nil {
		return nil, err
	}
	a.timers, a.routes = a.core, a.core
	if c.Timers != nil {
		a.timers = c.Timers(a.timers)
	}
	if c.Reserver != nil {
		a.routes = c.Reserver(a.core)
	}
	if c.Handshake != nil {
		a.says = c.Handshake(a.says)
	}
	c.Alloc.agent = a
	return a, nil
}

// Step takes one event and returns what is to be done, in order.
func (a *AddressAgent) Step(now time.Time, ev Event) []Effect {
	a.now = now
	switch ev := ev.(type) {
	case Listed:
		a.list(ev.Objects)
	case Seen:
		a.see(ev.Object)
	case Gone:
		if a.view.exists() && a.view.Metadata.UID == ev.Object.Metadata.UID {
			a.view = Object{}
		}
	case NodeIs:
		a.uid, a.known = ev.UID, true
	case AgentSeen:
		a.agent = ev
	case Wrote:
		a.wrote(ev)
	case Woke:
	default:
		panic(fmt.Sprintf("cilium: an agent of addresses heard %T", ev))
	}
	for _, pod := range a.refused {
		a.pending.add(now, pod, 0)
	}
	a.refused = nil
	a.expire()
	if !now.Before(a.again) {
		a.again = time.Time{}
	}
	a.evaluate()
	a.startTimers()
	a.wake()
	out := a.out
	a.out = nil
	return out
}

func (a *AddressAgent) say(e Effect) { a.out = append(a.out, e) }

func (a *AddressAgent) list(objects []Object) {
	first := !a.listed
	a.listed = true
	if len(objects) == 0 {
		a.view = Object{}
	}
	for _, x := range objects {
		a.see(x)
	}
	if first {
		a.say(LookAtAgent{})
	}
}

// see takes in a state of the resource, unless a later one is known.
func (a *AddressAgent) see(x Object) {
	if x.newer(a.view) {
		a.view = x
	}
}

// evaluate tells the agent what it has, and publishes what is in use and what the handshake waits for.
func (a *AddressAgent) evaluate() {
	a.leases = a.cfg.Alloc.Len()
	if !a.listed || !a.known || a.writing || !a.again.IsZero() || a.view.Bad != nil {
		return
	}
	switch {
	case a.uid == "" || a.view.formerOf(a.uid):
		return
	case !a.view.exists():
		x := Object{CiliumNode: &CiliumNode{Metadata: ObjectMeta{Name: a.cfg.Node}}, Owner: a.uid}
		x.Spec.IPAM.Watermarks = a.watermarks()
		a.request(func(id uint64) Effect { return CreateResource{id, x} })
		return
	}
	if err := a.store.Update(a.view.CiliumNode); err != nil {
		a.say(Note{err.Error()})
		return
	}
	a.account()
	if want := a.want(); !a.spoke || !slices.Equal(want, a.told) {
		a.told, a.spoke = want, true
		a.say(TellAgent{slices.Clone(want)})
	}
	a.store.Ask(a.watermarks())
	if !a.agrees() {
		return // the agent still has to drop what is marked
	}
	n, ok := a.store.Publish(a.now)
	if !ok {
		return
	}
	if !a.says.Forget() {
		for _, ip := range sortedAddrs(a.view.Status.IPAM.ReleaseIPs) {
			if s := a.view.Status.IPAM.ReleaseIPs[ip]; s == Released {
				if n.Status.IPAM.ReleaseIPs == nil {
					n.Status.IPAM.ReleaseIPs = make(map[netip.Addr]HandshakeState)
				}
				n.Status.IPAM.ReleaseIPs[ip] = s
			}
		}
	}
	x := a.view
	x.CiliumNode = n
	a.request(func(id uint64) Effect { return WriteResource{id, x} })
}

// Refused says that a pod found no address. A step has to follow: it counts as demand until it is placed, or for five
// minutes.
func (a *AddressAgent) Refused(pod string) { a.refused = append(a.refused, pod) }

// Placed says that a pod has an address.
func (a *AddressAgent) Placed(pod string) {
	delete(a.pending, pod)
	a.refused = slices.DeleteFunc(a.refused, func(r string) bool { return r == pod })
}

// watermarks are the configured ones, with room for the pods that found no address: the operator knows of no pod but
// those that have one, and would get a node one PreAllocate of addresses after the other.
func (a *AddressAgent) watermarks() Watermarks {
	w := a.cfg.Watermarks
	if n := a.pending.count(a.now); n > 0 {
		w.MinAllocate = max(w.MinAllocate, a.cfg.Alloc.Len()+len(a.asked)+n+w.Unused())
		if w.MaxAllocate > 0 {
			w.MinAllocate = min(w.MinAllocate, w.MaxAllocate)
		}
	}
	return w
}

// want is what the agent should have: the pool without what is on its way back. What is marked and in use stays.
func (a *AddressAgent) want() (list []netip.Prefix) {
	for _, ip := range sortedAddrs(a.view.Spec.IPAM.Pool) {
		if !a.says.Blocked(a.view.Status.IPAM.ReleaseIPs[ip]) || a.used(ip) {
			list = append(list, single(ip))
		}
	}
	return list
}

// single is the block of one address.
func single(ip netip.Addr) netip.Prefix { return netip.PrefixFrom(ip, ip.BitLen()) }

func (a *AddressAgent) used(ip netip.Addr) bool {
	for l := range a.cfg.Alloc.Leases() {
		if l.Addr == ip {
			return true
		}
	}
	return false
}

// agrees reports whether the agent has dropped for good what its answers would give away.
func (a *AddressAgent) agrees() bool {
	answers := a.store.Answers()
	for _, ip := range sortedAddrs(answers) {
		if answers[ip] == ReadyForRelease && (!a.agent.Idle || slices.Contains(a.agent.Held, single(ip))) {
			return false
		}
	}
	return true
}

func (a *AddressAgent) request(e func(id uint64) Effect) {
	a.last++
	a.writing = true
	a.say(e(a.last))
}

// wrote takes in what became of a write.
func (a *AddressAgent) wrote(ev Wrote) {
	if !a.writing || ev.ID != a.last {
		return // a second answer
	}
	a.writing = false
	if ev.Outcome == ipam.Done {
		a.see(ev.Object)
		return
	}
	a.store.Refused()
	a.again = a.now.Add(again)
	if ev.Outcome == ipam.Conflict {
		a.again = a.now.Add(conflictAgain) // the watch brings what is there
	}
}

// wake asks to be woken for the next write, and when an address has waited for long enough.
func (a *AddressAgent) wake() {
	next := a.again
	if at := a.store.NextPublish(); next.IsZero() && at.After(a.now) {
		next = at
	}
	if at, any := a.core.NextExpiry(); any && (next.IsZero() || at.Before(next)) {
		next = at
	}
	if at := a.pending.next(); at.After(a.now) && (next.IsZero() || at.Before(next)) {
		next = at
	}
	if !next.Equal(a.woken) {
		a.woken = next
		a.say(WakeAt{next})
	}
}

// Leaving reports whether an address of the pool is on its way back.
func (a *AddressAgent) Leaving() bool {
	return a.view.exists() && len(a.view.Status.IPAM.ReleaseIPs) > 0
}

// Behind reports whether something has happened to the node's allocator that no step has seen.
func (a *AddressAgent) Behind() bool {
	for _, x := range a.asked { //vppdrill:unordered any of them
		if x.uuid == "" {
			return true
		}
	}
	return a.cfg.Alloc.Len() != a.leases || a.Leaving() || len(a.refused) > 0
}

// Blocks are what the agent should have.
func (a *AddressAgent) Blocks() []netip.Prefix {
	if !a.view.exists() || a.view.formerOf(a.uid) {
		return nil
	}
	return a.want()
}

// Pending says what is under way, empty when nothing is.
func (a *AddressAgent) Pending() string {
	switch {
	case !a.listed || !a.view.exists():
		return "its CiliumNode resource is not known"
	case a.writing || !a.again.IsZero() || a.store.changed || a.store.NextPublish().After(a.now) && len(a.store.Answers()) > 0:
		return "its CiliumNode resource is being written"
	case a.Leaving():
		return "addresses of its are on their way back"
	}
	return ""
}
