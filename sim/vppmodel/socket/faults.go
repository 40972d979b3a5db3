package socket

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/memclnt"

	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// notServed are words of faults that a VPP behind a socket cannot have: it does not die, and has neither store nor disk.
var notServed = []string{fault.CrashBefore.String(), fault.CrashAfter.String(), fault.Compact.String(), fault.PowerLoss.String()}

// BadFault is a fault that Listen does not take.
type BadFault struct {
	Text string
	Err  error
}

func (b *BadFault) Error() string { return fmt.Sprintf("fault %s: %v", b.Text, b.Err) }

func (b *BadFault) Unwrap() error { return b.Err }

// readFaults reads a configuration's faults, whose time began at started. Error: *BadFault.
func readFaults(cfg Config, started time.Time) (list []fault.Injector, err error) {
	env := fault.Env{Chooser: engine.Seeded(cfg.Seed), Now: func() time.Duration { return time.Since(started) }}
	for _, text := range cfg.Faults {
		i, err := fault.Parse(text, env)
		if err != nil {
			return nil, &BadFault{text, err}
		}
		for _, word := range strings.FieldsFunc(i.String(), func(r rune) bool { return r == ' ' || r == '(' || r == ')' }) {
			if slices.Contains(notServed, word) {
				return nil, &BadFault{text, fmt.Errorf("a served VPP has no %s: it can Refuse, Vanish, Mute, Delay and Duplicate", word)}
			}
		}
		list = append(list, i)
	}
	return list, nil
}

// judge says what happens to a request. That a client lives is never in doubt.
func (s *Server) judge(m api.Message) fault.Verdict {
	if _, alive := m.(*memclnt.MemclntKeepalive); alive {
		return fault.Verdict{}
	}
	return fault.Judge(s.faults, fault.Op{Node: "vpp", Kind: fault.KindDataplane, Name: m.GetMessageName()})
}

// wait lets time pass for one client alone, whose further requests stay in their order; false when the server ends meanwhile.
func (s *Server) wait(d time.Duration) bool {
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-time.After(d):
		return true
	case <-s.closing:
		return false
	}
}

// answer performs a request as its verdict says. A refused dump answers nothing: its messages carry no retval.
func (s *Server) answer(p *peer, m api.Message, v fault.Verdict) (answers []api.Message, err error) {
	times := 1
	switch v.Action {
	case fault.Refuse:
		if r := s.table.refusal(m, v.Code); r != nil {
			answers = []api.Message{r}
		}
		return answers, nil
	case fault.Vanish:
		return nil, nil
	case fault.Duplicate:
		times = 2
	}
	for range times {
		known := false
		if answers, known = s.process(m); !known {
			if answers, err = s.vpp.Answer(p.handle, m); err != nil {
				return nil, err
			}
		}
	}
	if v.Action == fault.Mute {
		return nil, nil
	}
	return answers, nil
}

// record tells of a request.
func (s *Server) record(p *peer, m api.Message, v fault.Verdict, answers []api.Message) {
	if s.requests == nil {
		return
	}
	text := p.name() + ": " + m.GetMessageName()
	if v.Action != fault.Pass {
		text += " " + v.String()
	}
	switch n := len(answers); n {
	case 0:
		text += ": no answer"
	default:
		last := answers[n-1]
		text += fmt.Sprintf(": %d answers", n)
		if n == 1 {
			text = strings.TrimSuffix(text, "1 answers") + last.GetMessageName()
		}
		if f := retval(last); f.IsValid() {
			text += fmt.Sprintf(", retval %d", f.Int())
		}
	}
	s.requests(text)
}

// refusal is the reply to a request with a retval; nil where its reply has none.
func (t *table) refusal(m api.Message, code int32) api.Message {
	kind, known := t.replies[reflect.TypeOf(m)]
	if !known {
		return nil
	}
	r := reflect.New(kind).Interface().(api.Message)
	f := retval(r)
	if !f.IsValid() {
		return nil
	}
	f.SetInt(int64(code))
	return r
}

// retval is a reply's field of that name.
func retval(m api.Message) reflect.Value {
	f := reflect.ValueOf(m).Elem().FieldByName("Retval")
	if !f.IsValid() || f.Kind() != reflect.Int32 {
		return reflect.Value{}
	}
	return f
}
