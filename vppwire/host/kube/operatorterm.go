package kube

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

// operatorTerm drives one life of an operator as the leader: it performs what that asks for, one request after the other but for those
// for addresses.
type operatorTerm struct {
	o       *Operator
	ctx     context.Context
	machine termMachine
	pace    pace
	target  target
	events  *events
	// also performs requests that machines of one kind alone make, and returns the answer, where that is known at once.
	also func(cilium.Effect) (answer cilium.Event, ok bool)
	// close ends what also uses.
	close func()
	// lock says until when this process leads; nil without a lease.
	lock  *lock
	alarm *time.Timer
	// inbox takes what the follower has to say.
	inbox  chan func()
	others sync.WaitGroup
	// over: the term has ended, with why.
	over bool
	why  error
}

// serve leads until ctx ends, until the ledger is not known any more, or until another program gives nodes what they
// have: ErrRival.
func (o *Operator) serve(ctx context.Context, lock *lock, events *events) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &operatorTerm{o: o, ctx: ctx, pace: newPace(&o.clock, o.cfg.Pace), target: o.target(), events: events, lock: lock,
		alarm: time.NewTimer(time.Hour), inbox: make(chan func()), close: func() {}}
	t.alarm.Stop()
	if err := o.begin(t); err != nil {
		return err
	}
	defer func() {
		cancel()
		t.alarm.Stop()
		t.close()
		t.others.Wait()
		o.is("")
	}()
	t.step(t.leading())
	looks := o.shown.begin(ctx, t.machine)
	for !t.over {
		select {
		case look := <-looks:
			look()
		case <-ctx.Done():
			return nil
		case do := <-t.inbox:
			do()
		case <-t.alarm.C:
			t.step(cilium.Woke{})
		}
	}
	return t.why
}

// termMachine is what an operatorTerm drives: a cilium.PoolTerm or a cilium.AddressTerm.
type termMachine interface {
	Step(now time.Time, ev cilium.Event) []cilium.Effect
}

// begin gives a term its machine, and who performs what that alone asks for.
func (o *Operator) begin(t *operatorTerm) error {
	if o.cfg.Addresses != nil {
		term, err := cilium.NewAddressTerm(o.cfg.Release)
		t.machine, t.also = term, (&addressCalls{t: t, from: o.cfg.Addresses, last: make(map[string]chan struct{})}).perform
		return err
	}
	pools, err := o.cfg.New()
	if err != nil {
		return err
	}
	ledger := poolLedger{NewStore(StoreConfig{Client: o.cfg.Client, RequestTimeout: o.cfg.RequestTimeout, Log: o.cfg.Log})}
	t.machine, t.also = cilium.NewPoolTerm(cilium.PoolTermConfig{Pools: pools, LedgerSlack: o.cfg.LedgerSlack}), ledger.perform
	t.close = ledger.store.Close
	return nil
}

// leading is until when this process leads.
func (t *operatorTerm) leading() cilium.Leading {
	if t.lock == nil {
		return cilium.Leading{}
	}
	return cilium.Leading{Until: t.pace.of(t.lock.leadsUntil())}
}

// step gives the machine an event, and the answers to what it asks for, each after the newest word of the lease.
func (t *operatorTerm) step(ev cilium.Event) {
	for queue := []cilium.Event{ev}; len(queue) > 0 && !t.over && t.ctx.Err() == nil; queue = queue[1:] {
		for _, ev := range [...]cilium.Event{t.leading(), queue[0]} {
			for _, e := range t.machine.Step(t.pace.now(), ev) {
				if answer := t.perform(e); answer != nil {
					queue = append(queue, answer)
				}
			}
		}
	}
	if m, ok := t.machine.(interface{ Pending() string }); ok && !t.over {
		t.o.is(m.Pending())
	}
}

// perform does what the machine asks for, and returns the answer to a request.
func (t *operatorTerm) perform(e cilium.Effect) cilium.Event {
	log := t.o.cfg.Log
	if log.Enabled(t.ctx, slog.LevelDebug) {
		log.Debug("effect", "effect", string(e.AppendText(nil)))
	}
	if answer, ok := t.also(e); ok {
		return answer
	}
	switch e := e.(type) {
	case cilium.WriteResource:
		ctx, cancel := context.WithTimeout(t.ctx, t.lock.limit(t.o.cfg.RequestTimeout))
		defer cancel()
		return wrote(e.ID)(t.target.write(ctx, e.Object))
	case cilium.Follow:
		t.others.Go(func() {
			t.target.follow(t.ctx, func(ev cilium.Event) { t.tell(func() { t.step(ev) }) },
				func(why error) { t.tell(func() { t.over, t.why = true, why }) })
		})
	case cilium.RecordEvent:
		t.events.record(nodeipam.RecordEvent{Name: e.Name, UID: e.UID, Type: e.Type, Reason: e.Reason, Message: e.Message})
	case cilium.Note:
		log.Warn(e.Text)
	case cilium.WakeAt:
		t.pace.set(t.alarm, e.At)
	case cilium.End:
		t.over, t.why = true, e.Why
	default:
		panic(fmt.Sprintf("kube: unknown effect %T", e))
	}
	return nil
}

// tell runs do on the goroutine that owns the machine; not at all when the term is over.
func (t *operatorTerm) tell(do func()) {
	select {
	case t.inbox <- do:
	case <-t.ctx.Done():
	}
}

// wrote is the answer to a write.
func wrote(id uint64) func(cilium.Object, error) cilium.Event {
	return func(x cilium.Object, err error) cilium.Event {
		if err != nil {
			return cilium.Wrote{ID: id, Outcome: outcome(err), Why: err.Error()}
		}
		return cilium.Wrote{ID: id, Outcome: outcome(nil), Object: x}
	}
}
