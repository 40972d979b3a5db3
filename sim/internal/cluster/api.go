package cluster

import (
	"errors"
	"fmt"
	"time"
)

// Errors of the API server, after the Status reasons of Kubernetes.
var (
	ErrExists      = errors.New("already exists")
	ErrNotFound    = errors.New("not found")
	ErrConflict    = errors.New("conflict")
	ErrGone        = errors.New("gone")
	ErrUnavailable = errors.New("unavailable")
)

// APIConfig configures an API.
type APIConfig struct {
	// History is how many changes of each kind a watch can go back; default 4096. Beyond it a watch gets ErrGone.
	History int
	// BookmarkEvery is the period of bookmarks; default 10 min. None is sent while nothing changes.
	BookmarkEvery time.Duration
}

const (
	defaultHistory   = 4096
	defaultBookmarks = 10 * time.Minute
)

// API is the API server: objects by kind, one global resource version, watches. Its methods act at once, at the server;
// clients elsewhere reach it through the network, with Informer and the calls of apicall.go.
type API struct {
	clock     Clock
	net       *Network
	at        Endpoint
	cfg       APIConfig
	version   int64
	uids      uint64
	kubelets  int // made so far
	kinds     [kindEnd]*kindState
	observers []func(old, now Object)
	down      bool
	deferred  []func()
	deliver   func(*InformerConfig) Delivery
	list      func(*InformerConfig) (age time.Duration, refused bool)
	bookmark  bool
	watched   int64 // the version of the last bookmark
	// unsettled and starved sum the kubelets' counts.
	unsettled, starved int
}

// NewAPI returns an empty API server at an endpoint.
func NewAPI(clock Clock, net *Network, at Endpoint, cfg APIConfig) *API {
	cfg.History = orDefault(cfg.History, defaultHistory)
	cfg.BookmarkEvery = orDefault(cfg.BookmarkEvery, defaultBookmarks)
	a := &API{clock: clock, net: net, at: at, cfg: cfg}
	for k := KindNode; k < kindEnd; k++ {
		a.kinds[k] = newKindState(cfg.History)
	}
	return a
}

// Version is the last resource version given out.
func (a *API) Version() int64 { return a.version }

// Endpoint is where the API server is reached.
func (a *API) Endpoint() Endpoint { return a.at }

// Observe calls fn after each change, at the server and without delay: old is nil for a creation, now for a deletion.
// fn must not change objects; it is for the controllers of this package and for counting.
func (a *API) Observe(fn func(old, now Object)) { a.observers = append(a.observers, fn) }

// OnDelivery has fn asked before each change is sent to an informer: what becomes of it.
func (a *API) OnDelivery(fn func(to *InformerConfig) Delivery) { a.deliver = fn }

// OnList has fn asked before each list that an informer takes from the server's cache: how old it is, or whether it is
// refused. No list is older than what its informer has seen, or than the cluster.
func (a *API) OnList(fn func(to *InformerConfig) (age time.Duration, refused bool)) { a.list = fn }

// Available reports whether the server answers.
func (a *API) Available() bool { return !a.down }

// SetAvailable starts (false) or ends an outage. An outage breaks every watch and refuses every request. Objects
// survive; the server's watch cache does not, so clients have to list again, as after the restart of a real one.
func (a *API) SetAvailable(up bool) {
	if a.down == !up {
		return
	}
	a.down = !up
	if a.down {
		for k := KindNode; k < kindEnd; k++ {
			a.kinds[k].endWatches()
		}
		return
	}
	for k := KindNode; k < kindEnd; k++ {
		a.kinds[k].forget(a.version)
	}
	for _, w := range a.waiters() {
		w()
	}
}

// waiters takes what waits for the end of the outage.
func (a *API) waiters() []func() {
	w := a.deferred
	a.deferred = nil
	return w
}

// WhenAvailable runs fn now, or in turn when the outage ends: controllers retry until they are heard.
func (a *API) WhenAvailable(fn func()) {
	if a.down {
		a.deferred = append(a.deferred, fn)
		return
	}
	fn()
}

