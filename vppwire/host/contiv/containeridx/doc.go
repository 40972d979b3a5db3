// Package containeridx is the index of the containers that a node's agent has wired, under the names of contiv/vpp's package:
// by container, pod, namespace and VPP interface, and with a watch.
//
// It decides nothing: what is in the index is the agent's state, and a List is that of one moment. Start at Reader, which
// contiv.Plugin's GetContainerIndex returns, or at List. Containers are in the order of their IDs. Upstream's lookup by
// application namespace is not there, as pods are not wired to VPP's TCP stack. To index by something more, add it to Config and to List.
package containeridx
