package fault

import (
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/sim/engine"
)

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

func parseJitter(p *parser) (Injector, error) {
	min, max, err := p.span()
	if err != nil {
		return nil, err
	}
	return Jitter(p.env, min, max), nil
}

func (j *jitter) Judge(Op) Verdict {
	return Verdict{Action: Delay, Delay: engine.Duration(j.env.Chooser, j.label, j.min, j.max)}
}

func (j *jitter) String() string { return "(Jitter " + spell(j.min) + " " + spell(j.max) + ")" }
