// Package kubectl reads Kubernetes objects as `kubectl get -o json` prints them, or as an API server answers a list.
//
// It decides what a text holds, and what of a Node and of a Pod concerns addresses. It judges nothing, reads no file
// and keeps nothing: that is ipam/audit, for what is wrong with a cluster, and scenarios/trace, for a scenario of one.
// Start at Read. Objects come in the order of the text, items of lists one by one. Errors are *Error where the text is
// not what it should be. To know more of an object, add it to Node or Pod, or a kind beside them.
package kubectl
