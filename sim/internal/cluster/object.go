package cluster

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/policy"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// Kind is a kind of API object.
type Kind uint8

// The kinds.
const (
	KindNode Kind = iota + 1
	KindPod
	KindConfigMap
	KindResource
	KindService
	KindEndpoints
	KindPolicy
	KindNamespace
	kindEnd
)

var kindNames = [kindEnd]string{KindNode: "node", KindPod: "pod", KindConfigMap: "configmap", KindResource: "resource",
	KindService: "service", KindEndpoints: "endpoints", KindPolicy: "policy", KindNamespace: "namespace"}

func (k Kind) String() string { return kindNames[k] }

// Meta is what every object has. An object in the API is shared by its readers and never changes: a change is a new
// object with the same Key and UID.
type Meta struct {
	// Namespace is empty for nodes and configurations.
	Namespace, Name string
	// UID distinguishes an object from a later one with the same name; Create sets it where it is empty.
	UID string
	// ResourceVersion is the API's version at the object's last change; the API sets it.
	ResourceVersion int64
}

// Key names an object among those of its kind.
type Key struct{ Namespace, Name string }

// String is what AppendText appends.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// AppendText appends "namespace/name", or "name" without a namespace.
func (k Key) AppendText(b []byte) []byte {
	if k.Namespace != "" {
		b = append(b, k.Namespace...)
		b = append(b, '/')
	}
	return append(b, k.Name...)
}

func (k Key) compare(o Key) int {
	switch {
	case k.Namespace < o.Namespace:
		return -1
	case k.Namespace > o.Namespace:
		return 1
	case k.Name < o.Name:
		return -1
	case k.Name > o.Name:
		return 1
	}
	return 0
}

// Object is *Node, *Pod, *ConfigMap, *Resource, *Service, *Endpoints, *Policy or *Namespace.
type Object interface {
	Kind() Kind
	// Common is the object's Meta.
	Common() *Meta
}

// Key is the object's namespace and name.
func (m *Meta) Key() Key { return Key{m.Namespace, m.Name} }

// Common returns m.
func (m *Meta) Common() *Meta { return m }

// Node is a Kubernetes Node.
type Node struct {
	Meta
	// PodCIDRs is spec.podCIDRs, for external IPAM.
	PodCIDRs []netip.Prefix
	// Addresses are the InternalIP and ExternalIP addresses, in that order.
	Addresses []netip.Addr
	// Zone is the label topology.kubernetes.io/zone; empty where no cloud says so.
	Zone   string
	Labels map[string]string
	// Touches counts writes of an annotation that means nothing.
	Touches int
	// Network is the condition NetworkUnavailable; the scheduler uses no nodes whose network is.
	Network NetworkCondition
	// Ready is the node's condition; the scheduler uses ready nodes only.
	Ready bool
	// Unschedulable is spec.unschedulable: the scheduler gives a cordoned node no pods.
	Unschedulable bool
	// Deleting is a set deletionTimestamp: a finalizer keeps the object.
	Deleting bool

	// seen is what AgentFeed delivers of this object, made once for all its watchers.
	seen agent.Event
}

// NetworkCondition is what a node's condition NetworkUnavailable says.
type NetworkCondition uint8

// Conditions. The zero NetworkCondition is absence of one.
const (
	NetworkUnsaid NetworkCondition = iota
	NetworkAvailable
	NetworkUnavailable
)

// Kind is KindNode.
func (*Node) Kind() Kind { return KindNode }

// Phase is a pod's phase.
type Phase uint8

// Phases. A pod that is being deleted keeps its phase.
const (
	Waiting Phase = iota
	Running
)

func (p Phase) String() string {
	if p == Running {
		return "running"
	}
	return "pending"
}

