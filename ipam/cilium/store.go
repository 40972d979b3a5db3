package cilium

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// eventScope is the kind of the resource whose events are counted.
const eventScope = "CiliumNode"

// refreshInterval is the least time between two writes of a CiliumNode's status (pkg/ipam, crd.go, 1.7).
const refreshInterval = 15 * time.Second

// StoreConfig sets a NodeStore up.
type StoreConfig struct {
	// Name is the node's own; updates of others are refused.
	Name string
	// ENI makes results carry an interface's particulars, and waits for the VPC's range at the start.
	ENI bool
	// HealthChecking needs one address more at the start.
	HealthChecking bool
	// RefreshInterval is the least time between two status writes; 0 is 15 s.
	RefreshInterval time.Duration
	// Pick is needed.
	Pick Picker
}

// NodeStore is the agent's side of a CiliumNode: which addresses of its pool are in use, free, or on their way back to
// the cloud. One store serves the allocators of both families.
//
// Until FinishRestore nothing is given up: marked addresses get no answer that would release them, AllocateNext avoids
// what the last published status calls used, and Allocate may still take a marked address for an endpoint that has it.
type NodeStore struct {
	cfg      StoreConfig
	node     *CiliumNode
	used     map[netip.Addr]string
	excluded IPBlacklist
	// free lists what AllocateNext may pick, by family; place finds an address there.
	free     [2][]netip.Addr
	place    map[netip.Addr]int
	restored bool
	changed  bool
	// marks, where set, are the watermarks that the resource should have.
	marks   *Watermarks
	written time.Time
	// owner counts the events of the resource; nil for nobody.
	owner Owner
}

// NewNodeStore returns a store that has not seen its node.
func NewNodeStore(c StoreConfig) (*NodeStore, error) {
	if c.Name == "" || c.Pick == nil {
		return nil, errors.New("node store: a name and a Picker are needed")
	}
	if c.RefreshInterval < 0 {
		return nil, fmt.Errorf("node store: refresh interval %s is negative", c.RefreshInterval)
	}
	if c.RefreshInterval == 0 {
		c.RefreshInterval = refreshInterval
	}
	return &NodeStore{cfg: c, used: make(map[netip.Addr]string), place: make(map[netip.Addr]int)}, nil
}

// Update takes the node's resource as it is now. The store keeps a copy. A resource that makes no sense is refused, and
// the last good one stays.
func (s *NodeStore) Update(n *CiliumNode) error {
	own, err := s.judge(n)
	action := "update"
	if s.node == nil {
		action = "create"
	}
	s.event(action, err == nil, err == nil && reflect.DeepEqual(own, s.node))
	if err != nil {
		return err
	}
	s.node = own
	s.index()
	return nil
}

// judge returns a copy of the node's resource in normal form.
func (s *NodeStore) judge(n *CiliumNode) (*CiliumNode, error) {
	if n.Metadata.Name != s.cfg.Name {
		return nil, fmt.Errorf("node store of %s: update of %s", s.cfg.Name, n.Metadata.Name)
	}
	own := n.Clone()
	if err := own.normalize(); err != nil {
		return nil, fmt.Errorf("CiliumNode %s: %w", n.Metadata.Name, err)
	}
	return own, nil
}

// Delete says that the node's resource is gone. What is in use stays so and can be released; nothing is allocated until
// there is a resource again, whose status then says everything anew.
func (s *NodeStore) Delete() {
	s.event("delete", true, false)
	s.node = nil
	s.changed = true
	s.index()
}

// event counts an event of the node's resource; one that is not valid is not processed.
func (s *NodeStore) event(action string, valid, equal bool) {
	if s.owner == nil {
		return
	}
	s.owner.K8sEventReceived(eventScope, action, valid, equal)
	if valid {
		s.owner.K8sEventProcessed(eventScope, action, true)
	}
}

// FinishRestore says that every endpoint that lived before the agent's start has its address allocated again.
func (s *NodeStore) FinishRestore() {
	s.restored = true
	s.changed = true
	s.index()
}

