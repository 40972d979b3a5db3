// Package ec2 is a small EC2 for one instance: its network interfaces, their subnet and what the instance's metadata
// service says of them. It decides what a request changes, when the change is done and which error code refuses it.
//
// It never imports the code that asks it: it must not share a belief with what it judges. Its opposite is the Manager
// of package ipam/datastore, which asks; the limits of real instance types are there too.
//
// Start at New. Every method takes the time, which must not go back; nothing happens by itself between two calls.
//
// Requests are judged in order by throttling, limits and the subnet, as AWS does. The metadata service shows what was
// true Config.MetadataLag ago. Faults of one answer, as an ENI left out of it, are the caller's to play on a copy.
//
// To add a request, give Instance a method that starts with throttle.
package ec2
