// Package mode turns facts about a node, its peers and its pods into the objects that wire them.
//
// It decides which interfaces, tables, routes and neighbors there should be in each combination of modes: pods by veth
// and AF_PACKET, by tap or by macvlans on one such veth for all, nodes by a VXLAN full mesh or plain layer 2, the host
// by veth or tap. It never looks at what is there and never calls anything: vppwire.Session does.
//
// Start at Config. Functions are pure and return objects in the order in which they can be created. The walker that
// says whether the result works is scenarios/walk.
//
// To add a mode, write one file beside podtap.go, nodel2.go or hosttap.go, and its constant and row in modes.go. What
// is the same in all modes of pods, nodes or the host is in pod.go, node.go and host.go.
package mode
