package sim

import (
	"bytes"
	"errors"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// errDisk is what a failing disk says.
var errDisk = errors.New("input/output error")

// persist appends one effect's records to the machine's disk as one frame and syncs it a little later. What the books say
// is a fact from now on, whether or not it survives.
func (p *process) persist(e agent.Persist) {
	m, w := p.m, p.m.w
	var verdict fault.Verdict
	if w.faulty() {
		verdict = w.judge(fault.Op{Node: m.name, Kind: fault.KindPersist, Name: "Persist"})
	}
	payload := make([]byte, 0, 96*len(e.Records))
	for i := range e.Records {
		payload = e.Records[i].AppendText(payload)
		payload = append(payload, '\n')
	}
	w.summary.JournalBytes += int64(len(payload))
	p.bookFacts(e)
	s := &synced{p: p, seq: e.Seq, verdict: verdict}
	if verdict.Action != fault.Refuse {
		if e.Replace {
			m.disk.Replace(payload) // now: what is appended from here on belongs behind it
		} else {
			m.disk.Append(payload)
		}
	}
	w.eng.After(syncTime+verdict.Delay, s)
}

// bookFacts tells what the records change in the agent's books.
func (p *process) bookFacts(e agent.Persist) {
	// Blocks lie between releases and leases: a block goes with its last lease and comes before its first.
	if e.Replace {
		p.compactedBooks(e.Records)
	}
	for i := range e.Records {
		if r := &e.Records[i]; r.Kind == agent.RecordIPAM && r.IPAM.Op == ipam.OpRelease && r.IPAM.Owner != (ipam.Owner{}) {
			delete(p.books, r.IPAM.Owner)
			p.m.fact(scenarios.Fact{Kind: scenarios.FactReleased, Owner: r.IPAM.Owner, Addr: r.IPAM.Addr, Prefix: r.IPAM.Prefix})
		}
	}
	p.m.tellIdentity()
	for i := range e.Records {
		r := &e.Records[i]
		if r.Kind == agent.RecordIPAM && r.IPAM.Op == ipam.OpLease && p.books[r.IPAM.Owner] != r.IPAM.Addr {
			p.books[r.IPAM.Owner] = r.IPAM.Addr
			p.m.fact(scenarios.Fact{Kind: scenarios.FactLeased, Owner: r.IPAM.Owner, Addr: r.IPAM.Addr, Prefix: r.IPAM.Prefix})
		}
	}
}

// compactedBooks tells of leases that a compacted history no longer names.
func (p *process) compactedBooks(records []agent.Record) {
	named := make(map[ipam.Owner]bool, len(p.books))
	for i := range records {
		if r := &records[i]; r.Kind == agent.RecordIPAM && r.IPAM.Op == ipam.OpLease {
			named[r.IPAM.Owner] = true
		}
	}
	var gone []ipam.Lease
	for o, a := range p.books {
		if !named[o] {
			gone = append(gone, ipam.Lease{Owner: o, Addr: a})
		}
	}
	slices.SortFunc(gone, func(a, b ipam.Lease) int { return a.Addr.Compare(b.Addr) })
	for _, l := range gone {
		delete(p.books, l.Owner)
		p.m.fact(scenarios.Fact{Kind: scenarios.FactReleased, Owner: l.Owner, Addr: l.Addr})
	}
}

// synced is the event of a journal write reaching the disk.
type synced struct {
	p       *process
	seq     uint64
	verdict fault.Verdict
}

// AppendText implements engine.Event.
func (s *synced) AppendText(b []byte) []byte {
	b = append(b, s.p.m.name...)
	b = append(b, " synced "...)
	b = appendCount(b, int(s.seq))
	if s.verdict.Action != fault.Pass {
		b = append(b, ' ')
		b = s.verdict.AppendText(b)
	}
	return b
}

// Fire implements engine.Event.
func (s *synced) Fire() {
	p := s.p
	if p.dead {
		return // what was written may or may not have reached the disk; Disk.Crash decided
	}
	switch s.verdict.Action {
	case fault.CrashBefore:
		p.m.crashAgent()
		return
	case fault.Refuse:
		p.step(agent.Persisted{Seq: s.seq, Err: errDisk})
		return
	}
	p.m.disk.Sync()
	if s.verdict.Action == fault.CrashAfter {
		p.m.crashAgent()
		return
	}
	p.step(agent.Persisted{Seq: s.seq})
}

// restore reads the journal as a starting agent does. A line that cannot be read is told and left out.
func (m *machine) restore() []agent.Record {
	var records []agent.Record
	frames, cut := m.disk.Read()
	if cut > 0 {
		m.w.note(m, "journal", "a torn tail was cut off")
	}
	for _, frame := range frames {
		for line := range bytes.SplitSeq(bytes.TrimSuffix(frame, []byte{'\n'}), []byte{'\n'}) {
			r, err := agent.ParseRecord(string(line))
			if err != nil {
				m.w.note(m, "journal", err.Error())
				continue
			}
			records = append(records, r)
		}
	}
	return records
}
