package cluster

import "net/netip"

// PodSpec is a pod to create.
type PodSpec struct {
	// Namespace defaults to "default".
	Namespace, Name string
	App             string
	// Node binds the pod at once; empty leaves it to the scheduler.
	Node string
	// Pinned pods are not evicted.
	Pinned bool
	// Static pods' sandboxes have a UID that the API server does not know.
	Static     bool
	Requests   string
	MaxPerNode int
	Pool       string
	// Wanted are the addresses that it asks for.
	Wanted []netip.Addr
	// Interface is how it asks to be connected.
	Interface string
}

// Key is the pod's namespace and name.
func (p PodSpec) Key() Key {
	if p.Namespace == "" {
		return Key{"default", p.Name}
	}
	return Key{p.Namespace, p.Name}
}

// Workload creates and deletes pods as users and their controllers do. It works inside the API server's reach; what
// falls into an outage happens at its end.
type Workload struct {
	api     *API
	created int64
}

// NewWorkload returns a Workload without work.
func (a *API) NewWorkload() *Workload {
	return &Workload{api: a}
}

// Created counts the pods created.
func (w *Workload) Created() int64 { return w.created }

// Create creates a pod, at once or at the end of the outage. Existing pods stay unchanged.
func (w *Workload) Create(spec PodSpec) {
	w.api.WhenAvailable(func() {
		key := spec.Key()
		p := &Pod{
			Meta: Meta{Namespace: key.Namespace, Name: key.Name}, App: spec.App, Node: spec.Node, Pinned: spec.Pinned, Static: spec.Static,
			Requests: spec.Requests, MaxPerNode: spec.MaxPerNode, Pool: spec.Pool, Wanted: spec.Wanted, Interface: spec.Interface,
		}
		if w.api.Create(p) == nil {
			w.created++
		}
	})
}

// Remove takes a pod's object away at once, as a forced deletion does. Its kubelet tears it down afterwards.
func (w *Workload) Remove(key Key) {
	w.api.WhenAvailable(func() {
		_ = w.api.Delete(KindPod, key, "") // ErrNotFound: as wanted
	})
}

// Delete starts a pod's graceful deletion. An absent pod stays absent.
func (w *Workload) Delete(key Key) {
	w.api.WhenAvailable(func() {
		_ = w.api.DeletePod(key, "") // ErrNotFound: as wanted
	})
}
