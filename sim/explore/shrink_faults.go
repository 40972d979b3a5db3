package explore

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// dropChances takes out probable faults.
func (k *shrinker) dropChances() {
	var on []int
	for i, x := range probable(&k.best.Faults) {
		if *x.p > 0 {
			on = append(on, i)
		}
	}
	cut(k, on, func(s *scenarios.Scenario, keep []int) {
		for i, x := range probable(&s.Faults) {
			if !slices.Contains(keep, i) {
				*x.p = 0
			}
		}
		usualDelays(&s.Faults)
	})
}

// usualDelays forgets how long delays would be that never happen.
func usualDelays(f *scenarios.Faults) {
	usual := scenarios.Default().Faults
	if f.DelayReply.P == 0 {
		f.DelayReply = usual.DelayReply
	}
	if f.DelayStoreReply.P == 0 {
		f.DelayStoreReply = usual.DelayStoreReply
	}
	if f.SlowDisk.P == 0 {
		f.SlowDisk = usual.SlowDisk
	}
}

// fixChances writes down which probable faults have happened, and leaves nothing to chance.
func (k *shrinker) fixChances() {
	if !anyChance(&k.best.Faults) || k.runs+3 > k.budget {
		return
	}
	k.runs += 2
	s, err := k.x.fixed(k.ctx, k.best, sim.Options{Seed: k.seed, Laws: k.laws})
	if err == nil { // else it would not be the same run: chances stay chances
		k.try(s)
	}
}

// fixed is s with the faults that happened in its run injected one by one, instead of the chances that they came from.
// Its run is the same.
func (x Explorer) fixed(ctx context.Context, s *scenarios.Scenario, o sim.Options) (*scenarios.Scenario, error) {
	var happened []string
	counts := map[string]int{}
	l := &operationRecorder{
		seen: func(op fault.Op) {
			named := condition(op).around("")
			op.Name = ""
			counts[named]++
			if ofKind := condition(op).around(""); ofKind != named {
				counts[ofKind]++ // among which is one whose name is not known
			}
		},
		hit: func(op fault.Op, v fault.Verdict) {
			c := condition(op)
			happened = append(happened, "(Nth "+strconv.Itoa(counts[c.around("")])+" "+c.around(ascii(v.String()))+")")
		},
	}
	if _, err := x.watched(ctx, s, o, l); err != nil {
		return nil, err
	}
	p := expand(s)
	f := &p.scenario.Faults
	f.Inject = slices.DeleteFunc(f.Inject, func(text string) bool {
		_, chance := p.chances["fault "+text]
		return chance
	})
	f.Inject = append(happened, f.Inject...)
	usualDelays(f)
	return p.scenario, nil
}

// ascii spells microseconds as files of scenarios do.
func ascii(text string) string { return strings.ReplaceAll(text, "µs", "us") }

// conditions are the words around a fault, outermost first.
type conditions []string

// condition identifies an operation in few words: by its node and by its name, or by its kind where names say less.
func condition(op fault.Op) conditions {
	var c conditions
	if op.Node != "" {
		c = append(c, "Node "+op.Node)
	}
	named := op.Name != "" && (op.Kind == fault.KindDataplane || op.Kind == fault.KindStore || op.Kind == fault.KindEffect || op.Kind == fault.KindCNI)
	if !named || op.Kind == fault.KindEffect {
		c = append(c, "Kind "+op.Kind.String())
	}
	if named {
		c = append(c, "Request "+op.Name)
	}
	return c
}

// around puts the conditions around a fault.
func (c conditions) around(inner string) string {
	return "(" + strings.Join(c, " (") + " " + inner + strings.Repeat(")", len(c))
}

// dropInjected takes out injected faults, and the limit to some nodes.
func (k *shrinker) dropInjected() {
	cut(k, k.best.Faults.Inject, func(s *scenarios.Scenario, keep []string) { s.Faults.Inject = keep })
	if len(k.best.Faults.Nodes) > 0 {
		k.change(func(s *scenarios.Scenario) { s.Faults.Nodes = nil })
	}
}

var (
	nthPattern   = regexp.MustCompile(`^\(Nth (\d+) `)
	delayPattern = regexp.MustCompile(`\(Delay [^()]+\)`)
)

// plainFaults makes injected faults plain: early ones, and delays of whole seconds.
func (k *shrinker) plainFaults() {
	for i, text := range k.best.Faults.Inject {
		if n := nthPattern.FindStringSubmatch(text); n != nil {
			now, _ := strconv.Atoi(n[1])
			k.least(1, now, func(s *scenarios.Scenario, n int) {
				s.Faults.Inject[i] = nthPattern.ReplaceAllString(s.Faults.Inject[i], "(Nth "+strconv.Itoa(n)+" ")
			})
		}
		text = k.best.Faults.Inject[i]
		if round := delayPattern.ReplaceAllStringFunc(text, roundDelay); round != text {
			k.change(func(s *scenarios.Scenario) { s.Faults.Inject[i] = round })
		}
	}
}

func roundDelay(delay string) string {
	d, err := time.ParseDuration(strings.TrimSuffix(strings.TrimPrefix(delay, "(Delay "), ")"))
	if err != nil {
		return delay
	}
	return "(Delay " + max(d.Round(time.Second), time.Second).String() + ")"
}
