package cause

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// thread holds the steps of one process from start to end, or about one subject, in order.
type thread struct {
	// scope says which threads it may be compared with.
	scope string
	// subject is its subject, as about lists it, and who its actor; empty if there are several.
	subject, who string
	// life counts the starts of who.
	life  int
	steps []taken
	// end is until when another step was possible.
	end time.Duration
}

// taken is a step with its event and time.
type taken struct {
	text   string
	event  int64
	at     time.Duration
	values []string
}

// threads sorts the events from first to last into threads. Each event is visited once.
func (r *Recorder) threads(first, last int64) []*thread {
	s := sorter{r: r, by: map[string]*thread{}, life: map[string]int{}, vpp: map[string]int{}}
	next := 0
	for next < len(r.facts) && r.facts[next].event < first {
		next++
	}
	decision := 0
	for decision < len(r.decisions) && r.decisions[decision].event < first {
		decision++
	}
	for seq := first; seq <= last; seq++ {
		e := &r.events[seq-r.first]
		x := r.stepOf(e.line)
		switch x.text {
		case "@ agent up":
			s.die(x.actor, e.at)
		case "@ vpp up":
			s.vpp[x.actor]++
		}
		s.take(x, r.about(x.actor, e.line), seq, e.at)
		for ; next < len(r.facts) && r.facts[next].event == seq; next++ {
			f := &r.facts[next].fact
			if x := r.stepOfFact(f); x.text != "" {
				s.take(x, r.aboutFact(f), seq, e.at)
			}
			if ends(f) {
				s.die(f.Node, e.at)
			}
		}
		for ; decision < len(r.decisions) && r.decisions[decision].event == seq; decision++ {
			d := &r.decisions[decision]
			s.take(stepOfDecision(d), r.about(d.who, d.text), seq, e.at)
		}
	}
	end := r.events[last-r.first].at
	for _, t := range s.all {
		if t.end < 0 {
			t.end = end
		}
	}
	return s.all
}

// nodeScope ends the scope of threads that hold what a kind of controllers does about one node.
const nodeScope = " n"

// sorter sorts steps into threads.
type sorter struct {
	r    *Recorder
	by   map[string]*thread
	all  []*thread
	life map[string]int
	// vpp counts the starts of a node's VPP, which is empty after each.
	vpp map[string]int
}

func (s *sorter) take(x step, about []string, seq int64, at time.Duration) {
	class := s.r.class(x.actor)
	s.add(class+" life", x.actor, "", x.actor+" "+strconv.Itoa(s.life[x.actor]), taken{x.text, seq, at, x.values})
	for _, t := range about {
		switch {
		case t[0] == 'p':
			s.add("pod", "", t, t, taken{class + " " + x.text, seq, at, x.values})
		case t[0] == 'n' && t[2:] == x.actor:
		case t[0] == 'n':
			s.add("node", "", t, t, taken{class + " " + x.text, seq, at, x.values})
			if class != "node" && class != "" && !slices.Contains(simulated, class) { // a controller's replicas, one after the other
				s.add(class+nodeScope, class, t, class+" "+t, taken{x.text, seq, at, x.values})
			}
		case x.actor != "":
			s.add(class+" "+t[:1], x.actor, t, fmt.Sprint(x.actor, " ", s.life[x.actor], " ", s.vpp[x.actor], " ", t),
				taken{x.text, seq, at, x.values})
		}
	}
}

func (s *sorter) add(scope, who, subject, key string, x taken) {
	t := s.by[key]
	if t == nil {
		t = &thread{scope: scope, who: who, subject: subject, life: s.life[who]<<16 + s.vpp[who], end: -1}
		s.by[key] = t
		s.all = append(s.all, t)
	}
	t.steps = append(t.steps, x)
}

// die ends a process and its pending work.
func (s *sorter) die(actor string, at time.Duration) {
	s.life[actor]++
	for _, t := range s.all {
		if t.who == actor && t.end < 0 {
			t.end = at
		}
	}
}

// ends reports whether a fact ends a node's programs.
func ends(f *fact.Fact) bool {
	switch f.What.(type) {
	case fact.AgentDown, fact.NodeGone, fact.VPPCrash:
		return f.Node != ""
	}
	return false
}
