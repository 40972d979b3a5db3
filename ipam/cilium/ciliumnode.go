package cilium

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
)

// CiliumNode is the part of the CiliumNode resource (cilium.io/v2) that concerns addresses, under the resource's own
// keys. Whoever writes one back merges it into the stored resource, with the ResourceVersion as the write's
// precondition: the release handshake is safe only if a write that was decided on an older version fails.
type CiliumNode struct {
	Metadata ObjectMeta `json:"metadata"`
	Spec     NodeSpec   `json:"spec"`
	Status   NodeStatus `json:"status"`
}

// ObjectMeta identifies a resource and its version.
type ObjectMeta struct {
	Name            string `json:"name"`
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// Incarnation names this one life of a node in a ledger: "name/uid", or the name when there is no UID.
func (m ObjectMeta) Incarnation() string {
	if m.UID == "" {
		return m.Name
	}
	return m.Name + "/" + m.UID
}

// NodeSpec is written by the operator, save for what the comments of its parts say.
type NodeSpec struct {
	IPAM IPAMSpec `json:"ipam"`
}

// IPAMSpec is what the node may use, and the watermarks that decide how much that is.
type IPAMSpec struct {
	// Pool is the addresses that the node may hand out.
	Pool AllocationMap `json:"pool,omitempty"`
	// Pools is the node's share of the cluster's named pools.
	Pools PoolsSpec `json:"pools,omitzero"`
	// PodCIDRs are the node's allocation ranges.
	PodCIDRs []netip.Prefix `json:"podCIDRs,omitempty"`
	Watermarks
}

// numberMax bounds what a resource may ask for: more than any node can use, and small enough to compute with.
const numberMax = 1 << 24

// Watermarks bound how many addresses a node has. All are in 0..2^24.
type Watermarks struct {
	// MinAllocate is how many addresses the node has at least, used or not; 0 for no floor.
	MinAllocate int `json:"min-allocate,omitempty"`
	// MaxAllocate is how many it has at most; 0 for no limit.
	MaxAllocate int `json:"max-allocate,omitempty"`
	// PreAllocate is how many unused ones it has at least; 0 means 8.
	PreAllocate int `json:"pre-allocate,omitempty"`
	// MaxAboveWatermark is how many are asked for beyond what is needed, to save calls.
	MaxAboveWatermark int `json:"max-above-watermark,omitempty"`
}

// AllocationMap is addresses of a pool, or those in use.
type AllocationMap map[netip.Addr]AllocationIP

// AllocationIP says who uses an address (in status) and what it belongs to (in spec).
type AllocationIP struct {
	Owner string `json:"owner,omitempty"`
	// Resource is the cloud's interface that carries the address.
	Resource string `json:"resource,omitempty"`

	// delegated: it is of a prefix that the cloud delegates, which no resource says.
	delegated bool
}

// PoolsSpec is the multi-pool part. The agent writes Requested and takes CIDRs out of Allocated, which gives them back;
// the operator puts CIDRs into Allocated.
type PoolsSpec struct {
	Requested []PoolRequest    `json:"requested,omitempty"`
	Allocated []PoolAllocation `json:"allocated,omitempty"`
}

// PoolRequest is how many addresses a node needs of a pool in all.
type PoolRequest struct {
	Pool   string     `json:"pool"`
	Needed PoolDemand `json:"needed"`
}

// PoolDemand is a number of addresses by family, each in 0..2^24.
type PoolDemand struct {
	IPv4Addrs int `json:"ipv4-addrs,omitempty"`
	IPv6Addrs int `json:"ipv6-addrs,omitempty"`
}

// of is the demand of one family.
func (d PoolDemand) of(f Family) int {
	if f == IPv4 {
		return d.IPv4Addrs
	}
	return d.IPv6Addrs
}

// PoolAllocation is the CIDRs that a node holds of a pool.
type PoolAllocation struct {
	Pool  string         `json:"pool"`
	CIDRs []netip.Prefix `json:"cidrs,omitempty"`
}

// NodeStatus is written by the agent, save for what the comments of its parts say.
type NodeStatus struct {
	IPAM IPAMStatus `json:"ipam"`
	ENI  ENIStatus  `json:"eni,omitzero"`
}

// IPAMStatus is what the agent uses, and the release handshake, which both sides write (HandshakeState).
type IPAMStatus struct {
	Used           AllocationMap                 `json:"used,omitempty"`
	ReleaseIPs     map[netip.Addr]HandshakeState `json:"release-ips,omitempty"`
	OperatorStatus OperatorStatus                `json:"operator-status,omitzero"`
}

// OperatorStatus is written by the operator.
type OperatorStatus struct {
	// Error is what went wrong last; empty again after the next success.
	Error string `json:"error,omitempty"`
}

// ParseCiliumNode reads the JSON form. It needs a name and refuses numbers out of range, unknown handshake states and
// an address that is there twice in different spellings; keys that it does not know are passed over.
func ParseCiliumNode(text []byte) (*CiliumNode, error) {
	n := new(CiliumNode)
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(n); err != nil {
		return nil, fmt.Errorf("CiliumNode: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("CiliumNode: something follows the object")
	}
	if n.Metadata.Name == "" {
		return nil, errors.New("CiliumNode: no name")
	}
	if err := n.normalize(); err != nil {
		return nil, fmt.Errorf("CiliumNode %s: %w", n.Metadata.Name, err)
	}
	return n, nil
}

// String is the JSON form; ParseCiliumNode reads it back.
func (n *CiliumNode) String() string {
	text, err := json.Marshal(n)
	if err != nil {
		return "CiliumNode: " + err.Error()
	}
	return string(text)
}

// Clone is a copy that shares nothing with n.
func (n *CiliumNode) Clone() *CiliumNode {
	c := *n
	c.Spec.IPAM.Pool = maps.Clone(n.Spec.IPAM.Pool)
	c.Spec.IPAM.PodCIDRs = slices.Clone(n.Spec.IPAM.PodCIDRs)
	c.Spec.IPAM.Pools.Requested = slices.Clone(n.Spec.IPAM.Pools.Requested)
	c.Spec.IPAM.Pools.Allocated = slices.Clone(n.Spec.IPAM.Pools.Allocated)
	for i, a := range c.Spec.IPAM.Pools.Allocated {
		c.Spec.IPAM.Pools.Allocated[i].CIDRs = slices.Clone(a.CIDRs)
	}
	c.Status.IPAM.Used = maps.Clone(n.Status.IPAM.Used)
	c.Status.IPAM.ReleaseIPs = maps.Clone(n.Status.IPAM.ReleaseIPs)
	c.Status.ENI = n.Status.ENI.clone()
	return &c
}
