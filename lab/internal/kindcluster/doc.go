// Package kindcluster makes Kubernetes clusters of kind whose pods' packets VPP carries: nodes are containers with real
// kubelets, VPP and the node agent run in them as DaemonSets, and the program's own image is loaded from this machine.
//
// It decides what a cluster is made of and when it is ready. It never speaks to an agent: what runs in the cluster is
// what fixtures/kubernetes installs on any cluster. Start at Up. A cluster lives until Down, without a process that
// owns it; one whose making was killed is a stray, which Strays finds by the network that is made before everything
// else.
//
// The nodes' VPPs have a Docker network of their own as their wire. Up on a cluster that stands changes only what is
// different. Errors are one line with what mends them; ErrCannotRun of package lab says that this machine lacks
// something.
package kindcluster
