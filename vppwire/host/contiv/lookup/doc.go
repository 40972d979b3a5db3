// Package lookup are the messages and the service Lookup, by which programs outside of the agent's ask what vppwire/host/contiv
// answers.
//
// It decides nothing: remotecni serves it. Start at LookupServer or NewLookupClient. The Go files are made of lookup.proto as
// those of package cni beside it are. A field keeps its number and its meaning; what is new gets the next number.
package lookup
