package fault

import (
	"fmt"
	"strconv"

	"github.com/vppdrill/vppdrill/sim/engine"
)

type prob struct {
	env   Env
	p     float64
	label string
	inner Injector
}

// Prob is i with probability p, 0 to 1 in steps of 1e-6, for each operation that i would not pass. Its decisions carry
// its own text as label: they stay the same when another injector is taken away.
func Prob(env Env, p float64, i Injector) Injector {
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("fault: probability %v", p))
	}
	x := &prob{env: env, p: p, inner: i}
	x.label = "fault " + x.String()
	return x
}

func parseProb(p *parser) (Injector, error) {
	probability, err := p.probability()
	if err != nil {
		return nil, err
	}
	return p.around(func(i Injector) Injector { return Prob(p.env, probability, i) })
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
