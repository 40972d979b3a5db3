package sim

import (
	"cmp"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/cluster"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// services is what the API server has of services, and the controller that keeps endpoint slices.
type services struct {
	// served are the services that there are, by name; unready the pods that fail their readiness probes.
	served  map[string]scenarios.Service
	unready map[string]bool
	// due: the controller is about to look.
	due bool
}

// Times of the controller of endpoint slices: how long it gathers changes (its default of 1 s for batches of pods is for large clusters), and when
// it tries again what the API server did not take.
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
	for _, kind := range [...]cluster.Kind{cluster.KindService, cluster.KindEndpoints} {
		objects, _ := w.api.List(kind, "")
		for _, o := range slices.Clone(objects) {
			if m := o.Common(); !has(w.services.served, m.Name) {
				must(w.api.Delete(kind, m.Key(), m.UID))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.services.served)) {
		s := w.services.served[name]
		meta := cluster.Meta{Namespace: "default", Name: name}
		w.publish(&cluster.Service{Meta: meta, Value: kubeService(s)}, func(o cluster.Object) any { return o.(*cluster.Service).Value })
		w.publish(&cluster.Endpoints{Meta: meta, Value: w.slice(s)}, func(o cluster.Object) any { return o.(*cluster.Endpoints).Value })
	}
	return true
}

func has(m map[string]scenarios.Service, name string) bool { _, ok := m[name]; return ok }

// must: the API server answers, and nobody else writes these objects.
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

func serviceProto(p scenarios.Protocol) vppwire.Proto {
	if p == scenarios.UDP {
		return vppwire.UDP
	}
	return vppwire.TCP
}

// kubeService is a scenario's service as the API server has it.
func kubeService(s scenarios.Service) service.Service {
	out := service.Service{Name: service.Name{Namespace: "default", Name: s.Name}, Affinity: uint32(s.Affinity / time.Second),
		ExternalLocal: s.ExternalPolicy == scenarios.NodeLocal, InternalLocal: s.InternalPolicy == scenarios.NodeLocal,
		Ports: []service.Port{{Proto: serviceProto(s.Protocol), Port: uint16(s.Port), NodePort: uint16(s.NodePort)}}}
	if s.ClusterIP.IsValid() {
		out.ClusterIPs = []netip.Addr{s.ClusterIP}
	}
	if s.External.IsValid() {
		out.ExternalIPs = []netip.Addr{s.External}
	}
	return out
}

// slice is what the controller makes of a service's pods, or of hosts.
func (w *World) slice(s scenarios.Service) service.Slice {
	out := service.Slice{Name: service.Name{Namespace: "default", Name: s.Name}, Service: s.Name,
		Ports: []service.SlicePort{{Proto: serviceProto(s.Protocol), Port: uint16(s.TargetPort)}}}
	pods, _ := w.api.List(cluster.KindPod, "")
	for _, o := range pods {
		p := o.(*cluster.Pod)
		if s.App == "" || p.App != s.App || !p.IP.IsValid() || p.Phase != cluster.Running {
			continue
		}
		ready := !w.services.unready[p.Name]
		out.Endpoints = append(out.Endpoints, service.Endpoint{Addr: p.IP, Node: p.Node, Ready: ready && !p.Deleting, Serving: ready, Terminating: p.Deleting})
	}
	nodes, _ := w.api.List(cluster.KindNode, "")
	for _, o := range nodes {
		n := o.(*cluster.Node)
		if (s.Hosts == scenarios.AllNodes || string(s.Hosts) == n.Name) && len(n.Addresses) > 0 {
			out.Endpoints = append(out.Endpoints, service.Endpoint{Addr: n.Addresses[0], Node: n.Name, Ready: true, Serving: true})
		}
	}
	return out
}

// serviceStates are the services as the API server has them, with where their ready endpoints are.
func (w *World) serviceStates(nodes []scenarios.NodeState) []scenarios.ServiceState {
	var out []scenarios.ServiceState
	for _, name := range slices.Sorted(maps.Keys(w.services.served)) {
		s := scenarios.ServiceState{Service: w.services.served[name]}
		o, known := w.api.Get(cluster.KindEndpoints, cluster.Key{Namespace: "default", Name: name})
		if !known {
			continue
		}
		for _, e := range o.(*cluster.Endpoints).Value.Endpoints {
			if !e.Ready {
				continue
			}
			at := scenarios.EndpointState{Addr: e.Addr, Node: e.Node}
			for i := range nodes {
				for _, p := range nodes[i].Pods {
					if nodes[i].Name == e.Node && p.Addr == e.Addr {
						at.Netns = p.Netns
					}
				}
			}
			s.Endpoints = append(s.Endpoints, at)
		}
		slices.SortFunc(s.Endpoints, func(a, b scenarios.EndpointState) int { return a.Addr.Compare(b.Addr) })
		out = append(out, s)
	}
	return out
}
