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

// The custom resource in which agents of multi-pool ask for addresses and are answered: spec.ipam.pools is a
// CiliumNode's. fixtures/kubernetes/base/crd.yaml defines it.
const (
	PoolNodeKind     = "PoolNode"
	PoolNodeResource = "poolnodes"
	// PoolNodesPath is where the server has them.
	PoolNodesPath = "/apis/" + Group + "/" + RecordVersion + "/" + PoolNodeResource
)

// readResource reads a PoolNode or a CiliumNode.
func readResource(u *unstructured.Unstructured) cilium.Object {
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
	x := cilium.Object{CiliumNode: n, Revision: at, Raw: u, Bad: err}
	for _, o := range u.GetOwnerReferences() {
		if o.Kind == "Node" && o.Name == u.GetName() {
			x.Owner = string(o.UID)
		}
	}
	return x
}

// withPools is an object with other pools; everything else of it stays.
func withPools(u *unstructured.Unstructured, pools cilium.PoolsSpec) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(pools)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	fresh := u.DeepCopy()
	return fresh, unstructured.SetNestedMap(fresh.Object, fields, "spec", "ipam", "pools")
}

// newPoolNode is a node's object, which belongs to its Node and goes when that goes.
func newPoolNode(x cilium.Object) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": Group + "/" + RecordVersion, "kind": PoolNodeKind}}
	u.SetName(x.Metadata.Name)
	u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: x.Metadata.Name, UID: types.UID(x.Owner)}})
	return withPools(u, x.Spec.IPAM.Pools)
}

// target is where an operator finds nodes and shows them what they have.
type target interface {
	// follow tells all nodes, then every change, until ctx ends; giveUp is told when another program gives them what they
	// have.
	follow(ctx context.Context, tell func(cilium.Event), giveUp func(error))
	// write replaces an object, if it is still the one and the version that it says.
	write(ctx context.Context, x cilium.Object) (cilium.Object, error)
}

// poolNodes are PoolNodes: their agents ask there, and are answered there.
type poolNodes struct{ objects custom }

func newPoolNodes(client kubernetes.Interface) poolNodes {
	return poolNodes{custom{client, PoolNodesPath}}
}

// poolSink tells objects as events.
func poolSink[T object](read func(T) cilium.Object, tell func(cilium.Event)) sink[T] {
	return sink[T]{
		listed: func(objects []T) {
			list := make([]cilium.Object, len(objects))
			for i, u := range objects {
				list[i] = read(u)
			}
			tell(cilium.Listed{Objects: list})
		},
		put:  func(u T, _ bool) { tell(cilium.Seen{Object: read(u)}) },
		gone: func(u T) { tell(cilium.Gone{Object: read(u)}) },
	}
}

// followThose tells the objects that a selector chooses.
func (p poolNodes) followThose(ctx context.Context, selector string, tell func(cilium.Event)) {
	follow(ctx, p.objects.client, p.objects, selector, &unstructured.Unstructured{}, poolSink(readResource, tell))
}

// follow implements target.
func (p poolNodes) follow(ctx context.Context, tell func(cilium.Event), _ func(error)) {
	p.followThose(ctx, "", tell)
}

// write implements target.
func (p poolNodes) write(ctx context.Context, x cilium.Object) (cilium.Object, error) {
	fresh, err := withPools(x.Raw.(*unstructured.Unstructured), x.Spec.IPAM.Pools)
	if err != nil {
		return x, err
	}
	return p.put(ctx, http.MethodPut, x.Metadata.Name, fresh)
}

// create makes a node's object.
func (p poolNodes) create(ctx context.Context, x cilium.Object) (cilium.Object, error) {
	fresh, err := newPoolNode(x)
	if err != nil {
		return x, err
	}
	return p.put(ctx, http.MethodPost, "", fresh)
}

func (p poolNodes) put(ctx context.Context, verb, name string, u *unstructured.Unstructured) (cilium.Object, error) {
	now, err := p.objects.write(ctx, verb, name, u)
	if err != nil {
		return cilium.Object{}, err
	}
	return readResource(now), nil
}

// nodeCIDRs are Node objects, whose pod CIDRs are what they have; those cannot be changed once they are there.
type nodeCIDRs struct{ client kubernetes.Interface }

// follow implements target.
func (t nodeCIDRs) follow(ctx context.Context, tell func(cilium.Event), giveUp func(error)) {
	followNodes(ctx, t.client, new(writers).watching(poolSink(nodePools, tell), giveUp))
}

// nodePools is a Node as a node of pools. A pod CIDR that cannot be read is nobody's.
func nodePools(n *v1.Node) cilium.Object {
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
	return cilium.Object{CiliumNode: c, Revision: at, Owner: string(n.UID), Raw: n}
}

// write implements target.
func (t nodeCIDRs) write(ctx context.Context, x cilium.Object) (cilium.Object, error) {
	allocated := x.Spec.IPAM.Pools.Allocated
	if len(allocated) != 1 || len(x.Raw.(*v1.Node).Spec.PodCIDRs) > 0 {
		return x, fmt.Errorf("node %s shows other pod CIDRs than it holds, and those cannot be changed", x.Metadata.Name)
	}
	p := cidrPatchOf(identity{UID: x.Metadata.UID, ResourceVersion: x.Metadata.ResourceVersion}, allocated[0].CIDRs)
	fresh := new(v1.Node)
	err := t.client.CoreV1().RESTClient().Patch(p.kind).Resource("nodes").Name(x.Metadata.Name).Body(p.body).MaxRetries(0).Do(ctx).Into(fresh)
	return nodePools(fresh), err
}
