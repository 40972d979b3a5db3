// Package podworker decides what a kubelet does next with one pod. Pod worker is the kubelet's own word for it.
//
// It decides and does nothing: it runs no plugin, makes no namespace and reads no clock. Start at Worker. Its driver plans (Plan),
// begins what is planned when its time has come (Begin), does it, and tells the outcome (Added, Deleted, Removed); in between
// it may tell whatever else happens to the pod, the kubelet and the machine. A worker does one thing at a time. Times are since any
// fixed instant. Outcomes of what was begun before the machine lost its power are recognized by their number and ignored, and a
// failure of any kind is tried again after a backoff. The simulator drives workers by events, labs by goroutines.
//
// To add something that a kubelet does, add a Do, when decide wants it, and what its outcome means.
package podworker
