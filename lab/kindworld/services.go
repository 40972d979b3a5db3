package kindworld

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	networking "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/endpoints"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// The cluster's own services, of the API server and of DNS, have a range of their own, so that those of scenarios may
// have the addresses that they have in every other world: scenarioServices, which the cluster gets as a second range.
const (
	clusterServices  = "10.111.0.0/16"
	scenarioServices = "10.96.0.0/16"
)

// readyGate is the readiness gate of a scenario's pods: what a readiness probe would find.
const readyGate = v1.PodConditionType("vppdrill.github.io/ready")

// services are those of the scenario. Real Services select real pods, and the cluster's own controller keeps their
// endpoints.
type services struct {
	// wanted are the services that there are to be, by name; unready the pods that fail their readiness probes.
	wanted  map[string]scenarios.Service
	unready map[string]bool
	// slices are the endpoints as the API server had them last, by object.
	slices map[string][]discovery.EndpointSlice
	// hosts are the endpoints that were written last of services that hosts serve, by object.
	hosts map[string][]netip.Addr
}

func (s *services) init() {
	s.wanted, s.unready = map[string]scenarios.Service{}, map[string]bool{}
	s.slices, s.hosts = map[string][]discovery.EndpointSlice{}, map[string][]netip.Addr{}
}

// serving reports whether agents serve services.
func (w *World) serving() bool { return w.agents.Services == agent.ServicesVPP }

// objectName is what a service's objects are called: some scenario's own is called kubernetes.
func objectName(service string) string { return "scenario-" + service }

// foundServices makes room for the scenario's services, and leaves the cluster's own to kube-proxy.
func (w *World) foundServices(ctx context.Context) error {
	w.services.init()
	if !w.serving() {
		return nil
	}
	room := &networking.ServiceCIDR{ObjectMeta: meta.ObjectMeta{Name: "scenario"}, Spec: networking.ServiceCIDRSpec{CIDRs: []string{scenarioServices}}}
	if _, err := w.client.NetworkingV1().ServiceCIDRs().Create(ctx, room, meta.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make room for services: %w", err)
	}
	patch := []byte(`{"metadata":{"labels":{"` + kube.AgentLabel + `":"` + kube.AgentNone + `"}}}`)
	for _, own := range []types.NamespacedName{{Namespace: "default", Name: "kubernetes"}, {Namespace: "kube-system", Name: "kube-dns"}} {
		if _, err := w.client.CoreV1().Services(own.Namespace).Patch(ctx, own.Name, types.MergePatchType, patch, meta.PatchOptions{}); err != nil {
			return fmt.Errorf("label service %s: %w", own, err)
		}
	}
	return nil
}

// SetService implements timeline.ControlPlane.
func (st stage) SetService(s scenarios.Service) {
	st.services.wanted[s.Name] = s
	st.ask("service "+s.Name, func(ctx context.Context) error {
		now, wanted := st.services.wanted[s.Name]
		if !wanted {
			return nil
		}
		return st.putService(ctx, objectOf(now))
	})
}

// putService makes a Service what it should be. Its address cannot be changed, so another one makes another object.
func (w *World) putService(ctx context.Context, want *v1.Service) error {
	all := w.client.CoreV1().Services(podNamespace)
	have, err := all.Get(ctx, want.Name, meta.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return err
	case have.Spec.ClusterIP == want.Spec.ClusterIP && len(have.Spec.Selector) > 0 == (len(want.Spec.Selector) > 0):
		want.ResourceVersion = have.ResourceVersion
		want.Spec.ClusterIPs = have.Spec.ClusterIPs
		_, err = all.Update(ctx, want, meta.UpdateOptions{})
		return err
	default:
		if err := gone(all.Delete(ctx, want.Name, meta.DeleteOptions{})); err != nil {
			return err
		}
	}
	_, err = all.Create(ctx, want, meta.CreateOptions{})
	return err
}

