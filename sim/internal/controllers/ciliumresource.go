package controllers

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// ciliumObject is a resource in the form that the machines of ipam/cilium receive.
func ciliumObject(r *cluster.Resource) cilium.Object {
	n := *r.Value.(*cilium.CiliumNode)
	n.Metadata = cilium.ObjectMeta{Name: r.Name, UID: r.UID, ResourceVersion: fmt.Sprint(r.ResourceVersion)}
	return cilium.Object{CiliumNode: &n, Revision: r.ResourceVersion, Owner: r.Owner, Raw: r}
}

// ciliumFeed gives an informer's news to a machine.
type ciliumFeed struct{ step func(cilium.Event) }

// Listed implements cluster.Handler.
func (f ciliumFeed) Listed(objects []cluster.Object, _ int64) {
	list := make([]cilium.Object, len(objects))
	for i, o := range objects {
		list[i] = ciliumObject(o.(*cluster.Resource))
	}
	f.step(cilium.Listed{Objects: list})
}

// Changed implements cluster.Handler.
func (f ciliumFeed) Changed(ch cluster.Change) {
	x := ciliumObject(ch.Object.(*cluster.Resource))
	if ch.Type == cluster.Deleted {
		f.step(cilium.Gone{Object: x})
		return
	}
	f.step(cilium.Seen{Object: x})
}

// ciliumSelf gives the UID of a node's own Node object to a machine.
type ciliumSelf struct{ step func(cilium.Event) }

// Listed implements cluster.Handler.
func (f ciliumSelf) Listed(objects []cluster.Object, _ int64) {
	uid := ""
	for _, o := range objects {
		uid = o.Common().UID
	}
	f.step(cilium.NodeIs{UID: uid})
}

// Changed implements cluster.Handler.
func (f ciliumSelf) Changed(ch cluster.Change) {
	switch ch.Type {
	case cluster.Added:
		f.step(cilium.NodeIs{UID: ch.Object.Common().UID})
	case cluster.Deleted:
		f.step(cilium.NodeIs{})
	}
}

// writeResource replaces a resource of the version that a machine has seen. A request may arrive twice: each copy
// brings an object of its own.
func writeResource(x cilium.Object) func(*cluster.API) (cluster.Object, error) {
	old := x.Raw.(*cluster.Resource)
	return func(a *cluster.API) (cluster.Object, error) {
		fresh := &cluster.Resource{Meta: old.Meta, Owner: old.Owner, Value: x.CiliumNode}
		if err := a.Update(fresh); err != nil {
			return nil, err
		}
		return fresh, nil
	}
}

// createResource makes a node's resource. Kubernetes' garbage collector would delete one without a Node at once.
func createResource(x cilium.Object) func(*cluster.API) (cluster.Object, error) {
	return func(a *cluster.API) (cluster.Object, error) {
		if n, ok := a.Node(x.Metadata.Name); !ok || n.UID != x.Owner {
			return nil, cluster.ErrNotFound
		}
		fresh := &cluster.Resource{Meta: cluster.Meta{Name: x.Metadata.Name}, Owner: x.Owner, Value: x.CiliumNode}
		if err := a.Create(fresh); err != nil {
			return nil, err
		}
		return fresh, nil
	}
}

// wrote is the answer to a write.
func wrote(id uint64, o cluster.Object, err error) cilium.Wrote {
	w := cilium.Wrote{ID: id, Outcome: outcome(err)}
	switch r, ok := o.(*cluster.Resource); {
	case errors.Is(err, cluster.ErrExists):
		w.Outcome, w.Why = ipam.Conflict, err.Error()
	case err != nil:
		w.Why = err.Error()
	case ok:
		w.Object = ciliumObject(r)
	}
	return w
}

// collectOwned deletes resources whose Node object is gone, as Kubernetes' garbage collector does. A node that comes at
// once under the same name is another one: nothing of this resource belongs to it.
func collectOwned(env *Env) func(old, now cluster.Object) {
	return func(old, now cluster.Object) {
		n, ok := old.(*cluster.Node)
		if !ok || now != nil {
			return
		}
		api := env.Cluster.API
		env.Clock.After(0, &step{n.Name, "resource collected", func() {
			api.WhenAvailable(func() {
				key := cluster.Key{Name: n.Name}
				if o, ok := api.Get(cluster.KindResource, key); ok && o.(*cluster.Resource).Owner == n.UID {
					_ = api.Delete(cluster.KindResource, key, o.Common().UID) // ErrNotFound: it is gone
				}
			})
		}})
	}
}

// picker draws cilium's decisions from the run.
type picker struct{ env *Env }

// Pick implements cilium.Picker.
func (p picker) Pick(label string, n int) int { return p.env.pick(label, n) }

// blocksOf are the CIDRs that a resource shows.
func blocksOf(r *cluster.Resource) (list []netip.Prefix) {
	for _, a := range r.Value.(*cilium.CiliumNode).Spec.IPAM.Pools.Allocated {
		list = append(list, a.CIDRs...)
	}
	return list
}
