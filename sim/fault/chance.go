package fault

import (
	"fmt"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/sim/engine"
)

type prob struct {
	env   Env
	p     float64
	label string
	inner Injector
}

// Prob is i with probability p, 0 to 1 in steps of 1e-6, for each operation that i would not pass. Its decisions carry its
// own text as label: they stay the same when another injector is taken away.
func Prob(env Env, p float64, i Injector) Injector {
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("fault: probability %v", p))
	}
	x := &prob{env: env, p: p, inner: i}
	x.label = "fault " + x.String()
	return x
}

func (x *prob) Judge(op Op) Verdict {
	v := x.inner.Judge(op)
	if v.Action == Pass || !engine.Chance(x.env.Chooser, x.label, x.p) {
		return Verdict{}
	}
	return v
}

func (x *prob) String() string {
	return "(Prob " + strconv.FormatFloat(x.p, 'g', -1, 64) + " " + x.inner.String() + ")"
}

type jitter struct {
	env      Env
	min, max time.Duration
	label    string
}

// Jitter delays each operation by a time of its own in [min, max].
func Jitter(env Env, min, max time.Duration) Injector {
	if min < 0 || max < min {
		panic(fmt.Sprintf("fault: jitter from %s to %s", min, max))
	}
	j := &jitter{env: env, min: min, max: max}
	j.label = "fault " + j.String()
	return j
}

func (j *jitter) Judge(Op) Verdict {
	return Verdict{Action: Delay, Delay: engine.Duration(j.env.Chooser, j.label, j.min, j.max)}
}

func (j *jitter) String() string { return "(Jitter " + spell(j.min) + " " + spell(j.max) + ")" }
