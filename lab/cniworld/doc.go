// Package cniworld is the World in which CNI plugins of any origin do what a scenario asks of pods: network namespaces
// play nodes and pods, libcni calls the chain of a configuration file. Neither VPP nor our agent runs.
//
// It decides what a container runtime would do with the answers, as containerd does it: a failed ADD is followed by a
// DEL, results are cached, a sandbox goes after its DEL has succeeded. It never decides what an address or a link should
// be: laws judge by what plugins answer, what their state on the disk says, what netlink and iptables show, and what
// packets do. The plugins run in namespaces of their node, mounts among them: each node has its own /var/lib/cni and /run.
//
// Start at Run. Times are real. Before anything else each node connects two pods and disconnects them, undisturbed: what
// is there afterwards belongs to the node, and what worked owes to go on working. A chain that fails then cannot run
// here. One goroutine drives a World; pods come and go on others.
//
// To show laws more of a node, see remains.go and snapshot.go; to kill plugins elsewhere, lab/internal/plugin.
package cniworld
