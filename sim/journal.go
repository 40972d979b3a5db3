package sim

import (
	"bytes"
	"errors"
	"strconv"
	"time"

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
		verdict = w.judge(fault.Persist(m.name, e))
	}
	payload := make([]byte, 0, 96*len(e.Records))
	for i := range e.Records {
		payload = e.Records[i].AppendText(payload)
		payload = append(payload, '\n')
	}
	payload = m.journalText(payload)
	w.counts.JournalBytes += int64(len(payload))
	write := hostmodel.Write{Seq: e.Seq, GivenUp: e.GivenUp, Replace: e.Replace, Payload: payload}
	ok := p.journal.Write(write, verdict.Action == fault.Refuse, w.eng.Chooser())
	m.seen.Wrote(e)
	// A disk syncs in the order in which it is asked.
	p.syncedAt = max(p.syncedAt, w.eng.Now()+syncTime+verdict.Delay)
	w.eng.After(p.syncedAt-w.eng.Now(), &synced{p: p, seq: e.Seq, failed: !ok, verdict: verdict})
}

// rest is the configured time for which a released address stays unused. Cilium and Calico have none, and another
// plugin its own.
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
		p.m.seen.Synced(s.seq, true)
		p.step(agent.Persisted{Seq: s.seq, Err: errDisk})
		return
	}
	p.journal.Sync()
	p.m.seen.Synced(s.seq, false)
	if s.verdict.Action == fault.CrashAfter {
		p.m.crashAgent()
		return
	}
	p.step(agent.Persisted{Seq: s.seq})
}

// restore opens the journal as a starting agent's driver does. A line that cannot be read is reported and left out; an
// error means that the journal is not for this version.
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