// objectOf is a scenario's service as a Service object.
func objectOf(s scenarios.Service) *v1.Service {
	out := &v1.Service{ObjectMeta: meta.ObjectMeta{Name: objectName(s.Name), Namespace: podNamespace}}
	proto := v1.ProtocolTCP
	if s.Protocol == scenarios.UDP {
		proto = v1.ProtocolUDP
	}
	out.Spec = v1.ServiceSpec{Type: v1.ServiceTypeClusterIP, ClusterIP: v1.ClusterIPNone,
		Ports: []v1.ServicePort{{Protocol: proto, Port: int32(s.Port), TargetPort: intstr.FromInt32(int32(s.TargetPort)), NodePort: int32(s.NodePort)}}}
	if s.ClusterIP.IsValid() {
		out.Spec.ClusterIP = s.ClusterIP.String()
	}
	if s.NodePort != 0 {
		out.Spec.Type = v1.ServiceTypeNodePort
	}
	if s.App != "" {
		out.Spec.Selector = map[string]string{labelApp: s.App}
	}
	if s.External.IsValid() {
		out.Spec.ExternalIPs = []string{s.External.String()}
	}
	if s.ExternalPolicy == scenarios.NodeLocal {
		out.Spec.ExternalTrafficPolicy = v1.ServiceExternalTrafficPolicyLocal
	}
	if s.InternalPolicy == scenarios.NodeLocal {
		out.Spec.InternalTrafficPolicy = new(v1.ServiceInternalTrafficPolicyLocal)
	}
	if s.HealthPort != 0 { // a Service has it with a load balancer alone, which nobody here provides
		out.Spec.Type, out.Spec.HealthCheckNodePort = v1.ServiceTypeLoadBalancer, int32(s.HealthPort)
	}
	switch s.Distribution {
	case scenarios.SameZone:
		out.Spec.TrafficDistribution = new(v1.ServiceTrafficDistributionPreferSameZone)
	case scenarios.SameNode:
		out.Spec.TrafficDistribution = new(v1.ServiceTrafficDistributionPreferSameNode)
	}
	if s.Affinity > 0 {
		out.Spec.SessionAffinity = v1.ServiceAffinityClientIP
		out.Spec.SessionAffinityConfig = &v1.SessionAffinityConfig{ClientIP: &v1.ClientIPConfig{TimeoutSeconds: new(int32(s.Affinity / time.Second))}}
	}
	return out
}

// RemoveService implements timeline.ControlPlane. What serves it by hand is the service's, and goes with it.
func (st stage) RemoveService(name string) {
	delete(st.services.wanted, name)
	delete(st.services.hosts, objectName(name))
	st.ask("delete service "+name, func(ctx context.Context) error {
		if _, again := st.services.wanted[name]; again {
			return nil
		}
		if err := gone(st.client.DiscoveryV1().EndpointSlices(podNamespace).Delete(ctx, objectName(name), meta.DeleteOptions{})); err != nil {
			return err
		}
		return gone(st.client.CoreV1().Services(podNamespace).Delete(ctx, objectName(name), meta.DeleteOptions{}))
	})
}

// SetReady implements timeline.ControlPlane: the next look at the pods says so.
func (st stage) SetReady(pods []string, ready bool) {
	for _, name := range pods {
		if ready {
			delete(st.services.unready, name)
		} else {
			st.services.unready[name] = true
		}
	}
}

// gate is what a pod's readiness gate says, and whether that is what it should.
func (w *World) gate(p *v1.Pod) (want v1.ConditionStatus, right bool) {
	want = v1.ConditionTrue
	if w.services.unready[p.Name] {
		want = v1.ConditionFalse
	}
	return want, slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == readyGate && c.Status == want })
}

// lookAtServices reads endpoints, and writes those of hosts and the readiness of pods where they are not what they
// should be.
func (w *World) lookAtServices(ctx context.Context) error {
	if !w.serving() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	for _, name := range slices.Sorted(maps.Keys(w.pods.listed)) {
		p := w.pods.listed[name]
		want, right := w.gate(&p)
		if right || p.DeletionTimestamp != nil || p.Spec.NodeName == "" {
			continue
		}
		patch := []byte(`{"metadata":{"uid":"` + string(p.UID) + `"},"status":{"conditions":[{"type":"` + string(readyGate) + `","status":"` + string(want) + `"}]}}`)
		if _, err := w.client.CoreV1().Pods(podNamespace).Patch(ctx, name, types.StrategicMergePatchType, patch, meta.PatchOptions{}, "status"); gone(err) != nil && !apierrors.IsConflict(err) {
			return err
		}
	}
	for _, s := range w.services.wanted { //vppdrill:unordered each by itself
		if err := w.putHosts(ctx, s); err != nil {
			return err
		}
	}
	list, err := w.client.DiscoveryV1().EndpointSlices(podNamespace).List(ctx, meta.ListOptions{})
	if err != nil {
		return err
	}
	clear(w.services.slices)
	for _, s := range list.Items {
		of := s.Labels[discovery.LabelServiceName]
		w.services.slices[of] = append(w.services.slices[of], s)
	}
	return nil
}

