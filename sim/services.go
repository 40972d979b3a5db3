package sim

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/endpoints"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// services is what the API server has of services, and the controller that keeps endpoint slices.
type services struct {
	// served are the services that there are, by name; unready the pods that fail their readiness probes.
	served  map[string]scenarios.Service
	unready map[string]bool
	// due: the controller is about to look.
	due bool
	// fronts are where clients get an endpoint.
	fronts endpoints.Served
}

// Times of the controller of endpoint slices: how long it gathers changes (its default of 1 s for batches of pods is
// for large clusters), and when it tries again what the API server did not take.
const (
	slicesAfter = 100 * time.Millisecond
	slicesRetry = time.Second
)

// serving reports whether agents serve services.
func (w *World) serving() bool { return w.s.Config.Wiring.Services == scenarios.ServedByVPP }

// SetService implements timeline.ControlPlane.
func (st stage) SetService(s scenarios.Service) {
	st.services.served[s.Name] = s
	st.endpointsDue(slicesAfter)
}

// RemoveService implements timeline.ControlPlane.
func (st stage) RemoveService(name string) {
	delete(st.services.served, name)
	st.endpointsDue(slicesAfter)
}

// SetReady implements timeline.ControlPlane.
func (st stage) SetReady(pods []string, ready bool) {
	for _, name := range pods {
		if ready {
			delete(st.services.unready, name)
		} else {
			st.services.unready[name] = true
		}
	}
	st.endpointsDue(slicesAfter)
}

// watchEndpoints has endpoint slices follow pods and nodes.
func (w *World) watchEndpoints() {
	w.services.served, w.services.unready = map[string]scenarios.Service{}, map[string]bool{}
	if !w.serving() {
		return
	}
	w.api.Observe(func(old, now cluster.Object) {
		if kind := cmp.Or(old, now).Kind(); kind == cluster.KindPod || kind == cluster.KindNode {
			w.endpointsDue(slicesAfter)
		}
	})
}

func (w *World) endpointsDue(after time.Duration) {
	if w.services.due || !w.serving() {
		return
	}
	w.services.due = true
	w.eng.After(after, &happening{nil, "endpoints", func() {
		w.services.due = false
		if !w.publishServices() {
			w.endpointsDue(slicesRetry)
		}
	}})
}

// publishServices makes the API server's services and slices what they should be; false where it does not answer.
func (w *World) publishServices() bool {
	if !w.api.Available() {
		return false
	}
	w.retract(cluster.KindService, func(o cluster.Object) bool { return has(w.services.served, o.Common().Name) })
	w.retract(cluster.KindEndpoints, func(o cluster.Object) bool { return has(w.services.served, o.(*cluster.Endpoints).Value.Service) })
	for _, name := range slices.Sorted(maps.Keys(w.services.served)) {
		s := w.services.served[name]
		w.publish(&cluster.Service{Meta: cluster.Meta{Namespace: "default", Name: name}, Value: endpoints.Service(s)},
			func(o cluster.Object) any { return o.(*cluster.Service).Value })
		parts := endpoints.Split(w.slice(s), w.slicesOf(name))
		for _, part := range parts {
			w.publish(&cluster.Endpoints{Meta: cluster.Meta{Namespace: "default", Name: part.Name.Name}, Value: part},
				func(o cluster.Object) any { return o.(*cluster.Endpoints).Value })
		}
		w.retract(cluster.KindEndpoints, func(o cluster.Object) bool {
			value := o.(*cluster.Endpoints).Value
			return value.Service != name || slices.ContainsFunc(parts, func(s service.Slice) bool { return s.Name == value.Name })
		})
	}
	for _, f := range w.services.fronts.Now(w.serviceStates(nil)) {
		w.emit(f)
	}
	return true
}

// retract deletes the objects of a kind that are not to stay.
func (w *World) retract(kind cluster.Kind, stays func(cluster.Object) bool) {
	objects, _ := w.api.List(kind, "")
	for _, o := range slices.Clone(objects) {
		if m := o.Common(); !stays(o) {
			must(w.api.Delete(kind, m.Key(), m.UID))
		}
	}
}

// slicesOf are the slices of a service that the API server has, by name.
func (w *World) slicesOf(name string) (parts []service.Slice) {
	objects, _ := w.api.List(cluster.KindEndpoints, "")
	for _, o := range objects {
		if s := o.(*cluster.Endpoints).Value; s.Service == name {
			parts = append(parts, s)
		}
	}
	return parts
}

func has(m map[string]scenarios.Service, name string) bool { _, ok := m[name]; return ok }

// must: the API server answers, and there is no other writer of these objects.
func must(err error) {
	if err != nil {
		panic("sim: services: " + err.Error())
	}
}

func (w *World) publish(o cluster.Object, value func(cluster.Object) any) {
	m := o.Common()
	old, known := w.api.Get(o.Kind(), m.Key())
	switch {
	case !known:
		must(w.api.Create(o))
	case !reflect.DeepEqual(value(old), value(o)):
		m.UID = old.Common().UID
		must(w.api.Update(o))
	}
}

// slice is what the controller makes of a service, before it divides it.
func (w *World) slice(s scenarios.Service) service.Slice {
	var list []endpoints.Pod
	pods, _ := w.api.List(cluster.KindPod, "")
	for _, o := range pods {
		p := o.(*cluster.Pod)
		if p.IP.IsValid() && p.Phase == cluster.Running {
			list = append(list, endpoints.Pod{App: p.App, Node: p.Node, Addr: p.IP, Unready: w.services.unready[p.Name], Deleting: p.Deleting})
		}
	}
	var hosts []endpoints.Host
	nodes, _ := w.api.List(cluster.KindNode, "")
	for _, o := range nodes {
		if n := o.(*cluster.Node); len(n.Addresses) > 0 {
			hosts = append(hosts, endpoints.Host{Name: n.Name, Addr: n.Addresses[0]})
		}
	}
	return endpoints.Slice(s, w.s.Topology.Zones, list, hosts)
}

// serviceStates are the services as the API server has them, with where their ready endpoints are.
func (w *World) serviceStates(nodes []fact.NodeState) []scenarios.ServiceState {
	var out []scenarios.ServiceState
	for _, name := range slices.Sorted(maps.Keys(w.services.served)) {
		if parts := w.slicesOf(name); len(parts) > 0 {
			out = append(out, endpoints.State(w.services.served[name], w.s.Topology.Zones, endpoints.Join(parts), nodes))
		}
	}
	return out
}
