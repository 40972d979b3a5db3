package sim

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// subject is what a record of a journal is about: a later one about the same says what is so from then on.
type subject struct {
	kind  agent.RecordKind
	owner ipam.Owner
	addr  netip.Addr
	block netip.Prefix
	// generation is that of ranges, which stay known while somebody has addresses of them.
	generation int64
}

// cursor reports whether it is where a block's next pick begins, which is written only with all the rest.
func (s subject) cursor() bool { return s.block.IsValid() && s.addr.IsValid() }

// recording is what a journal says.
type recording struct {
	says map[subject]string
	// blocks are the active ones, in the order in which they were named last: addresses come from the first that has one.
	blocks []netip.Prefix
}

// newRecording is what a journal says that was read.
func newRecording(records []agent.Record) *recording {
	r := &recording{says: map[subject]string{}}
	for i := range records {
		r.add(&records[i])
	}
	return r
}

// add takes a record, and reports whether the journal says something else than before; of one that names a block again, which may be about its
// place among the others, that is not known.
func (r *recording) add(record *agent.Record) bool {
	at, says := subjectOf(record)
	if at.block.IsValid() && !at.cursor() {
		r.blocks = slices.DeleteFunc(r.blocks, func(p netip.Prefix) bool { return p == at.block })
		if record.IPAM.Op == ipam.OpBlock {
			r.blocks = append(r.blocks, at.block)
		}
	}
	was, had := r.says[at]
	if says == "" {
		delete(r.says, at)
		return had
	}
	r.says[at] = says
	return was != says || record.Kind == agent.RecordIPAM && record.IPAM.Op == ipam.OpBlock
}

// changes counts what the journal would say otherwise if it said records alone, at the most: blocks are named again from the first on that is not where it was.
func (r *recording) changes(records []agent.Record) (n int) {
	other := newRecording(records)
	for at, says := range other.says { //vppdrill:unordered a count
		if !at.cursor() && r.says[at] != says {
			n++
		}
	}
	same := 0
	for same < min(len(r.blocks), len(other.blocks)) && r.blocks[same] == other.blocks[same] {
		same++
	}
	n += len(other.blocks) - same
	for at := range r.says { //vppdrill:unordered a count
		if _, still := other.says[at]; !still && !at.cursor() {
			n++
		}
	}
	return n
}

// subjectOf is what a record is about and what it says of it, "" for that it is over. At what time is not part of it.
func subjectOf(record *agent.Record) (at subject, says string) {
	at.kind = record.Kind
	switch record.Kind {
	case agent.RecordSandbox:
		at.owner = record.Sandbox.Owner
		return at, record.String()
	case agent.RecordPools:
		at.generation = record.Pools.Generation
	case agent.RecordGone:
		return subject{kind: agent.RecordSandbox, owner: record.Sandbox.Owner}, ""
	case agent.RecordIPAM:
		switch of := &record.IPAM; of.Op {
		case ipam.OpLease:
			at.owner, at.addr = of.Owner, of.Addr
			return at, "lease"
		case ipam.OpRelease:
			at.owner, at.addr = of.Owner, of.Addr
			return at, ""
		case ipam.OpBlock, ipam.OpDrain:
			at.block = of.Prefix
			return at, [...]string{ipam.OpBlock: "block", ipam.OpDrain: "drain"}[of.Op]
		case ipam.OpDrop:
			at.block = of.Prefix
			return at, ""
		case ipam.OpCursor:
			at.block, at.addr = of.Prefix, netip.IPv6Unspecified()
			return at, of.Addr.String()
		}
	}
	return at, record.String()
}

// recorded notes a write, and tells of one that appends what the journal says already. The format stands before all that needs it.
func (p *process) recorded(e agent.Persist) {
	if e.Replace {
		p.recording = newRecording(e.Records)
		return
	}
	before, named := slices.Clone(p.recording.blocks), ""
	for i := range e.Records {
		r := &e.Records[i]
		switch says := p.recording.add(r); {
		case r.Kind == agent.RecordIPAM && r.IPAM.Op == ipam.OpBlock:
			named = r.String()
		case !says && r.Kind != agent.RecordFormat && r.Kind != agent.RecordClock: // a clock that was set back may say the same
			p.m.fact(scenarios.Fact{Kind: scenarios.FactNeedless, Text: "the journal's record " + r.String()})
		}
	}
	if named != "" && slices.Equal(before, p.recording.blocks) {
		p.m.fact(scenarios.Fact{Kind: scenarios.FactNeedless, Text: "the journal's record " + named})
	}
}
