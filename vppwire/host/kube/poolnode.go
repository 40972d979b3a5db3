package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// The custom resource in which agents of multi-pool ask for addresses and are answered: spec.ipam.pools is a CiliumNode's.
// fixtures/kubernetes/base/crd.yaml defines it.
const (
	PoolNodeKind     = "PoolNode"
	PoolNodeResource = "poolnodes"
	// PoolNodesPath is where the server has them.
	PoolNodesPath = "/apis/" + Group + "/" + RecordVersion + "/" + PoolNodeResource
)

// poolNode is what an object says of a node's pools, with its version as a number. Object is the object itself, for who writes it back.
type poolNode struct {
	*cilium.CiliumNode
	revision int64
	object   *unstructured.Unstructured
	// owner is the UID of the Node that it is about, empty where that is not known.
	owner string
	// bad is why nothing but its name, UID and version are known: it is there all the same.
	bad error
}

// readPoolNode reads a PoolNode.
func readPoolNode(u *unstructured.Unstructured) poolNode {
	at, err := revision(u.GetResourceVersion())
	text, unreadable := u.MarshalJSON()
	if err == nil {
		err = unreadable
	}
	n := &cilium.CiliumNode{}
	if err == nil {
		n, err = cilium.ParseCiliumNode(text)
	}
	if err != nil {
		n = &cilium.CiliumNode{Metadata: cilium.ObjectMeta{Name: u.GetName(), UID: string(u.GetUID()), ResourceVersion: u.GetResourceVersion()}}
	}
	p := poolNode{CiliumNode: n, revision: at, object: u, bad: err}
	for _, o := range u.GetOwnerReferences() {
		if o.Kind == "Node" && o.Name == u.GetName() {
			p.owner = string(o.UID)
		}
	}
	return p
}

// with is the object with other pools; everything else of it stays.
func (n poolNode) with(pools cilium.PoolsSpec) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(pools)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	fresh := n.object.DeepCopy()
	return fresh, unstructured.SetNestedMap(fresh.Object, fields, "spec", "ipam", "pools")
}

// newPoolNode is a node's object before anything was given to it. It belongs to the Node, and goes when that goes.
func newPoolNode(name, uid string, requested []cilium.PoolRequest) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": Group + "/" + RecordVersion, "kind": PoolNodeKind}}
	u.SetName(name)
	u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: name, UID: types.UID(uid)}})
	return poolNode{object: u}.with(cilium.PoolsSpec{Requested: requested})
}

// poolTarget is where an operator finds nodes and shows them what they have.
type poolTarget interface {
	// follow tells all nodes, then every change, until ctx ends; giveUp is told when somebody else gives them what they have.
	follow(ctx context.Context, listed func([]poolNode), put, gone func(poolNode), giveUp func(error))
	// show writes what a node has, if nobody has written it since.
	show(ctx context.Context, n poolNode, allocated []cilium.PoolAllocation) (poolNode, error)
}

// poolNodes are PoolNodes: their agents ask there, and are answered there.
type poolNodes struct{ custom }

func newPoolNodes(client kubernetes.Interface) poolNodes {
	return poolNodes{custom{client, PoolNodesPath}}
}

// followThose tells the objects that a selector chooses.
func (p poolNodes) followThose(ctx context.Context, selector string, listed func([]poolNode), put, gone func(poolNode)) {
	follow(ctx, p.client, p.custom, selector, &unstructured.Unstructured{}, sink[*unstructured.Unstructured]{
		listed: func(objects []*unstructured.Unstructured) {
			list := make([]poolNode, len(objects))
			for i, u := range objects {
				list[i] = readPoolNode(u)
			}
			listed(list)
		},
		put:  func(u *unstructured.Unstructured, _ bool) { put(readPoolNode(u)) },
		gone: func(u *unstructured.Unstructured) { gone(readPoolNode(u)) },
	})
}

// follow implements poolTarget.
func (p poolNodes) follow(ctx context.Context, listed func([]poolNode), put, gone func(poolNode), _ func(error)) {
	p.followThose(ctx, "", listed, put, gone)
}

// show implements poolTarget.
func (p poolNodes) show(ctx context.Context, n poolNode, allocated []cilium.PoolAllocation) (poolNode, error) {
	return p.update(ctx, n, cilium.PoolsSpec{Requested: n.Spec.IPAM.Pools.Requested, Allocated: allocated})
}

// update writes other pools into an object of the version that n has.
func (p poolNodes) update(ctx context.Context, n poolNode, pools cilium.PoolsSpec) (poolNode, error) {
	fresh, err := n.with(pools)
	if err != nil {
		return n, err
	}
	now, err := p.write(ctx, http.MethodPut, n.Metadata.Name, fresh)
	if err != nil {
		return n, err
	}
	return readPoolNode(now), nil
}

// nodeCIDRs are Node objects, whose pod CIDRs are what they have; those cannot be changed once they are there.
type nodeCIDRs struct{ client kubernetes.Interface }

// follow implements poolTarget.
func (t nodeCIDRs) follow(ctx context.Context, listed func([]poolNode), put, gone func(poolNode), giveUp func(error)) {
	followNodes(ctx, t.client, new(writers).watching(sink[*v1.Node]{
		listed: func(nodes []*v1.Node) {
			list := make([]poolNode, len(nodes))
			for i, n := range nodes {
				list[i] = nodePools(n)
			}
			listed(list)
		},
		put:  func(n *v1.Node, _ bool) { put(nodePools(n)) },
		gone: func(n *v1.Node) { gone(nodePools(n)) },
	}, giveUp))
}

// nodePools is a Node as a node of pools. A pod CIDR that cannot be read is nobody's.
func nodePools(n *v1.Node) poolNode {
	c := &cilium.CiliumNode{Metadata: cilium.ObjectMeta{Name: n.Name, UID: string(n.UID), ResourceVersion: n.ResourceVersion}}
	var cidrs []netip.Prefix
	for _, text := range n.Spec.PodCIDRs {
		if p, err := space.ParsePrefix(text); err == nil {
			cidrs = append(cidrs, p)
		}
	}
	if len(cidrs) > 0 {
		c.Spec.IPAM.Pools.Allocated = []cilium.PoolAllocation{{Pool: cilium.DefaultPool, CIDRs: cidrs}}
	}
	at, _ := revision(n.ResourceVersion) // 0 is older than any
	return poolNode{CiliumNode: c, revision: at, owner: string(n.UID)}
}

// show implements poolTarget.
func (t nodeCIDRs) show(ctx context.Context, n poolNode, allocated []cilium.PoolAllocation) (poolNode, error) {
	if len(allocated) != 1 || len(n.Spec.IPAM.Pools.Allocated) > 0 {
		return n, fmt.Errorf("node %s shows other pod CIDRs than it holds, and those cannot be changed", n.Metadata.Name)
	}
	p := cidrPatchOf(identity{UID: n.Metadata.UID, ResourceVersion: n.Metadata.ResourceVersion}, allocated[0].CIDRs)
	fresh := new(v1.Node)
	err := t.client.CoreV1().RESTClient().Patch(p.kind).Resource("nodes").Name(n.Metadata.Name).Body(p.body).MaxRetries(0).Do(ctx).Into(fresh)
	return nodePools(fresh), err
}
