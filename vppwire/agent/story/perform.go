package story

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

var errNoDisk = errors.New("no space left on device")

func (b *Machine) perform(e agent.Effect) {
	text := string(e.AppendText(nil))
	switch e := e.(type) {
	case agent.Persist:
		b.print(text)
		b.later(func() { b.persist(e) })
	case agent.StoreRequest:
		b.print(text)
		b.later(func() { b.lab.Store.do(b, e) })
	case agent.CallDataplane:
		if !b.calls {
			b.print("calls")
			b.calls = true
		}
		b.later(func() { b.call(e) })
		if last := len(b.lab.jobs) - 1; b.lab.CallsFirst {
			b.lab.jobs = slices.Insert(b.lab.jobs[:last], 0, b.lab.jobs[last])
		}
	case agent.Answer:
		name := b.Open[e.Request]
		if name == "" {
			b.lab.t.Errorf("%s: answer to request %d, which is not open", b.Name, e.Request)
		}
		delete(b.Open, e.Request)
		b.lab.Answers[b.Name+"/"+name] = e
		_, rest, _ := strings.Cut(text[len("answer "):], " ")
		if i := strings.Index(rest, " mac="); i >= 0 {
			rest = rest[:i]
		}
		b.print(strings.TrimSpace("answer " + name + " " + rest))
	case agent.WakeAt:
		b.wake = e.At
	case agent.Log:
		if e.Level >= int(nodeid.Error) {
			b.Errors = append(b.Errors, e.Message)
		}
		b.print(text)
	case agent.Hook:
		b.print(text)
		if b.Hooked != nil {
			b.Hooked(e)
		}
	case agent.NodeAddress, agent.NICReturned, agent.HealthChecks:
		b.print(text)
	case agent.ChangeLinux:
		b.print(text)
		b.later(func() { b.Step(agent.LinuxChanged{Seq: e.Seq, Err: b.Host.Apply(vppwire.Undoing(e.Undo))}) })
	case agent.ListNodes:
		b.print(text)
		b.later(b.listNodes)
	default:
		b.lab.t.Fatalf("effect %T", e)
	}
}

func (b *Machine) persist(e agent.Persist) {
	if b.DiskBad {
		b.Step(agent.Persisted{Seq: e.Seq, Err: errNoDisk})
		return
	}
	if e.Replace {
		b.Journal = nil
	}
	for _, r := range e.Records {
		text := r.String()
		if back, err := agent.ParseRecord(text); err != nil || back.String() != text {
			b.lab.t.Errorf("record %q reads back as %q, %v", text, back, err)
		}
		b.Journal = append(b.Journal, text)
	}
	b.Step(agent.Persisted{Seq: e.Seq})
}

func (b *Machine) call(e agent.CallDataplane) {
	if b.VPP == nil {
		return
	}
	what := "call"
	if e.Call.Verb() == vppwire.VerbDump {
		what = "dump"
	}
	fate := b.lab.fate(b, what)
	var r vppwire.Result
	switch fate {
	case RequestLost:
		r = e.Call.Unanswered()
	case Refused:
		r = e.Call.Refused(ErrRefused)
	default:
		r = e.Call.Do(context.Background(), vppwire.Dataplane{VPP: b.VPP, Linux: b.Host})
	}
	if fate == ReplyLost {
		r = e.Call.Unanswered()
	}
	b.Step(agent.Called{Result: r})
}

// ErrRefused is the error of calls that Mishap refuses.
var ErrRefused = errors.New("refused by the test")
