package result

import (
	"reflect"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// Kinds of marks; Mark.Kind promises them.
const (
	markAction  = "action"
	markFault   = "fault"
	markSettled = "settled"
	markFailure = "failure"
)

// marks collects a result's timeline. Faults without an end of their own stay open until everything is healed.
type marks struct {
	all  []Mark
	open []int
	tell func(Mark)
}

func (m *marks) add(mark Mark) {
	m.all = append(m.all, mark)
	if m.tell != nil {
		m.tell(mark)
	}
}

func (m *marks) point(at time.Duration, kind, text string) {
	m.add(Mark{AtSeconds: at.Seconds(), EndSeconds: at.Seconds(), Kind: kind, Text: text})
}

// action marks an action: an instant, or a fault's span.
func (m *marks) action(at time.Duration, a scenarios.Action) {
	mark := Mark{AtSeconds: at.Seconds(), EndSeconds: at.Seconds(), Kind: markAction, Node: nodeOf(a), Text: a.String()}
	if fault, ok := a.(scenarios.Lasting); ok {
		mark.Kind = markFault
		mark.EndSeconds = (at + fault.Lasts()).Seconds()
		if fault.Lasts() == 0 {
			m.open = append(m.open, len(m.all))
		}
	}
	m.add(mark)
}

// heal closes every active fault.
func (m *marks) heal(at time.Duration) {
	for i := range m.all {
		if m.all[i].Kind == markFault && m.all[i].EndSeconds > at.Seconds() {
			m.all[i].EndSeconds = at.Seconds()
		}
	}
	m.close(at)
	m.point(at, markAction, scenarios.Heal{}.Verb())
}

// end closes open faults of a run that ended early.
func (m *marks) end(at time.Duration) { m.close(at) }

func (m *marks) close(at time.Duration) {
	for _, i := range m.open {
		m.all[i].EndSeconds = at.Seconds()
	}
	m.open = nil
}

func (m *marks) failure(v *fact.Violation) {
	at, text := v.At.Seconds(), v.Law+": "+oneline.Text(v.What)
	m.add(Mark{AtSeconds: at, EndSeconds: at, Kind: markFailure, Node: v.Node, Text: text})
}

// list is never nil: the result's JSON promises an array.
func (m *marks) list() []Mark {
	if m.all == nil {
		return []Mark{}
	}
	return m.all
}

// nodeOf is the node that an action names, or "" for none or several.
func nodeOf(a scenarios.Action) string {
	v := reflect.ValueOf(a)
	for _, f := range strictyaml.Fields(v.Type()) {
		if f.Type != reflect.TypeFor[scenarios.NodeRef]() {
			continue
		}
		switch name := v.FieldByIndex(f.Index).String(); scenarios.NodeRef(name) {
		case scenarios.AllNodes, scenarios.AnyNode:
		default:
			return name
		}
	}
	return ""
}
