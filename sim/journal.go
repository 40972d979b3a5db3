package sim

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/controllers"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// errDisk is what a failing disk says.
var errDisk = errors.New("input/output error")

// persist appends one effect's records to the machine's disk as one frame and syncs it a little later.
func (p *process) persist(e agent.Persist) {
	m, w := p.m, p.m.w
	if w.plant != nil && w.plant.Journal != nil {
		e = w.plant.Journal(m.name, e)
	}
	var verdict fault.Verdict
	if w.faulty() {
		name := "Persist"
		if e.Replace {
			name = "Replace"
		}
		verdict = w.judge(fault.Op{Node: m.name, Kind: fault.KindPersist, Name: name})
	}
	p.rewrites(e)
	p.recorded(e)
	p.saves(e)
	p.attaches(e)
	payload := make([]byte, 0, 96*len(e.Records))
	for i := range e.Records {
		payload = e.Records[i].AppendText(payload)
		payload = append(payload, '\n')
	}
	payload = m.journalText(payload)
	w.counts.JournalBytes += int64(len(payload))
	write := hostmodel.Write{Seq: e.Seq, GivenUp: e.GivenUp, Replace: e.Replace, Payload: payload}
	ok := p.journal.Write(write, verdict.Action == fault.Refuse, w.eng.Chooser())
	m.saved.writes = append(m.saved.writes, e)
	p.wrote = e.Seq
	// A disk syncs in the order in which it is asked.
	p.syncedAt = max(p.syncedAt, w.eng.Now()+syncTime+verdict.Delay)
	w.eng.After(p.syncedAt-w.eng.Now(), &synced{p: p, seq: e.Seq, failed: !ok, verdict: verdict})
}

// stepFacts tells what a step changes in the agent's leases: what is gone, then ID and blocks, then what is new. The blocks that
// the agent shows are the outcome of all writes of the step, so these are told as one.
func (p *process) stepFacts(effects []agent.Effect) {
	if p.leases == nil {
		return
	}
	gone, come, wrote := p.leases.Step(effects)
	if !wrote {
		return
	}
	if len(gone)+len(come) > 0 {
		p.m.leasesAt = p.m.w.eng.Now()
		p.m.w.anew(func(t try) bool { return t.whose == p.m.name && t.of == scenarios.TriedJournal })
	}
	for _, r := range gone {
		p.m.rest(r.Addr)
		p.m.fact(scenarios.Fact{Kind: scenarios.FactReleased, Owner: r.Owner, Addr: r.Addr, Prefix: r.Prefix, Rest: p.m.clocks.truly(p.m.w.rest()),
			Left: p.m.leftover(r.Addr, r.Owner, p.m.w.tenants[r.Addr].of(r.Owner))})
	}
	p.m.tellIdentity()
	var places map[ipam.Owner]uint32
	if len(come) > 1 {
		places = placesOf(effects)
		slices.SortStableFunc(come, func(x, y ipam.Record) int { return cmp.Compare(places[x.Owner], places[y.Owner]) })
	}
	p.turns.prune(p.agent.Blocks())
	if len(come) > 1 && places == nil {
		p.turns = nil // nobody knows in which order
	}
	for _, r := range come {
		p.m.addLeased(r.Owner)
		after, passed := p.turn(r, gone)
		if p.agent.Node().ID == 0 {
			p.m.fact(scenarios.Fact{Kind: scenarios.FactNeedless, Text: "the lease of " + r.Addr.String(), Broken: "is made before the agent knows the node's ID and address"})
		}
		if first, _ := r.Owner.First(); p.forNobody(first) {
			p.m.fact(scenarios.Fact{Kind: scenarios.FactNeedless, Text: "the lease of " + r.Addr.String(), Broken: "is made for an ADD whose plugin has ended, as the agent has been told"})
		}
		elsewhere := ""
		if asker, ok := p.m.w.system.(controllers.PoolAsker); ok {
			elsewhere = asker.Elsewhere(r.Owner, r.Addr)
		}
		p.m.fact(scenarios.Fact{Kind: scenarios.FactLeased, Owner: r.Owner, Addr: r.Addr, Prefix: r.Prefix, Number: places[r.Owner], InTurn: p.m.w.s.Config.IPAM.InTurn(), After: after, Passed: passed,
			Left: p.m.formerly(r.Addr, r.Owner), Broken: elsewhere})
	}
}

// placesOf numbers the owners to whom a step leases addresses, from 1 on in its order; nil where it writes the journal anew, which has an order of its own.
func placesOf(effects []agent.Effect) map[ipam.Owner]uint32 {
	places := map[ipam.Owner]uint32{}
	for i := range effects {
		e, is := effects[i].(agent.Persist)
		if !is {
			continue
		}
		if e.Replace {
			return nil
		}
		for j := range e.Records {
			if r := &e.Records[j]; r.Kind == agent.RecordIPAM && r.IPAM.Op == ipam.OpLease {
				places[r.IPAM.Owner] = uint32(len(places) + 1)
			}
		}
	}
	return places
}

// rest is how long the configuration keeps a released address unused. Cilium and Calico keep none, and another plugin its own.
func (w *World) rest() time.Duration {
	return w.s.Config.IPAM.AddressRest()
}

// synced is the event of a journal write reaching the disk.
type synced struct {
	p       *process
	seq     uint64
	failed  bool // or refused, because one before it failed
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
	} else if s.failed {
		b = append(b, " refused"...)
	}
	return b
}

// Fire implements engine.Event.
func (s *synced) Fire() {
	p := s.p
	if p.dead {
		return // what was written may or may not have reached the disk; Disk.Crash decided
	}
	switch {
	case s.verdict.Action == fault.CrashBefore:
		p.m.crashAgent()
		return
	case s.verdict.Action == fault.PowerLoss:
		p.m.losePower()
		return
	case s.failed:
		p.journal.Told()
		p.excused = true
		p.m.saved.synced(s.seq, true)
		p.step(agent.Persisted{Seq: s.seq, Err: errDisk})
		return
	}
	p.journal.Sync()
	p.m.saved.synced(s.seq, false)
	if s.verdict.Action == fault.CrashAfter {
		p.m.blocksAt = p.m.w.eng.Now() // they change by what is written, of which it has not heard
		p.m.crashAgent()
		return
	}
	p.step(agent.Persisted{Seq: s.seq})
}

// restore opens the journal as a starting agent's driver does. A line that cannot be read is told and left out; an error is that the
// journal is not for this version.
func (m *machine) restore() (*hostmodel.Journal, []agent.Record, error) {
	var records []agent.Record
	j, frames, cut := m.disk.Open()
	if cut > 0 {
		m.w.note(m, "journal", "a torn tail was cut off")
	}
	for _, frame := range frames {
		for line := range bytes.SplitSeq(bytes.TrimSuffix(frame, []byte{'\n'}), []byte{'\n'}) {
			if m.knows(line) {
				continue
			}
			r, err := agent.ParseRecord(string(line))
			if errors.Is(err, agent.ErrNewer) {
				return nil, nil, err
			}
			if err != nil {
				m.w.note(m, "journal", err.Error())
				if !errors.Is(err, agent.ErrUnknownRecord) { // the real one keeps a copy of what it takes for damage
					m.fact(scenarios.Fact{Kind: scenarios.FactUnread, Text: "a line of the journal that was written as a whole counts as damage: " + err.Error()})
				}
				continue
			}
			records = append(records, r)
		}
	}
	if m.w.plant != nil && m.w.plant.Records != nil {
		records = m.w.plant.Records(m.name, records)
	}
	return j, records, nil
}

func appendCount(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }
