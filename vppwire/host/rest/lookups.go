package rest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	lookup "github.com/vppdrill/vppdrill/vppwire/host/contiv"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/containeridx"
)

// Paths of contiv/vpp's lookups (vppwire/host/contiv), as JSON: what an agent says of its node, and its containers. The second
// takes the index's keys as a query, all of which must fit.
const (
	NodeURL       = Prefix + "node"
	ContainersURL = Prefix + "containers"
)

// containerKeys are the queries of ContainersURL.
var containerKeys = map[string]func(*containeridx.Keys) *string{
	"containerID":  func(k *containeridx.Keys) *string { return &k.ContainerID },
	"podName":      func(k *containeridx.Keys) *string { return &k.PodName },
	"podNamespace": func(k *containeridx.Keys) *string { return &k.PodNamespace },
	"vppIfName":    func(k *containeridx.Keys) *string { return &k.VppIf },
}

func (h handler) node(w http.ResponseWriter, r *http.Request) {
	var n lookup.Node
	if h.ask(w, r, func(a *agent.Agent) { n = lookup.NodeOf(a) }) {
		answer(w, n)
	}
}

func (h handler) containers(w http.ResponseWriter, r *http.Request) {
	var keys containeridx.Keys
	for key, values := range r.URL.Query() { //vppdrill:unordered any of them is refused
		field := containerKeys[key]
		if field == nil || len(values) != 1 || values[0] == "" {
			http.Error(w, fmt.Sprintf("%q: want each of %s once at the most, with a value", key, strings.Join(slices.Sorted(maps.Keys(containerKeys)), ", ")), http.StatusBadRequest)
			return
		}
		*field(&keys) = values[0]
	}
	var l containeridx.List
	if h.ask(w, r, func(a *agent.Agent) { l = lookup.ContainersOf(a) }) {
		answer(w, append(containeridx.List{}, l.Where(keys)...)) // an empty list is a list
	}
}