// Required is how large the pool must be before the agent can start: the node's min-allocate, else its pre-allocate,
// else one address for the router and one for the health endpoint.
func (s *NodeStore) Required() int {
	if s.node != nil {
		w := s.node.Spec.IPAM.Watermarks
		if n := max(w.MinAllocate, 0); n > 0 {
			return n
		}
		if w.PreAllocate > 0 {
			return w.PreAllocate
		}
	}
	if s.cfg.HealthChecking {
		return 2
	}
	return 1
}

// Ready says what the agent's start still waits for, nil for nothing.
func (s *NodeStore) Ready() error {
	if s.node == nil {
		return ErrNodeUnknown
	}
	if have, need := len(s.node.Spec.IPAM.Pool), s.Required(); have < need {
		return fmt.Errorf("CiliumNode %s has %d addresses and needs %d", s.cfg.Name, have, need)
	}
	if s.cfg.ENI && !s.node.Status.ENI.routed() {
		return fmt.Errorf("CiliumNode %s has no VPC CIDR", s.cfg.Name)
	}
	return nil
}

// state is how far the release of ip is.
func (s *NodeStore) state(ip netip.Addr) HandshakeState { return s.node.Status.IPAM.ReleaseIPs[ip] }

func (s *NodeStore) allocate(ip netip.Addr, owner string) (*AllocationResult, error) {
	ip = space.NormalAddr(ip)
	if _, used := s.used[ip]; used {
		return nil, fmt.Errorf("IP %s already in use: %w", ip, ErrAllocated)
	}
	if s.node == nil {
		return nil, ErrNodeUnknown
	}
	if len(s.node.Spec.IPAM.Pool) == 0 {
		return nil, fmt.Errorf("pool of CiliumNode %s is empty: %w", s.cfg.Name, ErrNoMoreIPs)
	}
	entry, known := s.node.Spec.IPAM.Pool[ip]
	if !known {
		return nil, NewIPNotAvailableInPoolError(ip)
	}
	// A marked address may have been in use all along: the operator saw a status from before the agent's restart.
	if state := s.state(ip); state.Blocked() && (s.restored || state != MarkedForRelease) {
		return nil, fmt.Errorf("IP %s is %s: %w", ip, state, ErrInHandshake)
	}
	return s.take(ip, entry, owner)
}

func (s *NodeStore) allocateNext(f Family, owner string) (*AllocationResult, error) {
	if s.node == nil {
		return nil, ErrNodeUnknown
	}
	list := s.free[f.at()]
	if len(list) == 0 {
		return nil, fmt.Errorf("pool of CiliumNode %s with %d %s addresses: %w", s.cfg.Name, s.size(f), f, ErrNoMoreIPs)
	}
	ip := list[s.cfg.Pick.Pick(pickCRD, len(list))]
	return s.take(ip, s.node.Spec.IPAM.Pool[ip], owner)
}

// take marks ip used once nothing can fail any more.
func (s *NodeStore) take(ip netip.Addr, entry AllocationIP, owner string) (*AllocationResult, error) {
	result := &AllocationResult{IP: ip}
	if s.cfg.ENI {
		var err error
		if result, err = s.node.Status.ENI.result(ip, entry.Resource); err != nil {
			return nil, err
		}
	}
	s.used[ip] = owner
	s.withdraw(ip)
	s.changed = true
	return result, nil
}

func (s *NodeStore) release(ip netip.Addr) error {
	ip = space.NormalAddr(ip)
	if _, used := s.used[ip]; !used {
		return fmt.Errorf("IP %s is not allocated", ip)
	}
	delete(s.used, ip)
	s.changed = true
	if s.node != nil {
		if _, known := s.node.Spec.IPAM.Pool[ip]; known {
			s.offer(ip)
		}
	}
	return nil
}

// size is how many addresses of a family the pool has.
func (s *NodeStore) size(f Family) (n int) {
	if s.node != nil {
		//vppdrill:unordered it is a count
		for ip := range s.node.Spec.IPAM.Pool {
			if DeriveFamily(ip) == f {
				n++
			}
		}
	}
	return n
}

// Allocator is the view of one family on the store.
func (s *NodeStore) Allocator(f Family) Allocator { return &crdAllocator{store: s, family: f} }
