// Package remotecni serves an agent by gRPC on a unix socket: RemoteCNI for contiv/vpp's CNI shim (package cni), and Lookup for
// programs that ask what vppwire/host/contiv answers (package lookup).
//
// It decides neither what a request does nor what is looked up. An ADD or DEL of RemoteCNI is one of our CNI plugin's: its code
// runs here with the request as its environment and configuration, and asks the agent's CNI socket (vppwire/host/cnisocket). So
// checks, logs, metrics and answers are the same, and there is no second path. Start at Listen and Server.Serve.
//
// A request that fails ends with a gRPC status, as contiv/vpp's agent does, whose shim reads nothing else; the CNIReply with
// its code and text is a detail of the status. Refused, by name: an IPAM plugin of the network's (the shim's own process would
// have to run it), and fields that this version does not know. The socket is its owner's alone, and root's.
//
// Calls run beside each other. One that its caller gives up is withdrawn. Streams end with the agent. To serve more, add it to
// lookup.proto and to lookups.go.
package remotecni