// Create stores a new object and sets its UID where empty. The object is the API's from then on.
func (a *API) Create(o Object) error {
	m, state := o.Common(), a.kinds[o.Kind()]
	switch {
	case a.down:
		return ErrUnavailable
	case m.Name == "":
		return fmt.Errorf("%s without a name", o.Kind())
	case state.objects[m.Key()] != nil:
		return ErrExists
	}
	if m.UID == "" {
		a.uids++
		m.UID = newUID(a.uids)
	}
	a.store(nil, o)
	return nil
}

// Update replaces an object. Its UID must be the stored one's, and its ResourceVersion too unless it is 0; else
// ErrConflict. The object is the API's from then on.
func (a *API) Update(o Object) error {
	if a.down {
		return ErrUnavailable
	}
	m := o.Common()
	old := a.kinds[o.Kind()].objects[m.Key()]
	switch {
	case old == nil:
		return ErrNotFound
	case old.Common().UID != m.UID, m.ResourceVersion != 0 && old.Common().ResourceVersion != m.ResourceVersion:
		return ErrConflict
	}
	a.store(old, o)
	return nil
}

// Delete removes an object at once. With a UID it must be that one, else ErrConflict. For a pod that a kubelet still
// tends, this is a forced deletion; the graceful one is DeletePod.
func (a *API) Delete(kind Kind, key Key, uid string) error {
	if a.down {
		return ErrUnavailable
	}
	old := a.kinds[kind].objects[key]
	switch {
	case old == nil:
		return ErrNotFound
	case uid != "" && old.Common().UID != uid:
		return ErrConflict
	}
	a.store(old, nil)
	return nil
}

// Get returns an object; it must not be changed.
func (a *API) Get(kind Kind, key Key) (Object, bool) {
	o := a.kinds[kind].objects[key]
	return o, o != nil
}

// Pod returns a pod; it must not be changed.
func (a *API) Pod(key Key) (*Pod, bool) {
	p, ok := a.kinds[KindPod].objects[key].(*Pod)
	return p, ok
}

// Node returns a node; it must not be changed.
func (a *API) Node(name string) (*Node, bool) {
	n, ok := a.kinds[KindNode].objects[Key{Name: name}].(*Node)
	return n, ok
}

// List returns every object of a kind in key order, and the version it shows. With node set only pods bound there. The
// slice is shared and must not be changed.
func (a *API) List(kind Kind, node string) ([]Object, int64) {
	return a.kinds[kind].list(node), a.version
}

// Count is the number of objects of a kind.
func (a *API) Count(kind Kind) int { return len(a.kinds[kind].objects) }

// SetNode changes a copy of a node and stores it; ErrNotFound without it, ErrConflict when it is another than uid.
func (a *API) SetNode(name, uid string, change func(*Node)) error {
	if a.down {
		return ErrUnavailable
	}
	old, ok := a.Node(name)
	switch {
	case !ok:
		return ErrNotFound
	case uid != "" && old.UID != uid:
		return ErrConflict
	}
	n := *old
	change(&n)
	a.store(old, &n)
	return nil
}

// SetConfigMap creates or replaces a configuration; the generation grows by itself.
func (a *API) SetConfigMap(name string, value any) error {
	if a.down {
		return ErrUnavailable
	}
	old, _ := a.kinds[KindConfigMap].objects[Key{Name: name}].(*ConfigMap)
	if old == nil {
		return a.Create(&ConfigMap{Meta: Meta{Name: name}, Generation: 1, Value: value})
	}
	c := *old
	c.Generation++
	c.Value = value
	a.store(old, &c)
	return nil
}

// store replaces the object old by now, under the next version, and notifies every watch.
func (a *API) store(old, now Object) {
	a.version++
	last := old
	if now != nil {
		now.Common().ResourceVersion = a.version
		last = now
		if n, ok := now.(*Node); ok {
			n.seen = nil // it is perhaps a copy's
		}
	}
	a.kinds[last.Kind()].apply(old, now, a.version, a.clock.Now())
	a.armBookmark()
	for _, fn := range a.observers {
		fn(old, now)
	}
}
