package controllers

import (
	"maps"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/sim/cluster"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// conflictTime is until a resource is tried again that somebody else was faster to write; longer than a watch takes as a rule.
const conflictTime = 20 * time.Millisecond

// retryTime is until a daemon looks again at what a request may have done.
const retryTime = 5 * time.Second

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// nodeWriter writes resources for one life of a node's daemon, one at a time, and waits before it tries again what was refused or not answered.
type nodeWriter struct {
	env *Env
	// node is whose daemon it is, program the daemon's name in events.
	node, program string
	at            cluster.Endpoint
	api           *apiClient
	// requests counts writes; soon has the daemon look again.
	requests *int64
	soon     func()
	// dead: the life is over. writing: a resource is being written. retrying: it waits.
	dead, writing, retrying bool
}

func newNodeWriter(e *Env, node, program string, requests *int64) *nodeWriter {
	w := &nodeWriter{env: e, node: node, program: program, at: e.Cluster.Net.Endpoint(node), requests: requests}
	w.api = e.apiClient(node, func() bool { return w.dead })
	return w
}

// write changes the resource called key; told hears what came of it in this life.
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

// wait looks again after d.
func (w *nodeWriter) wait(d time.Duration) {
	w.retrying = true
	w.env.Clock.After(d, &step{w.node, w.program + " tries again", func() {
		w.retrying = false
		w.soon()
	}})
}
