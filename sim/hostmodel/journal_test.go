package hostmodel_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/journaltest"
)

// Goal: the modelled journal owes what the real one owes. Method: the contract's own suite.
func TestJournalContract(t *testing.T) {
	journaltest.Try(t, func(c journaltest.Chooser) journaltest.Machine { return &journalMachine{chooser: c} })
}

// journalMachine drives the model as the simulator does: a write is done when it is asked for, and safe when it is
// told.
type journalMachine struct {
	chooser journaltest.Chooser
	disk    hostmodel.Disk
	j       *hostmodel.Journal
	told    []func()
}

var errDisk = errors.New("input/output error")

// Start implements journaltest.Machine.
func (m *journalMachine) Start() ([]agent.Record, error) {
	var records []agent.Record
	j, frames, _ := m.disk.Open()
	for _, frame := range frames {
		for line := range bytes.Lines(frame) {
			r, err := agent.ParseRecord(string(bytes.TrimSuffix(line, []byte{'\n'})))
			if err != nil {
				return nil, err
			}
			records = append(records, r)
		}
	}
	m.j = j
	return records, nil
}

// Persist implements journaltest.Machine.
func (m *journalMachine) Persist(e agent.Persist, done func(error)) {
	var payload []byte
	for _, r := range e.Records {
		payload = append(r.AppendText(payload), '\n')
	}
	w := hostmodel.Write{Seq: e.Seq, GivenUp: e.GivenUp, Replace: e.Replace, Payload: payload}
	if m.j.Write(w, m.chooser.Pick("write fails", 2) == 1, m.chooser) {
		m.told = append(m.told, func() { m.j.Sync(); done(nil) })
	} else {
		m.told = append(m.told, func() { m.j.Told(); done(errDisk) })
	}
}

// Work implements journaltest.Machine.
func (m *journalMachine) Work() bool {
	for _, tell := range m.told {
		if m.chooser.Pick("the process dies", 2) == 1 {
			m.Kill()
			return false
		}
		tell()
	}
	m.told = nil
	return true
}

// Kill implements journaltest.Machine.
func (m *journalMachine) Kill() { m.j, m.told = nil, nil }

// PowerCut implements journaltest.Machine.
func (m *journalMachine) PowerCut() {
	m.Kill()
	m.disk.Crash(m.chooser)
}