// putHosts writes the endpoints of a service that hosts serve: no controller knows them.
func (w *World) putHosts(ctx context.Context, s scenarios.Service) error {
	if s.Hosts == "" {
		return nil
	}
	name := objectName(s.Name)
	want := w.expected(s)
	if have, written := w.services.hosts[name]; written && slices.Equal(have, want) {
		return nil
	}
	object := objectOf(s).Spec.Ports[0]
	slice := &discovery.EndpointSlice{ObjectMeta: meta.ObjectMeta{Name: name, Namespace: podNamespace, Labels: map[string]string{discovery.LabelServiceName: name}},
		AddressType: discovery.AddressTypeIPv4, Ports: []discovery.EndpointPort{{Name: new(""), Protocol: &object.Protocol, Port: new(int32(s.TargetPort))}}}
	for _, n := range w.inOrder() {
		for _, a := range n.addresses() {
			if slices.Contains(want, a) {
				slice.Endpoints = append(slice.Endpoints, discovery.Endpoint{Addresses: []string{a.String()}, NodeName: new(n.name), Conditions: discovery.EndpointConditions{Ready: new(true), Serving: new(true)}})
			}
		}
	}
	all := w.client.DiscoveryV1().EndpointSlices(podNamespace)
	if err := gone(all.Delete(ctx, name, meta.DeleteOptions{})); err != nil {
		return err
	}
	if _, err := all.Create(ctx, slice, meta.CreateOptions{}); err != nil {
		return err
	}
	w.services.hosts[name] = want
	return nil
}

// addresses are a node's own of IPv4.
func (n *node) addresses() (list []netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range n.management {
		if a.Is4() {
			list = append(list, a)
		}
	}
	return list
}

// expected are the addresses that should serve a service, in order.
func (w *World) expected(s scenarios.Service) (list []netip.Addr) {
	for _, n := range w.inOrder() {
		if own := n.addresses(); len(own) > 0 && (s.Hosts == scenarios.AllNodes || string(s.Hosts) == n.name) {
			list = append(list, own[0])
		}
		if s.App == "" {
			continue
		}
		for _, p := range n.told.pods() {
			listed, there := w.pods.listed[strings.TrimPrefix(p.Pod, podNamespace+"/")]
			if there && listed.Labels[labelApp] == s.App && string(listed.UID) == p.UID && listed.DeletionTimestamp == nil && !w.services.unready[listed.Name] {
				list = append(list, p.Addr)
			}
		}
	}
	slices.SortFunc(list, netip.Addr.Compare)
	return list
}

// unsettledService says which service has not the endpoints that it should have, or "". Of nodes that are down nobody
// knows better than the server.
func (w *World) unsettledService() string {
	for _, n := range w.inOrder() {
		if n.up() == nil || n.last.agent == nil {
			return ""
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.services.wanted)) {
		s := w.services.wanted[name]
		var have []netip.Addr
		for _, e := range w.sliceOf(s).Endpoints {
			if e.Ready {
				have = append(have, e.Addr)
			}
		}
		slices.SortFunc(have, netip.Addr.Compare)
		if want := w.expected(s); !slices.Equal(have, want) {
			return fmt.Sprintf("service %s has the endpoints %v, and not yet %v", name, have, want)
		}
	}
	return ""
}

// sliceOf is all that the API server has of a service's endpoints.
func (w *World) sliceOf(s scenarios.Service) (out service.Slice) {
	for _, slice := range w.services.slices[objectName(s.Name)] {
		for _, e := range slice.Endpoints {
			for _, text := range e.Addresses {
				addr, err := netip.ParseAddr(text)
				if err != nil || e.NodeName == nil {
					continue
				}
				out.Endpoints = append(out.Endpoints, service.Endpoint{Addr: addr, Node: *e.NodeName, Ready: e.Conditions.Ready != nil && *e.Conditions.Ready})
			}
		}
	}
	return out
}

// serviceStates are the services as laws see them.
func (w *World) serviceStates(nodes []fact.NodeState) (out []scenarios.ServiceState) {
	for _, name := range slices.Sorted(maps.Keys(w.services.wanted)) {
		s := w.services.wanted[name]
		out = append(out, endpoints.State(s, 0, w.sliceOf(s), nodes))
	}
	return out
}
