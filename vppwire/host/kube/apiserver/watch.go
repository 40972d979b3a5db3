package apiserver

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// resourceOf is what a key is of.
func resourceOf(key string) string {
	resource, _, _ := strings.Cut(key, "/")
	return resource
}

// kindOf is what objects of a resource are, as lists and bookmarks name it.
func kindOf(resource string) (api, kind string) {
	switch resource {
	case "endpointslices":
		return "discovery.k8s.io/v1", "EndpointSlice"
	case "networkpolicies":
		return "networking.k8s.io/v1", "NetworkPolicy"
	case "servicecidrs":
		return "networking.k8s.io/v1", "ServiceCIDR"
	case "ciliumnodes":
		return "cilium.io/v2", "CiliumNode"
	case "ipamblocks":
		return "crd.projectcalico.org/v1", "IPAMBlock"
	case "ippools":
		return "crd.projectcalico.org/v1", "IPPool"
	case "blockaffinities":
		return "crd.projectcalico.org/v1", "BlockAffinity"
	case "ipamhandles":
		return "crd.projectcalico.org/v1", "IPAMHandle"
	case CalicoConfigs:
		return "crd.projectcalico.org/v1", "IPAMConfig"
	case WhereaboutsPools:
		return "whereabouts.cni.cncf.io/v1alpha1", "IPPool"
	case "overlappingrangeipreservations":
		return "whereabouts.cni.cncf.io/v1alpha1", "OverlappingRangeIPReservation"
	case "leases":
		return "coordination.k8s.io/v1", "Lease"
	}
	return "v1", map[string]string{"nodes": "Node", "pods": "Pod", "configmaps": "ConfigMap", "events": "Event", "nodeidrecords": "NodeIDRecord", "services": "Service", "namespaces": "Namespace", "poolnodes": "PoolNode",
		"nodeconfigs": "NodeConfig", "ipamconfigs": "IPAMConfig"}[resource]
}

func (s *Server) list(w http.ResponseWriter, p Path, mine func(string, Object) bool) {
	s.mu.Lock()
	items, version := s.matching(mine), s.version
	s.mu.Unlock()
	api, kind := kindOf(p.Resource)
	reply(w, http.StatusOK, Object{"apiVersion": api, "kind": kind + "List", "metadata": Object{"resourceVersion": versionText(version)}, "items": items})
}

// watch tells changes until the client has gone or watches are ended.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, p Path, mine func(string, Object) bool) {
	from, _ := strconv.ParseInt(r.URL.Query().Get("resourceVersion"), 10, 64)
	initial := r.URL.Query().Get("sendInitialEvents") == "true"
	s.mu.Lock()
	cut, out := s.cut, []any{}
	event := func(kind string, o Object) { out = append(out, Object{"type": kind, "object": o}) }
	switch {
	case initial && s.Lists:
		s.mu.Unlock()
		Refuse(w, http.StatusUnprocessableEntity, "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled", "sendInitialEvents")
		return
	case !initial && from < s.oldest:
		s.mu.Unlock()
		Refuse(w, http.StatusGone, "too old resource version", "")
		return
	case initial:
		for key, o := range s.objects { // in any order, as a server does
			if mine(key, o) {
				event("ADDED", o)
			}
		}
		from = s.version
		api, kind := kindOf(p.Resource)
		event("BOOKMARK", Object{"apiVersion": api, "kind": kind, "metadata": Object{
			"resourceVersion": versionText(from), "annotations": Object{metav1.InitialEventsAnnotationKey: "true"}}})
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	for {
		s.mu.Lock()
		if s.cut != cut { // it was ended at the same moment: what came behind is not its to tell
			s.mu.Unlock()
			return
		}
		changed := s.changed
		at, _ := slices.BinarySearchFunc(s.history, from+1, func(c change, v int64) int { return int(c.version - v) })
		for _, c := range s.history[at:] {
			if mine(c.key, c.now) {
				event(c.kind, c.now)
			}
			from = c.version
		}
		s.mu.Unlock()
		for _, o := range out {
			if json.NewEncoder(w).Encode(o) != nil {
				return
			}
		}
		out = nil
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		select {
		case <-changed:
		case <-cut:
			return
		case <-r.Context().Done():
			return
		}
	}
}
