package lab

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// recordChanged tells what the store has done to a node's record: the store says so, not an agent.
func (w *World) recordChanged(key, before, after string) {
	if c, ok := timeline.RecordChange(key, before, after); ok {
		w.Record.Tell(scenarios.Fact{Kind: scenarios.FactRecord, Node: c.After.Name, Record: &c}, "")
	}
}

// left tells that a node has left, and how long its ID is nobody's from now on.
func (w *World) left(name string) {
	rest := time.Duration(float64(w.agents().NodeIDQuarantine) * w.o.TimeScale)
	w.Record.Tell(scenarios.Fact{Kind: scenarios.FactNodeGone, Node: name, Text: scenarios.NodeLeft, Rest: rest - rest/restSlack}, name+" has left")
}
