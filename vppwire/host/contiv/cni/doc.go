// Package cni are the messages and the service RemoteCNI of contiv/vpp's CNI shim, in this tree's own words and with the same
// bytes on the wire.
//
// It decides nothing: remotecni serves it. Start at RemoteCNIServer or NewRemoteCNIClient. The Go files are made of cni.proto by
// the tools protoc-gen-go and protoc-gen-go-grpc of go.mod, without protoc: a test of remotecni says when they are not,
// and makes them with -rewrite (`make golden`). A field may only be added where contiv/vpp has it.
package cni
