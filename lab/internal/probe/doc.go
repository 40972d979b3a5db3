// Package probe looks at real nodes: what VPP and Linux hold, as the views that laws judge, and what packets really do.
//
// It decides nothing about what should be there and changes nothing: dumps, pings, streams and captures only. It
// decodes VPP's and the kernel's answers by itself instead of asking the agent's code, so that a mistake there is seen
// here. The modelled counterpart of its views is sim/internal/view.
//
// Start at VPP and Linux for views, at Mesh for pings, at Capture for packets. A view is a copy of one moment; a node
// that changes while it is dumped may show halves. Lists are in the order that fact.VPP promises. Whoever sends packets
// does so from inside a pod's namespace, on a thread of its own.
//
// To show more of VPP, add its dump to dump.go and its place to tables.go.
package probe
