package fault

import (
	"fmt"
	"time"
)

type during struct {
	env      Env
	from, to time.Duration
	inner    Injector
}

// During is i from one time to another since the run's start, the second excluded.
func During(env Env, from, to time.Duration, i Injector) Injector {
	if from < 0 || to < from {
		panic(fmt.Sprintf("fault: during %s to %s", from, to))
	}
	return &during{env: env, from: from, to: to, inner: i}
}

func parseDuring(p *parser) (Injector, error) {
	from, to, err := p.span()
	if err != nil {
		return nil, err
	}
	return p.around(func(i Injector) Injector { return During(p.env, from, to, i) })
}

func (d *during) Judge(op Op) Verdict {
	if now := d.env.Now(); now < d.from || now >= d.to {
		return Verdict{}
	}
	return d.inner.Judge(op)
}

func (d *during) String() string {
	return "(During " + spell(d.from) + " " + spell(d.to) + " " + d.inner.String() + ")"
}
