// Package parity finds where the modelled VPP differs from a real one.
//
// It decides which calls both are asked, and what counts as a difference: random sequences of valid and slightly
// invalid requests (generate.go), the same dumps at their end, where packets come out (probe.go), and recorded
// conversations of fixtures/vppapi. Packets go through the real VPP and through scenarios/walk, the walker that laws
// judge by, over the model's tables. It never decides what VPP should answer: the real one does. A difference is fixed
// in the model or named in transcript's gaps.
//
// Start at Campaign for a real VPP, at Table for the recorded ones. A real VPP runs in a network namespace of its own
// that ends with this process, is restarted for every chain of sequences, and sees the network only through veth pairs
// made for it. A seed gives the same sequence everywhere; a difference is shrunk until no call can be left out. VPP's
// death is a difference too, reported with the functions that it died in. Calls that VPP dies of by itself are avoided
// (avoid*.go), and named as a gap.
//
// This is an outward package: it starts processes. To let it ask another message, add it to the ops of generate.go and,
// where it changes what can be seen, to the dumps of look.go.
package parity
