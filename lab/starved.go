package lab

import (
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/scenarios"
)

// sample is how long a program had waited for a processor until one moment, since it began.
type sample struct {
	at     time.Time
	waited time.Duration
}

const (
	// sampleEvery is how often the programs of nodes are looked at, samplesMost how many looks are kept: two minutes'
	// worth.
	sampleEvery = time.Second
	samplesMost = 120
	// recently is how far back a lab looks for a starved program when something takes too long: what is pending at the end
	// of a wait has been pending for a while, and no ping is given up sooner.
	recently = 10 * time.Second
)

// hunger is how much of the time from a moment on a program waited for a processor, and how long that time is. The
// sample before that moment counts as its begin. It is nothing where there are no samples.
func hunger(samples []sample, from time.Time) (waited, of time.Duration) {
	if len(samples) == 0 {
		return 0, 0
	}
	first := samples[0]
	for _, s := range samples {
		if s.at.After(from) {
			break
		}
		first = s
	}
	last := samples[len(samples)-1]
	return max(0, last.waited-first.waited), last.at.Sub(first.at) // the threads that have ended are not counted any more
}

// starving says that a program waited for a processor for at least half of the time from a moment on, "" where it did
// not. Half is much: a program that uses a tenth of a processor by itself, as an agent or an idle VPP, was slowed down
// by a factor of five then.
func starving(title string, samples []sample, from time.Time) string {
	waited, of := hunger(samples, from)
	if of < recently/2 || waited < of/2 {
		return ""
	}
	return fmt.Sprintf("%s waited for a processor for %s of %s", title, waited.Round(100*time.Millisecond), of.Round(100*time.Millisecond))
}

// delayOf is how long a process waits for a processor, as of a moment; tests have another.
var delayOf = func(pid int) func(time.Time) time.Duration { return spawn.DelayOf(pid).Until }

// watchHunger takes a sample of a program every so often, until it ends.
func (n *node) watchHunger(d *daemon, p Process, life int) {
	waited := delayOf(p.PID())
	for {
		now := time.Now()
		s := sample{now, waited(now)}
		n.mu.Lock()
		if d.life != life {
			n.mu.Unlock()
			return
		}
		if len(d.samples) == samplesMost {
			d.samples = append(d.samples[:0], d.samples[samplesMost/2:]...)
		}
		d.samples = append(d.samples, s)
		n.mu.Unlock()
		select {
		case <-p.Done():
			return
		case <-time.After(sampleEvery):
		}
	}
}

// starved says which program of which node was starved of processor lately, "" where none was.
func (w *World) starved() string {
	from := time.Now().Add(-recently)
	for _, n := range w.inOrder() {
		n.mu.Lock()
		why := starving("VPP of "+n.name, n.vpp.samples, from)
		if why == "" {
			why = starving("the agent of "+n.name, n.agent.samples, from)
		}
		n.mu.Unlock()
		if why != "" {
			return why
		}
	}
	return ""
}

// unlessStarved is what came of waiting for programs. Where one of them was starved of processor, it took too long
// because the machine is too busy, and says nothing about the scenario.
func (w *World) unlessStarved(err error) error {
	if err == nil {
		return nil
	}
	if why := w.starved(); why != "" {
		return fmt.Errorf("%w: %s: %v", scenarios.ErrFallen, why, err) // no law is broken
	}
	return err
}
