// Package cluster models what surrounds the node agents: the Kubernetes control plane, the kubelets, an etcd-like
// store, and the network between them.
//
// It decides which pods exist, where they run, when their sandboxes come and go, and how late each program is notified.
// It wires no pod and allocates no address: a kubelet asks a Machine, which the simulated world implements by its
// agents. It shares no code with the agents beyond the values that they exchange with the store.
//
// Start at Cluster, which joins the parts; each part (Store, Network, API, Informer, Scheduler, Kubelet, NodeLifecycle,
// Workload) can be used alone. Wiring a world takes a few lines:
//
//	c := cluster.New(cluster.Config{Clock: eng, Machine: world, Hooks: world.hooks()})
//	c.API.SetConfigMap("pools", pools)
//	c.AddNode(cluster.Node{Meta: cluster.Meta{Name: "node-1"}})
//	feed := c.NewFeed("node-1", node.step)                // agent events of the API server, after feed.Start()
//	client := c.NewStoreClient("node-1", node.step)       // effect agent.StoreRequest goes to client.Do
//	c.Workload.Create(cluster.PodSpec{Name: "web-0"})
//
// Everything happens inside the event loop of an engine.Engine, at most one thing per event, each with a canonical
// line. A message is one event. Idle and undisturbed parts cost none: no heartbeats, no polling, no timers for answers
// that are certain to come. If a message is lost, its caller learns it as in a real cluster, by a timeout.
//
// To add an object kind, see object.go and apikind.go; a source of pods, workload.go; a fault of the control plane,
// Network and StreamFaults.
package cluster
