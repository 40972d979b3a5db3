// Package ec2 is a small EC2: network interfaces, their subnets and what an instance's metadata service says of them. It
// decides what a request changes, when the change is done and which error code refuses it.
//
// It never imports the code that asks it: it must not share a belief with what it judges. Its opposite is the Manager
// of package ipam/datastore, which asks; the limits of real instance types are there too.
//
// Start at New for one instance by whole requests, as simulated nodes ask for them, or at NewRegion for a region by the
// single requests of EC2's API, which sim/ec2/endpoint serves over HTTP. Every method takes the time, which must not go
// back; nothing happens by itself between two calls.
//
// Requests are judged in order by throttling, limits and the subnet, as AWS does. The metadata service shows what was
// true Config.MetadataLag ago. Faults of one answer, as an ENI left out of it, are the caller's to play on a copy.
//
// To add a request, give Instance or Region a method that starts with throttle.
package ec2
