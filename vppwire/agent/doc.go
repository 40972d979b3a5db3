// Package agent decides what one node does: which ID it holds, which pods get which address, and what VPP and Linux should
// look like because of it. It joins ipam and vppwire.
//
// It performs no IO, reads no clock and starts no goroutine. It never opens a socket, writes a file or waits: each event
// goes in with the time, and effects come out for a driver to perform. The opposite is vppwire/host, which does nothing else.
//
// Start at Agent.Step. Events are facts and answers, effects are requests; both are plain values that print as one line.
// Config says what an administrator may choose, Record is one line of the journal, NodeInfo one entry of the cluster's store.
//
// Order is the driver's: the agent makes no assumption about which event comes first, except that Restored does. What has to
// be remembered is persisted before anybody is told of it, so a crash between any two effects loses nothing that was told.
// A request without an answer is unknown, never failed: the store is listed again, VPP is dumped again. Nothing in VPP is
// deleted before the journal, the node list, the pod list, the node records and the address ranges have each reported once.
//
// To add a CNI verb, see attach.go and detach.go; a fact about nodes, nodeid and peer.go; a choice for administrators,
// config.go, whose table in the tests wants every field explained.
package agent
