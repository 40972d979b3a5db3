// Package etcd is an agent's store and its view of the cluster in etcd.
//
// It decides which keys hold what and what etcd's answers mean. It never decides what is written: that is
// vppwire/agent. Start at Connect, then Client.Store and Client.Cluster. Every request is one transaction; one that is
// not answered in time is unavailable, which says nothing about whether it was done. A watch ends, and is told as lost,
// rather than miss something.
//
// etcd's own cluster ID survives the loss of all data where a member is made anew under its old name. So a key with a
// random value stands for the data, every transaction reads it, and whoever finds it missing writes another one.
//
// Keys, below the prefix: store/… are the agents' records, nodes/NAME, pods/NODE/UID and pools are facts that
// Kubernetes would know and a lab writes: see Node and Pools. The model of this is sim/internal/cluster; package
// storetest says what both owe. Kubernetes' API server can take this package's place behind the same interfaces of
// vppwire/host.
package etcd
