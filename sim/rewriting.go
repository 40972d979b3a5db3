package sim

import (
	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// rewriting is what an agent's journal has got since it was last written anew, or read.
type rewriting struct {
	appended int
	// lines is how many records it has.
	lines int
	// leases is how many it makes, most the most that there were meanwhile.
	leases, most int
	// pools counts the ranges in it.
	pools int
	// excused: a write has failed in this life, so that those that follow replace all.
	excused bool
}

// countPools counts the ranges that records tell of.
func countPools(records []agent.Record) (n int) {
	for i := range records {
		if records[i].Kind == agent.RecordPools {
			n++
		}
	}
	return n
}

// countLeases is how many more leases there are by some records.
func countLeases(records []agent.Record) (n int) {
	for i := range records {
		switch r := &records[i]; {
		case r.Kind != agent.RecordIPAM:
		case r.IPAM.Op == ipam.OpLease:
			n++
		case r.IPAM.Op == ipam.OpRelease:
			n--
		}
	}
	return n
}

// rewrites notes a write, and tells of one that replaces all without being the answer to a failure or taking ranges out.
func (p *process) rewrites(e agent.Persist) {
	r, pools := &p.rewriting, countPools(e.Records)
	r.lines += len(e.Records)
	if e.Replace {
		r.leases, r.most = 0, 0
	}
	r.leases += countLeases(e.Records)
	r.most = max(r.most, r.leases)
	if !e.Replace {
		r.appended, r.pools = r.appended+len(e.Records), r.pools+pools
		return
	}
	if !r.excused && pools >= r.pools { // what is new in it would have been added otherwise
		p.m.fact(scenarios.Fact{Kind: scenarios.FactPaced, Text: scenarios.PacedRewrite, Number: uint32(r.appended + p.recording.changes(e.Records))})
	}
	r.appended, r.pools, r.lines = 0, pools, len(e.Records)
}
