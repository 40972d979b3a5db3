// Package packettrace has VPP's own tracer watch a packet, and says what the packet met in the words of the walker that
// laws judge by, so that the two can be laid side by side.
//
// It decides which of a VPP's traced packets is the one that was sent, which steps of VPP's graph amount to one hop, and
// which hop is the first that differs from what was foretold. It sends nothing and judges no law; who sends is lab, by
// package probe.
//
// Start at Begin and Collect for a real VPP, at Follow for its packets, at Compare for the two ways. All but the first two
// are pure: VPP's text in, hops out.
//
// VPP traces per input node and has one buffer for everybody: Begin empties it. What the tracer does not show, Linux' part
// of the way, is not compared. A tunnel's packet is known on the next node by the addresses and ports around it.
//
// To understand another node of VPP's graph, add it to seen.go.
package packettrace
