package contiv

import (
	"net/netip"
	"time"
)

// PodID names a pod.
type PodID struct{ Name, Namespace string }

// String is "namespace/name".
func (id PodID) String() string { return id.Namespace + "/" + id.Name }

// PodState and NodeState are what the Kubernetes state reflector stored of a pod and of a node.
type (
	PodState struct {
		ID PodID
		// IPAddress as the store has it: empty or unreadable text is a pod without address.
		IPAddress string
	}
	NodeState struct{ Name, PodCIDR string }
)

// KubeState is the snapshot that a resync starts from. Of two pods with one address the first keeps it.
type KubeState struct {
	Pods  []PodState
	Nodes []NodeState
}

// NodeSync knows this node's ID, >= 1.
type NodeSync interface{ GetNodeID() uint32 }

// ContivConf knows the cluster's configuration.
type ContivConf interface {
	GetIPAMConfig() IPAMConfig
	// GetStaticDefaultGW is the default gateway that was configured or learnt, the zero Addr for none; then the
	// configuration's defaultGateway counts.
	GetStaticDefaultGW() netip.Addr
}

// ServiceLabel knows this node's name.
type ServiceLabel interface{ GetAgentLabel() string }

// EventLoop takes events that IPAM raises.
type EventLoop interface{ PushEvent(Event) error }

// Locker is a sync.Locker. This package starts no goroutine and so needs none itself.
type Locker interface {
	Lock()
	Unlock()
}

// Deps is what an IPAM works with. NodeSync and ContivConf are needed by Resync; the others where their comment says.
type Deps struct {
	NodeSync   NodeSync
	ContivConf ContivConf
	// ServiceLabel and EventLoop are needed with external IPAM.
	ServiceLabel ServiceLabel
	EventLoop    EventLoop
	// Now is the clock, needed with WithReuseDelay.
	Now func() time.Time
	// Lock guards every method when several goroutines share the IPAM; nil when one owns it.
	Lock Locker
}

// Option sets an IPAM up.
type Option func(*IPAM)

// WithDeps sets the dependencies.
func WithDeps(d Deps) Option { return func(i *IPAM) { i.Deps = d } }

// WithReuseDelay keeps a released address back for d, on top of the cursor. It needs Deps.Now.
func WithReuseDelay(d time.Duration) Option { return func(i *IPAM) { i.reuseDelay = d } }

// WithOverlap accepts a configuration with overlapping ranges, as Contiv-VPP does. Without it Resync refuses one.
func WithOverlap() Option { return func(i *IPAM) { i.overlap = true } }
