package sim

import "github.com/vppdrill/vppdrill/sim/fault"

// faulty reports whether an injector may cause a fault; the fast path asks none.
func (w *World) faulty() bool { return w.faults.Any() }

// judge asks every injector about an operation.
func (w *World) judge(op fault.Op) fault.Verdict {
	v := w.faults.Judge(op)
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

func (w *World) faultEnv() fault.Env { return fault.Env{Chooser: w.eng.Chooser(), Now: w.eng.Now} }
