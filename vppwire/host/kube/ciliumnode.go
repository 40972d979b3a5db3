package kube

import (
	"context"
	"net/http"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// Cilium's own custom resource of a node (pkg/k8s/apis/cilium.io/v2), of which operator and agents of modes crd and eni write spec.ipam
// and status.ipam. Its status is a subresource.
const (
	CiliumGroup        = "cilium.io"
	CiliumVersion      = "v2"
	CiliumNodeKind     = "CiliumNode"
	CiliumNodeResource = "ciliumnodes"
	// CiliumNodesPath is where the server has them.
	CiliumNodesPath = "/apis/" + CiliumGroup + "/" + CiliumVersion + "/" + CiliumNodeResource
)

// Fields of a CiliumNode that are ours; everything else of one stays as it is.
var (
	specOwned   = []string{"pool", "min-allocate", "max-allocate", "pre-allocate", "max-above-watermark"}
	statusOwned = []string{"used", "release-ips", "operator-status"}
)

// ciliumNodes are the CiliumNodes of a server.
type ciliumNodes struct{ objects custom }

func newCiliumNodes(client kubernetes.Interface) ciliumNodes {
	return ciliumNodes{custom{client, CiliumNodesPath}}
}

// follow implements target.
func (c ciliumNodes) follow(ctx context.Context, tell func(cilium.Event), _ func(error)) {
	c.followThose(ctx, "", tell)
}

// followOwn tells one node's.
func (c ciliumNodes) followOwn(ctx context.Context, node string, tell func(cilium.Event)) {
	c.followThose(ctx, fields.OneTermEqualSelector("metadata.name", node).String(), tell)
}

func (c ciliumNodes) followThose(ctx context.Context, selector string, tell func(cilium.Event)) {
	follow(ctx, c.objects.client, c.objects, selector, &unstructured.Unstructured{}, poolSink(readResource, tell))
}

// create makes a node's object, which belongs to its Node and goes when that goes. A server takes no status with it.
func (c ciliumNodes) create(ctx context.Context, x cilium.Object) (cilium.Object, error) {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": CiliumGroup + "/" + CiliumVersion, "kind": CiliumNodeKind}}
	u.SetName(x.Metadata.Name)
	u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: x.Metadata.Name, UID: types.UID(x.Owner)}})
	if err := merge(u, x); err != nil {
		return x, err
	}
	return c.put(ctx, http.MethodPost, "", u)
}

// write implements target: the status first, then the spec, as Cilium does (pkg/ipam/node.go, syncToAPIServer), each over the version
// that is known. Where the second is not taken, the watch brings what is there.
func (c ciliumNodes) write(ctx context.Context, x cilium.Object) (cilium.Object, error) {
	old := x.Raw.(*unstructured.Unstructured)
	fresh := old.DeepCopy()
	if err := merge(fresh, x); err != nil {
		return x, err
	}
	now := old
	if !reflect.DeepEqual(old.Object["status"], fresh.Object["status"]) {
		var err error
		if now, err = c.objects.write(ctx, http.MethodPut, x.Metadata.Name+"/status", fresh); err != nil {
			return x, err
		}
		fresh.SetResourceVersion(now.GetResourceVersion())
	}
	if reflect.DeepEqual(now.Object["spec"], fresh.Object["spec"]) {
		return readResource(now), nil
	}
	return c.put(ctx, http.MethodPut, x.Metadata.Name, fresh)
}

func (c ciliumNodes) put(ctx context.Context, verb, name string, u *unstructured.Unstructured) (cilium.Object, error) {
	now, err := c.objects.write(ctx, verb, name, u)
	if err != nil {
		return cilium.Object{}, err
	}
	return readResource(now), nil
}

// merge puts what is ours of a CiliumNode into its object.
func merge(u *unstructured.Unstructured, x cilium.Object) error {
	text, err := kjson.Marshal(x.CiliumNode)
	if err != nil {
		return err
	}
	var ours map[string]any
	if err := kjson.Unmarshal(text, &ours); err != nil {
		return err
	}
	for _, part := range [...]struct {
		name  string
		owned []string
	}{{"spec", specOwned}, {"status", statusOwned}} {
		have, _, _ := unstructured.NestedMap(u.Object, part.name, "ipam")
		if have == nil {
			have = make(map[string]any)
		}
		want, _, _ := unstructured.NestedMap(ours, part.name, "ipam")
		for _, field := range part.owned {
			if v, ok := want[field]; ok {
				have[field] = v
			} else {
				delete(have, field)
			}
		}
		if _, there := u.Object[part.name]; !there && len(have) == 0 {
			continue
		}
		if err := unstructured.SetNestedMap(u.Object, have, part.name, "ipam"); err != nil {
			return err
		}
	}
	return nil
}
