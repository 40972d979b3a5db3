// Package kube drives ipam/nodeipam's controllers and ipam/cilium's operators on a real Kubernetes API server, and
// tells an agent what that server knows of its cluster and keeps for it: Connection is the way there, Facts and Store
// are what vppwire/host asks for.
//
// It decides what an object, a change and an answer mean. It never decides who gets which CIDR: that is ipam/nodeipam.
// Start at New and Driver.Run for the controllers, at NewFacts for an agent's view. The opposite is ipam/nodeipam,
// which performs nothing; the other driver of the same controllers is sim/internal/controllers, in virtual time, and
// the model of the server is sim/internal/cluster.
//
// One goroutine owns the controller and takes its events one by one; requests are made beside it. Each term as the
// leader has a controller of its own, and ends with all of its requests answered or given up. Until when this process
// leads follows from when it began to renew its lease, and no request is waited for longer than that. An answer that
// did not come, a broken connection and a server's own failure are unknown, never failed, and no write is repeated
// behind the controller's back.
//
// Changes come from client-go's Reflector, the half of an informer that lists and watches. The other half, a cache and
// its deltas, is left out on purpose: it turns a list after a gap into single changes, in which whoever is gone may
// come after whoever gets its CIDR. So there is no DeletedFinalStateUnknown here; what went away in a gap is not in the
// list. No list is ever taken from what a server remembers of the past (resourceVersion 0).
//
// A record of a node ID is an object of its own, and its resourceVersion the revision that writes compare: package
// storetest says what that owes, and Store passes it as etcd does.
//
// Operator drives Cilium's cluster-pool and multi-pool (ipam/cilium, PoolTerm): who holds what is a ledger of such
// objects, an entry each. Requester drives the agent's side of it.
//
// To add an effect, perform it in effects.go; to add a fact, give Facts another reflector.
package kube
