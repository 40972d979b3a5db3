package controllers

import (
	"maps"
	"slices"

	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// nodeWriter writes resources for one life of a node's daemon, one at a time.
type nodeWriter struct {
	env *Env
	// node is the node of the daemon, program the daemon's name in events.
	node, program string
	at            cluster.Endpoint
	api           *apiClient
	// requests counts writes.
	requests *int64
	// dead: the life is over. writing: a resource is being written.
	dead, writing bool
}

func newNodeWriter(e *Env, node, program string, requests *int64) *nodeWriter {
	w := &nodeWriter{env: e, node: node, program: program, at: e.Cluster.Net.Endpoint(node), requests: requests}
	w.api = e.apiClient(node, func() bool { return w.dead })
	return w
}

// write changes the resource called key; told receives the result in this life.
func (w *nodeWriter) write(what, key string, act func(*cluster.API) (cluster.Object, error), told func(cluster.Object, error)) {
	w.writing = true
	*w.requests++
	call := &cluster.ResourceCall{API: w.env.Cluster.API, What: w.program + " " + what + " " + key, Act: act, Then: func(o cluster.Object, err error) {
		if w.writing = false; !w.dead {
			told(o, err)
		}
	}}
	w.env.call(w.api, fault.Op{Node: w.node, Name: what, Key: key}, call, func() { call.Send(w.at) }, func() { w.env.Crash(w.node) })
}
