package faults

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// PortConfig is what an agent's process needs for a Port. Times are by the clock on the wall.
type PortConfig struct {
	// Socket is the Desk's.
	Socket string
	// CallTimeout is how long VPP's lost replies are waited for, StoreTimeout the same of the store.
	CallTimeout, StoreTimeout time.Duration
}

// Port asks a Desk about the operations of one agent. Its methods may be called from any goroutine.
type Port struct {
	cfg PortConfig

	mu   sync.Mutex
	conn net.Conn
	in   *json.Decoder
	out  *json.Encoder
}

// Dial connects a Port to its Desk.
func Dial(cfg PortConfig) (*Port, error) {
	c, err := net.Dial("unix", cfg.Socket)
	if err != nil {
		return nil, err
	}
	return &Port{cfg: cfg, conn: c, in: json.NewDecoder(c), out: json.NewEncoder(c)}, nil
}

// Close hangs up.
func (p *Port) Close() error { return p.conn.Close() }

// judge asks about an operation. Where the agent is to die of it, there is no answer.
func (p *Port) judge(op fault.Op) fault.Verdict { return p.ask(question{Op: op}).Verdict }

// judgeDrawn is judge with a number that is drawn for the operation.
func (p *Port) judgeDrawn(op fault.Op) (v fault.Verdict, draw int) {
	a := p.ask(question{Op: op})
	return a.Verdict, a.Draw
}

// done says that an operation was done of which somebody is to die.
func (p *Port) done(op fault.Op, v fault.Verdict) { p.ask(question{Op: op, Done: v.Action}) }

func (p *Port) ask(q question) answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	q.PID = os.Getpid()
	var a answer
	if p.out.Encode(q) != nil || p.in.Decode(&a) != nil {
		return answer{}
	}
	return a
}

// Effect implements host.Between.
func (p *Port) Effect(e agent.Effect, start func()) {
	op := fault.Effect("", e)
	v := p.judge(op)
	start()
	if v.Action == fault.CrashAfter {
		p.done(op, v)
	}
}

// wait lets time pass, less where ctx ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