// Pod is a Kubernetes Pod.
type Pod struct {
	Meta
	// App groups pods for MaxPerNode; it may be empty.
	App string
	// Node is where the pod is bound; empty until the scheduler or the creator decides. It never changes once set.
	Node string
	// Pinned pods stay with their node as a DaemonSet's do: they are not evicted when it is not ready.
	Pinned bool
	// Static pods come from the node itself: the object only mirrors them, and their sandboxes have another UID.
	Static bool
	Phase  Phase
	// IP is the pod's address, Second that of the second family; zero in clusters of one.
	IP, Second netip.Addr
	// Deleting is a set deletionTimestamp: the kubelet tears the pod down and removes the object.
	Deleting bool
	// Requests is for people; no part of the model interprets it.
	Requests string
	// MaxPerNode bounds how many pods of App may share a node; 0 and below: no bound.
	MaxPerNode int
	// Pool is what its annotation says of the source of its address; the model does not interpret it.
	Pool string
	// Labels are KEY=VALUE, beside App. They must not change.
	Labels []string
	// Wanted are the addresses that it asks for, by annotation or by its kubelet's CNI_ARGS. They must not change.
	Wanted []netip.Addr
	// Interface is what its annotation says of how it is connected; the model does not interpret it.
	Interface string
}

// Kind is KindPod.
func (*Pod) Kind() Kind { return KindPod }

// ConfigMap is a cluster-wide configuration object, such as the address pools.
type ConfigMap struct {
	Meta
	Generation int64
	// Value is opaque here; agent.Pools is what AgentFeed passes on. It must not change.
	Value any
}

// Kind is KindConfigMap.
func (*ConfigMap) Kind() Kind { return KindConfigMap }

// Resource is a custom resource that belongs to one node and has its name. It goes with the Node object.
type Resource struct {
	Meta
	// Owner is the UID of the Node that it belongs to.
	Owner string
	// Value is opaque here; it must not change.
	Value any
}

// Kind is KindResource.
func (*Resource) Kind() Kind { return KindResource }

// Service is a Kubernetes Service. Its Value must not change.
type Service struct {
	Meta
	Value service.Service
}

// Kind is KindService.
func (*Service) Kind() Kind { return KindService }

// Endpoints is an EndpointSlice. Its Value must not change.
type Endpoints struct {
	Meta
	Value service.Slice
}

// Kind is KindEndpoints.
func (*Endpoints) Kind() Kind { return KindEndpoints }

// Policy is a NetworkPolicy. Its Value must not change.
type Policy struct {
	Meta
	Value policy.Policy
}

// Kind is KindPolicy.
func (*Policy) Kind() Kind { return KindPolicy }

// Namespace is a Kubernetes Namespace. Its Value must not change.
type Namespace struct {
	Meta
	Value policy.Namespace
}

// Kind is KindNamespace.
func (*Namespace) Kind() Kind { return KindNamespace }

// ChangeType says what became of an object.
type ChangeType uint8

// Types of changes.
const (
	Added ChangeType = iota + 1
	Modified
	Deleted
	// Bookmark says that there was nothing else up to its ResourceVersion; Object is nil.
	Bookmark
)

var changeNames = [...]string{Added: "added", Modified: "modified", Deleted: "deleted", Bookmark: "bookmark"}

func (t ChangeType) String() string { return changeNames[t] }

// Change is one change of one object as a watcher sees it.
type Change struct {
	Type ChangeType
	// Object is the new state, of a deleted object the last one.
	Object Object
	// ResourceVersion is that of the change.
	ResourceVersion int64
}

// AppendText appends "added node-1 rv 7".
func (c Change) AppendText(b []byte) []byte {
	b = append(b, changeNames[c.Type]...)
	b = append(b, ' ')
	if c.Object != nil {
		b = c.Object.Common().Key().AppendText(b)
		b = append(b, ' ')
	}
	b = append(b, "rv "...)
	return strconv.AppendInt(b, c.ResourceVersion, 10)
}

// newUID is the n-th UID of a run: as long as Kubernetes' own, the same in every run.
func newUID(n uint64) string {
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:], mix(2*n))
	binary.BigEndian.PutUint64(raw[8:], mix(2*n+1))
	raw[6] = raw[6]&0x0f | 0x40 // version 4, RFC 9562 section 5.4
	raw[8] = raw[8]&0x3f | 0x80
	return string(appendUUID(make([]byte, 0, 36), raw))
}

// appendUUID appends the 8-4-4-4-12 form of RFC 9562 section 4.
func appendUUID(b []byte, raw [16]byte) []byte {
	from := 0
	for _, to := range [...]int{4, 6, 8, 10, 16} {
		if from > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, raw[from:to])
		from = to
	}
	return b
}

// mix is the output function of SplitMix64, a bijection: different numbers give different UIDs.
func mix(z uint64) uint64 {
	z = (z + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
