package cluster

import (
	"fmt"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/sim/engine"
)

// Churn is a random coming and going of pods.
type Churn struct {
	// Name begins the pods' names "<name>-<i>" and is their App; default "churn".
	Name string
	// Every is the mean time between two creations, which are spread evenly over [0, 2*Every]: integer arithmetic keeps a
	// run the same on every machine, where an exponential would not be.
	Every time.Duration
	// LifeMin and LifeMax bound how long a pod lives before its deletion.
	LifeMin, LifeMax time.Duration
	// Until ends the creations, as a time since the run's start; 0: never.
	Until      time.Duration
	MaxPerNode int
}

type churn struct {
	w *crowd
	Churn
	serial  int
	stopped bool
	gap     string
	life    string
}

// Churn starts random churn now; Stop ends it. Every must be positive and the lifetimes in order.
func (w *crowd) Churn(spec Churn) error {
	if spec.Every <= 0 || spec.LifeMin < 0 || spec.LifeMax < spec.LifeMin {
		return fmt.Errorf("churn every %s with lives from %s to %s", spec.Every, spec.LifeMin, spec.LifeMax)
	}
	if spec.Name == "" {
		spec.Name = "churn"
	}
	c := &churn{w: w, Churn: spec, gap: "churn gap " + spec.Name, life: "churn life " + spec.Name}
	w.churns = append(w.churns, c)
	c.next()
	return nil
}

func (c *churn) next() {
	gap := engine.Duration(picker{c.w.clock}, c.gap, 0, 2*c.Every)
	if c.Until == 0 || c.w.clock.Now()+gap < c.Until {
		c.w.clock.After(gap, c)
	}
}

func (c *churn) AppendText(b []byte) []byte {
	b = append(b, "workload create "...)
	b = Key{"default", c.Name}.AppendText(b)
	b = append(b, '-')
	b = strconv.AppendInt(b, int64(c.serial), 10)
	if c.stopped {
		b = append(b, " stopped"...)
	}
	return b
}

// Fire creates one pod, and schedules its end and the next pod.
func (c *churn) Fire() {
	if c.stopped {
		return
	}
	name := c.Name + "-" + strconv.Itoa(c.serial)
	c.serial++
	c.w.Create(PodSpec{Name: name, App: c.Name, MaxPerNode: c.MaxPerNode})
	life := engine.Duration(picker{c.w.clock}, c.life, c.LifeMin, c.LifeMax)
	c.w.clock.After(life, &podEnd{c.w, Key{"default", name}})
	c.next()
}

// podEnd deletes a pod.
type podEnd struct {
	w   *crowd
	key Key
}

func (e *podEnd) AppendText(b []byte) []byte {
	return e.key.AppendText(append(b, "workload delete "...))
}
func (e *podEnd) Fire() { e.w.Delete(e.key) }
