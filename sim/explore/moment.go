package explore

import (
	"context"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

// Moment is one event of a run that is about to happen.
type Moment struct {
	Seq int64
	At  time.Duration
	// Parent is the event that scheduled it, 0 for none.
	Parent int64
	Line   string
	// State is the cluster before the event; it is valid until visit returns. Of an event that is one small step of
	// another, it may lie in the middle of that other.
	State func() (fact.Snapshot, error)
}

// Walk runs a capsule and shows each event right before it happens. The capsule may be of another version: what it
// shows is this program's run.
func (x Explorer) Walk(ctx context.Context, capsule []byte, o sim.Options, visit func(Moment)) (result.Result, error) {
	c, err := Parse(string(capsule))
	if err != nil {
		return result.Result{}, err
	}
	o = c.options(o)
	o.Account = &visitor{visit: visit}
	return x.run(ctx, c.Scenario, o)
}

// visitor is an account that shows events.
type visitor struct {
	visit func(Moment)
	state func() (fact.Snapshot, error)
}

func (v *visitor) Event(seq int64, at time.Duration, parent int64, line []byte) {
	v.visit(Moment{Seq: seq, At: at, Parent: parent, Line: string(line), State: v.state})
}

func (v *visitor) Begin(state func() (fact.Snapshot, error)) { v.state = state }

func (v *visitor) Fact(fact.Fact) {}

func (v *visitor) Decided(string, string) {}
