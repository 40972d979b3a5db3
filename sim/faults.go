package sim

import (
	"fmt"

	"go.fd.io/govpp/api"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// unspecified is the retval of a call that a fault refuses without naming one: VNET_API_ERROR_UNSPECIFIED.
const unspecified = -1

// refusal is the error that a refused call gives.
func refusal(code int32) error {
	if code == 0 {
		code = unspecified
	}
	return api.RetvalToVPPApiError(code)
}

// injectors turns a scenario's fault section into injectors, in the order of its fields.
func injectors(f *scenarios.Faults, env fault.Env) ([]fault.Injector, error) {
	b := faultBuilder{env: env, nodes: f.Nodes}
	b.chance(f.DropRequest, fault.KindDataplane, fault.Vanish)
	b.chance(f.DropReply, fault.KindDataplane, fault.Mute)
	b.chance(f.Refuse, fault.KindDataplane, fault.Refuse)
	b.late(f.DelayReply, fault.KindDataplane)
	b.chance(f.CrashVPP/2, fault.KindDataplane, fault.CrashBefore)
	b.chance(f.CrashVPP/2, fault.KindDataplane, fault.CrashAfter)
	b.chance(f.CrashBeforeEffect, fault.KindEffect, fault.CrashBefore)
	b.chance(f.CrashAfterEffect, fault.KindEffect, fault.CrashAfter)
	b.chance(f.CrashAfterPersist, fault.KindPersist, fault.CrashAfter)
	b.chance(f.DiskError, fault.KindPersist, fault.Refuse)
	b.chance(f.StoreUnavailable, fault.KindStore, fault.Refuse)
	b.chance(f.DropStoreReply, fault.KindStore, fault.Mute)
	b.late(f.DelayStoreReply, fault.KindStore)
	b.chance(f.CompactStore, fault.KindStore, fault.Compact)
	b.late(f.SlowDisk, fault.KindPersist)
	for _, kind := range [...]fault.OpKind{fault.KindStoreWatch, fault.KindAPIWatch} {
		b.chance(f.LoseWatch, kind, fault.Vanish)
		b.chance(f.DuplicateWatch, kind, fault.Duplicate)
	}
	b.chance(f.WithdrawCNI, fault.KindCNI, fault.Vanish)
	for _, text := range f.Inject {
		i, err := fault.Parse(text, env)
		if err != nil {
			return nil, fmt.Errorf("faults.inject %s: %w", text, err)
		}
		b.add(i)
	}
	return b.list, nil
}

// faultBuilder collects injectors, each limited to the nodes that suffer.
type faultBuilder struct {
	env   fault.Env
	nodes []string
	list  []fault.Injector
}

func (b *faultBuilder) add(i fault.Injector) {
	if len(b.nodes) == 0 {
		b.list = append(b.list, i)
		return
	}
	for _, node := range b.nodes {
		b.list = append(b.list, fault.Node(node, i))
	}
}

func (b *faultBuilder) chance(p float64, kind fault.OpKind, action fault.Action) {
	if p > 0 {
		b.add(fault.Kind(kind, fault.Prob(b.env, p, fault.Always(fault.Verdict{Action: action}))))
	}
}

func (b *faultBuilder) late(d scenarios.Delay, kind fault.OpKind) {
	if d.P > 0 && d.By > 0 {
		b.add(fault.Kind(kind, fault.Prob(b.env, d.P, fault.Jitter(b.env, 1, d.By))))
	}
}

// injected is a fault that an action added.
type injected struct {
	fault.Injector
	id int
}

// faulty reports whether an injector may cause a fault; the fast path asks none.
func (w *World) faulty() bool { return len(w.faults) > 0 }

// judge asks every injector about an operation.
func (w *World) judge(op fault.Op) fault.Verdict {
	v := fault.Judge(w.faults, op)
	if v.Action == fault.PowerLoss && op.Kind != fault.KindPersist {
		return fault.Verdict{}
	}
	if v.Action != fault.Pass {
		w.counts.Faults++
		if m := w.machines[op.Node]; m != nil {
			m.hit(op, v)
		}
		if v.Action == fault.Mute && op.Kind == fault.KindDataplane {
			w.counts.LostReplies++
		}
		if w.witness != nil {
			w.befell(op, v.Action)
		}
	}
	return v
}

// lift removes an injected fault.
func (w *World) lift(id int) {
	for k, f := range w.faults {
		if i, ok := f.(*injected); ok && i.id == id {
			w.faults = append(w.faults[:k:k], w.faults[k+1:]...)
			return
		}
	}
}

func (w *World) faultEnv() fault.Env { return fault.Env{Chooser: w.eng.Chooser(), Now: w.eng.Now} }
