package engine

import (
	"fmt"

	"github.com/vppdrill/vppdrill/scenarios/choice"
)

// Odometer is a Chooser that tries every combination of decisions of a small space, one run after the other:
//
//	for o := engine.NewOdometer(); o.Next(); {
//		run(o)
//	}
//
// The run must be a function of its decisions alone; which decisions come, and between how many alternatives, may
// depend on the ones before. The first run picks 0 everywhere; the last decision turns fastest.
type Odometer struct {
	wheels []Pick
	at     int
	runs   int
}

// OdometerWidth is the widest decision whose alternatives are all tried. Of a wider one (a probability, a delay) only
// both ends are tried: 0 and n-1.
const OdometerWidth = 256

// NewOdometer returns an Odometer before its first run.
func NewOdometer() *Odometer { return &Odometer{} }

// Next starts the next run; false when every combination has been run.
func (o *Odometer) Next() bool {
	if o.runs == 0 {
		o.runs = 1
		return true
	}
	if o.runs < 0 {
		return false
	}
	o.wheels = o.wheels[:o.at]
	o.at = 0
	for i := len(o.wheels) - 1; i >= 0; i-- {
		if w := &o.wheels[i]; w.turn() {
			o.wheels = o.wheels[:i+1]
			o.runs++
			return true
		}
	}
	o.runs = -o.runs
	return false
}

// turn moves to the next alternative; false when that was the last.
func (p *Pick) turn() bool {
	if p.Value == p.N-1 {
		return false
	}
	if p.N > OdometerWidth {
		p.Value = p.N - 1
	} else {
		p.Value++
	}
	return true
}

// Pick takes the decision of the present run. A run that repeats its decisions and then asks another question than
// before is not a function of them; that panics.
func (o *Odometer) Pick(label string, n int) int {
	if n <= 1 {
		choice.MustWidth(label, n)
		return 0
	}
	if o.at == len(o.wheels) {
		o.wheels = append(o.wheels, Pick{Label: label, N: n})
	}
	w := o.wheels[o.at]
	if w.N != n || w.Label != label {
		panic(fmt.Sprintf("engine: decision %d is %q of %d, in the run before it was %q of %d", o.at, label, n, w.Label, w.N))
	}
	o.at++
	return w.Value
}

// Runs counts the runs started.
func (o *Odometer) Runs() int { return max(o.runs, -o.runs) }

// Picks returns the present run's decisions so far, as a capsule lists them. The slice is the caller's.
func (o *Odometer) Picks() []Pick { return append([]Pick(nil), o.wheels[:o.at]...) }
