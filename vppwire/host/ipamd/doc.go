// Package ipamd drives AWS VPC CNI's address daemon on a real node: the Manager of ipam/datastore over a DataStore, with a
// checkpoint on a disk.
//
// It decides nothing: when EC2 is asked, what is believed and which pod gets which address is ipam/datastore's. It never
// touches pods or VPP. Start at New and Daemon.Run; Cloud is what it asks, whose real one is in aws below. The other driver
// of the same machine is sim/internal/controllers.
//
// One call is under way at most. Its steps and the requests of pods exclude each other by one lock, and an address is told
// to a pod only when the checkpoint has it. While the checkpoint cannot be read, nothing is assigned and nothing written.
//
// Introspection and Pods are its interfaces: what upstream's ipamd shows at 127.0.0.1:61679, and what a CNI plugin asks on
// a unix socket. Metrics have upstream's names. To show more, add a path there or a figure in metrics.go.
package ipamd
