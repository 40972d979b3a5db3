// Package container makes a lab's machines out of containers: each node is one, with its VPP, its agent and its pods
// inside.
//
// It decides how a container is made, how it is joined to the others, and how what runs in it is started and ended. It
// never speaks to VPP or to an agent: the World in package lab does. Start at Backend. The other way of making machines
// is lab/netns, without an engine; image packs the VPP of this machine for it.
//
// Docker makes no network for a node: its bridges lose frames to its own firewall as soon as bridge-nf-call-iptables is
// set. The nodes are joined by lab/internal/fabric, in a namespace vdc-ID-fabric, instead. A node's folder is its disk
// and is mounted under the same path, so that sockets and logs have one name inside and outside; this program is
// mounted too and is the container's first process (nodeinit), so that a lab and its nodes are of one version and any
// image with a fitting VPP will do. Power off is docker kill.
//
// Containers carry the lab's ID, its folder and its owner as labels. Sweep needs nothing else to remove what a killed
// lab left; testcontainers' own reaper, which wants an image from a registry, is off. The engine has to be on this
// machine: processes and namespaces of containers are looked at through /proc.
//
// To change what a node's container looks like, see box.go.
package container
