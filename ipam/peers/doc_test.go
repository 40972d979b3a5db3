// Package peers measures the allocators of this module beside the programs whose surface they offer, in one run, and
// checks that both mean the same by it.
//
// It decides nothing and nothing imports it: it is a module of its own, all tests, so that what the product depends on
// stays short. Start at BenchmarkPeers (make bench-peers), which prints one report; Contestant says what takes part. A
// contestant is run in turns with all others, so that whatever else the machine does at that moment hits each of them,
// and the report gives medians. Where a peer is faster than we are, the report says so; what cannot be run here is
// named with the reason.
//
// Speed is never asserted. The tests of this package are about meaning alone: how many addresses fit, what an exhausted
// range says, and that nothing is given twice. To add a peer, write one file that returns its contestants.
package peers
