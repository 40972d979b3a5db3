// Package indexedjob runs a program as the pods of an Indexed Job of a Kubernetes cluster and hands on what they print,
// line by line.
//
// It decides how a task reaches the pods (a ConfigMap), how pods that were killed are replaced, and when all is over.
// It never knows what the lines mean: a pod that is replaced prints its lines again, and logs may lose some, so whoever
// asked counts what came. Start at Run. Time is the machine's; everything that Run has made is deleted when it returns,
// also where it fails or is interrupted.
package indexedjob
