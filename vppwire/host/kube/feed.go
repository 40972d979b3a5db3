package kube

import (
	"cmp"
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

// object is a kind of Kubernetes object, by pointer.
type object interface {
	runtime.Object
	metav1.Object
}

// sink takes what a Reflector reads, in its order, from one goroutine. It is a cache.ReflectorStore that stores
// nothing.
type sink[T object] struct {
	// asked is called when a list is asked for; nil: nobody wants to know.
	asked func()
	// listed takes everything that exists, in order of namespaces and names: at the start and after each gap.
	listed func([]T)
	// put takes an object that is new or has changed, gone the last state of one that was deleted.
	put  func(obj T, added bool)
	gone func(T)
}

func (s sink[T]) ask() {
	if s.asked != nil {
		s.asked()
	}
}

// Add implements cache.ReflectorStore.
func (s sink[T]) Add(obj any) error { s.put(obj.(T), true); return nil }

// Update implements cache.ReflectorStore.
func (s sink[T]) Update(obj any) error { s.put(obj.(T), false); return nil }

// Delete implements cache.ReflectorStore.
func (s sink[T]) Delete(obj any) error { s.gone(obj.(T)); return nil }

// Resync implements cache.ReflectorStore; there is no period for it.
func (s sink[T]) Resync() error { return nil }

// Replace implements cache.ReflectorStore.
func (s sink[T]) Replace(list []any, _ string) error {
	objects := make([]T, len(list))
	for i, obj := range list {
		objects[i] = obj.(T)
	}
	slices.SortFunc(objects, func(a, b T) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	s.listed(objects)
	return nil
}

// kindClient is what follow needs of a client.
type kindClient[L runtime.Object] interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// follow tells everything that exists and then every change until ctx ends, and lists again after each gap. Only
// objects that the field selector chooses are told; empty chooses all.
func follow[T object, L runtime.Object](ctx context.Context, client kubernetes.Interface, kind kindClient[L], selector string, example T, to sink[T]) {
	lists := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if o.ResourceVersion == "0" {
				o.ResourceVersion = "" // as it is now, not as the server remembers it
			}
			o.FieldSelector = selector
			to.ask()
			return kind.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = selector
			if o.SendInitialEvents != nil && *o.SendInitialEvents { // this server streams its lists
				to.ask()
			}
			return kind.Watch(ctx, o)
		},
	}
	r := cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(lists, client), example, to, cache.ReflectorOptions{Name: "vppdrill"})
	r.RunWithContext(ctx)
}

func followNodes(ctx context.Context, client kubernetes.Interface, to sink[*v1.Node]) {
	follow(ctx, client, client.CoreV1().Nodes(), "", &v1.Node{}, to)
}

// nodeFeed turns what is read of nodes into events of a controller.
func nodeFeed(tell func(nodeipam.Event)) sink[*v1.Node] {
	return sink[*v1.Node]{
		listed: func(list []*v1.Node) {
			nodes := make([]nodeipam.KubeNode, len(list))
			for i, n := range list {
				nodes[i] = kubeNode(n)
			}
			tell(nodeipam.Listed{Outcome: ipam.Done, Nodes: nodes})
		},
		put: func(n *v1.Node, added bool) {
			if added {
				tell(nodeipam.NodeAdded{Node: kubeNode(n)})
				return
			}
			tell(nodeipam.NodeUpdated{Node: kubeNode(n)})
		},
		gone: func(n *v1.Node) { tell(nodeipam.NodeDeleted{Node: kubeNode(n)}) },
	}
}
