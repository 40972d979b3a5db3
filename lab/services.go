package lab

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/nodeagent"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/endpoints"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// services are the API server's services, and the controller that keeps their endpoint slices: whoever drives the lab
// looks often, and writes what is different.
type services struct {
	// mu guards what follows: snapshots look too.
	mu sync.Mutex
	// wanted are the services that there are to be, by name; unready the pods that fail their readiness probes.
	wanted  map[string]scenarios.Service
	unready map[string]bool
	// told is what the API server has, by name.
	told map[string]told
	// fronts are where clients get an endpoint.
	fronts endpoints.Served
	// looked is when the controller last looked.
	looked time.Time
}

// told is a service as the API server has it.
type told struct {
	scenario scenarios.Service
	zones    scenarios.Zones
	service  service.Service
	slice    service.Slice
}

// slicesEvery is how often the controller looks: what changes together is told together.
const slicesEvery = 100 * time.Millisecond

func (s *services) init() {
	s.wanted, s.unready, s.told = map[string]scenarios.Service{}, map[string]bool{}, map[string]told{}
}

// SetService implements timeline.ControlPlane.
func (st stage) SetService(svc scenarios.Service) {
	st.services.mu.Lock()
	defer st.services.mu.Unlock()
	st.services.wanted[svc.Name] = svc
}

// RemoveService implements timeline.ControlPlane.
func (st stage) RemoveService(name string) {
	st.services.mu.Lock()
	defer st.services.mu.Unlock()
	delete(st.services.wanted, name)
}

// SetReady implements timeline.ControlPlane.
func (st stage) SetReady(pods []string, ready bool) {
	st.services.mu.Lock()
	defer st.services.mu.Unlock()
	for _, name := range pods {
		if ready {
			delete(st.services.unready, name)
		} else {
			st.services.unready[name] = true
		}
	}
}

// running are the pods of a machine that is on which have an address.
func (n *node) runningPods() []endpoints.Pod {
	if !n.isUp() {
		return nil
	}
	k := n.kubelet
	k.Lock()
	defer k.Unlock()
	var out []endpoints.Pod
	for _, w := range k.InOrder() {
		if s, runs := w.Current(); runs && s.exists && s.addr.IsValid() {
			out = append(out, endpoints.Pod{App: w.pod.app, Node: n.name, Addr: s.addr, Unready: n.w.services.unready[w.pod.name], Deleting: w.pod.deleting.Load()})
		}
	}
	return out
}

// served is what the API server should have. services.mu is held.
func (w *World) served() map[string]told {
	var pods []endpoints.Pod
	var hosts []endpoints.Host
	for _, n := range w.inOrder() {
		pods = append(pods, n.runningPods()...)
		n.mu.Lock()
		if len(n.management) > 0 {
			hosts = append(hosts, endpoints.Host{Name: n.name, Addr: n.management[0]})
		}
		n.mu.Unlock()
	}
	out, zones := map[string]told{}, w.scenario().Topology.Zones
	for name, s := range w.services.wanted { //vppdrill:unordered each by itself
		out[name] = told{s, zones, endpoints.Service(s), endpoints.Slice(s, zones, pods, hosts)}
	}
	return out
}

// servicesTold reports whether the API server has every service and endpoint as they are.
func (w *World) servicesTold() bool {
	w.services.mu.Lock()
	defer w.services.mu.Unlock()
	return reflect.DeepEqual(w.served(), w.services.told)
}

// publishServices writes what is different, as long as the API server answers.
func (w *World) publishServices(now time.Time) {
	s := &w.services
	s.mu.Lock()
	defer s.mu.Unlock()
	w.mu.Lock()
	answers := w.apiUp()
	w.mu.Unlock()
	if !answers || now.Sub(s.looked) < slicesEvery || len(s.wanted)+len(s.told) == 0 {
		return
	}
	s.looked = now
	if err := s.write(context.Background(), w.control, w.served()); err != nil {
		w.Fail(err)
		return
	}
	for _, f := range s.fronts.Now(s.toldStates(nil)) {
		w.Record.Tell(f, "")
	}
}

func (s *services) write(ctx context.Context, p *controlPlane, want map[string]told) error {
	for _, name := range slices.Sorted(maps.Keys(s.told)) {
		if _, stays := want[name]; stays {
			continue
		}
		n := s.told[name].service.Name
		if err := p.objects.DeleteService(ctx, n); err != nil {
			return err
		}
		if err := p.objects.DeleteSlice(ctx, n); err != nil {
			return err
		}
		delete(s.told, name)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		have, known := s.told[name]
		now := want[name]
		if !known || !reflect.DeepEqual(have.service, now.service) {
			if err := p.objects.PutService(ctx, now.service); err != nil {
				return err
			}
		}
		if !known || !reflect.DeepEqual(have.slice, now.slice) {
			if err := p.objects.PutSlice(ctx, now.slice); err != nil {
				return err
			}
		}
		s.told[name] = now
	}
	return nil
}

// heard is what an agent that has heard of everything tells of services.
func (s *services) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, t := range s.told { //vppdrill:unordered sorted by who asks
		out = append(out, nodeagent.HeardService(t.service), nodeagent.HeardSlice(t.slice))
	}
	return out
}

// states are the services as the API server has them.
func (s *services) states(nodes []fact.NodeState) []scenarios.ServiceState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.toldStates(nodes)
}

// toldStates are those, while mu is held.
func (s *services) toldStates(nodes []fact.NodeState) []scenarios.ServiceState {
	var out []scenarios.ServiceState
	for _, name := range slices.Sorted(maps.Keys(s.told)) {
		t := s.told[name]
		out = append(out, endpoints.State(t.scenario, t.zones, t.slice, nodes))
	}
	return out
}
