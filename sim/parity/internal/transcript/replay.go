package transcript

import (
	"fmt"
	"slices"

	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/memclnt"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// exchanges are how the model's requests are answered, by name.
var exchanges = func() map[string]vppmodel.Exchange {
	by := map[string]vppmodel.Exchange{}
	for _, x := range vppmodel.Exchanges() {
		by[x.Request.GetMessageName()] = x
	}
	return by
}()

// Verdict is what became of one step when the model was asked.
type Verdict struct {
	Step
	// Transcript and Number say where it is; numbers count from 1.
	Transcript string
	Number     int
	// Difference is nil where the answers are equal, with the help of Gaps.
	Difference *Difference
	Gaps       []string
}

// Replay asks a fresh model what a transcript's VPP was asked. The error is that of a request that cannot be read.
func Replay(t *Transcript, v *vppmodel.VPP) ([]Verdict, error) {
	requests, err := t.Requests()
	if err != nil {
		return nil, err
	}
	const client = 1
	var events []string
	v.Announce(func(_ uint32, m api.Message) { events = append(events, Canonical(m)) })
	var out []Verdict
	for i, s := range t.Steps {
		events = nil
		answers, err := v.Answer(client, requests[i])
		if err != nil {
			return nil, fmt.Errorf("%s: request %d: %w", t.Name, i+1, err)
		}
		verdict := Verdict{Step: s, Transcript: t.Name, Number: i + 1}
		verdict.Difference, verdict.Gaps = Compare(s.Request, s.Answers, Lines(answers))
		if verdict.Difference == nil && !slices.Equal(s.Events, events) {
			verdict.Difference = &Difference{Request: s.Request, Want: s.Events, Got: events}
		}
		out = append(out, verdict)
	}
	return out, nil
}

// Ask sends a request on a stream and receives all that answers it, and the end of a dump with it.
func Ask(s api.Stream, m api.Message) ([]api.Message, error) {
	x, known := exchanges[m.GetMessageName()]
	if !known {
		return nil, fmt.Errorf("%s: the model has no such request", m.GetMessageName())
	}
	if err := s.SendMsg(m); err != nil {
		return nil, err
	}
	if x.Reply == nil {
		if err := s.SendMsg(&memclnt.ControlPing{}); err != nil {
			return nil, err
		}
	}
	var answers []api.Message
	for {
		a, err := s.RecvMsg()
		if err != nil {
			return nil, err
		}
		if _, pong := a.(*memclnt.ControlPingReply); pong && x.Reply == nil {
			return answers, nil
		}
		if next, unfinished := rest(m, a); unfinished {
			if err := s.SendMsg(next); err != nil {
				return nil, err
			}
			continue
		}
		answers = append(answers, a)
		if x.Reply != nil && a.GetMessageName() == x.Reply.GetMessageName() {
			return answers, nil
		}
	}
}

// rest is the request for what is left of a dump that VPP broke off because it had taken too long (retval EAGAIN, after
// 1 ms: src/vlibmemory/api.h): the same one from the reply's cursor on. That it breaks off depends on the machine's
// load alone.
func rest(m, reply api.Message) (api.Message, bool) {
	r, ok := reply.(*interfaces.SwInterfaceTxPlacementGetReply)
	if !ok || r.Retval != int32(api.EAGAIN) {
		return nil, false
	}
	next := *m.(*interfaces.SwInterfaceTxPlacementGet)
	next.Cursor = r.Cursor
	return &next, true
}
