// Package nodeinit is the first process of a node that is a container: it starts what the lab orders, and nothing else.
//
// It decides nothing: which VPP, which programs and which pods there are is ordered over a unix socket in the node's
// folder, which container and host share under one path. It never speaks to an agent. Start at Main for the container's
// side, at Send for the lab's.
//
// One connection is one order. A process lives as long as its connection until the lab has said Keep; from then on it
// survives the lab, as a kept lab's processes must, and ends by Kill, by Stop or with the container. An order that was
// broken off leaves nothing. Orders come from the lab that made the container, so whoever may open the socket is root.
//
// To let a lab order more, add a field to Order and a case to serve.
package nodeinit
