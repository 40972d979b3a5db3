// Package netns makes a lab's machines out of network namespaces: one for each node, one for each pod, and one for the
// fabric that joins the nodes.
//
// It decides names, links and where processes run. It never speaks to VPP or to an agent: the World in package lab
// does. Start at Backend. The other way of making machines is containers.
//
// The fabric is lab/internal/fabric's. Everything is named with the lab's ID: namespaces are vd-ID-fabric, vd-ID-NODE
// and vd-ID-pod-…; `ip netns` shows them. Processes are recorded in the lab's folder and carry the lab's mark in their
// environment. Sweep needs nothing else to remove what a killed lab left.
//
// To change what a node's Linux looks like, see machine.go.
package netns
