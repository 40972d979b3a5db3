package cause

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// A controller that leaves a write out has no event for it. What a run shows by itself is where the controller fell
// silent: the last that it heard or did of a node that still has no block, or its last step before a cluster that finds
// no rest. Which step should have followed only a passing run shows; see leave.

// silences adds where controllers fall silent about nodes of the law, and says so where nothing shows what is missing.
func (w *walk) silences(f *result.Failure) {
	if w.r.precedent == nil {
		w.service(f)
	}
	if w.r.precedent != nil || !lackPattern.MatchString(f.What) {
		return
	}
	list := w.controllers()
	for _, node := range slices.Compact(slices.Sorted(slices.Values(append(nodePattern.FindAllString(f.What, -1), f.Node)))) {
		if node != "" && w.blockless(node) {
			for _, c := range list {
				w.silence(c, node)
			}
		}
	}
	for _, c := range list {
		if f.Law == result.LawSettles && mentions(f.What, c.last) {
			w.pause(c)
		}
	}
	if !slices.ContainsFunc(w.found, func(c candidate) bool {
		return c.Kind == "missing" || c.Kind == "fault" || strings.Contains(c.Text, ": repeated ") || strings.Contains(c.Text, ", and waits until the law breaks")
	}) {
		w.addOf(w.end, w.at(w.end), f.Node, "not known: this run alone does not show which step is missing; compare with a passing run: --passed FILE",
			"missing", w.end, 110)
	}
}

// lackPattern finds laws' texts about work that is not done.
var lackPattern = regexp.MustCompile(`\bwaits?\b|\bnot quiet\b`)

// controller is a kind of programs that run on no node: replicas, one after the other.
type controller struct {
	class string
	// last is the replica that took the last step.
	last string
	// steps are its own steps that are more than reads, in order.
	steps []int64
}

// controllers are the kinds that took steps, in the order of their first.
func (w *walk) controllers() (list []*controller) {
	by := map[string]*controller{}
	for i := range w.r.events[:w.end-w.r.first+1] {
		x := w.r.stepOf(w.r.events[i].line)
		if x.actor == "" || slices.Contains(simulated, x.actor) || !takes(x.text) {
			continue
		}
		class := w.r.class(x.actor)
		if class == "node" {
			continue
		}
		c := by[class]
		if c == nil {
			c = &controller{class: class}
			by[class] = c
			list = append(list, c)
		}
		c.last, c.steps = x.actor, append(c.steps, w.r.first+int64(i))
	}
	return list
}

// takes reports whether a controller's step is a request or an event, and more than a read.
func takes(text string) bool {
	return strings.HasPrefix(text, "link @>") && owned("life", text) && !strings.HasPrefix(text, "link @>api list-") ||
		strings.HasPrefix(text, "@ event ")
}

// blockless reports whether a node has no assigned block when the law breaks.
func (w *walk) blockless(node string) bool {
	for i := range slices.Backward(w.r.facts) {
		x := &w.r.facts[i]
		if x.event > w.end || x.fact.Node != node {
			continue
		}
		switch what := x.fact.What.(type) {
		case fact.Assigned:
			return len(what.Blocks) == 0
		case fact.NodeGone:
			if what.Left {
				return true
			}
		}
	}
	return w.r.first == 1
}

// silence adds the last that a controller heard or did of a node, if it wrote something for another one.
func (w *walk) silence(c *controller, node string) {
	other := int64(0)
	for _, seq := range c.steps {
		if line := w.r.events[seq-w.r.first].line; writing(line) && !mentions(line, node) && nodePattern.MatchString(line) {
			other = seq
		}
	}
	if other == 0 {
		return
	}
	for i := w.end - w.r.first; i >= 0; i-- {
		e := &w.r.events[i]
		x := w.r.stepOf(e.line)
		if w.r.class(x.actor) != c.class || !mentions(e.line, node) {
			continue
		}
		text := fmt.Sprintf("missing: %s: after this event %s takes no step for %s until the law breaks, %s later; its last one for another node is at event %d: %s",
			w.told(e), c.class, node, w.later(e.at), other, w.told(&w.r.events[other-w.r.first]))
		w.addOf(w.r.first+i, e.at, "", text, "missing", w.end, 100-4*w.rank("silence"))
		return
	}
}

// servicePattern finds the address and port of a service in a law's text.
var servicePattern = regexp.MustCompile(`^([0-9.]+)(:[0-9]+) of service `)

// service adds an agent's last call for the service of the law, if the timeline went on after it, or that no agent ever
// made one, beside the last call for the same port at another address.
func (w *walk) service(f *result.Failure) {
	m := servicePattern.FindStringSubmatch(f.What)
	if m == nil {
		return
	}
	any, port, action := int64(0), int64(0), w.lastAction()
	for seq := w.end; seq >= w.r.first; seq-- {
		line := w.r.events[seq-w.r.first].line
		node, call, ok := strings.Cut(line, " call ")
		if !ok || !strings.HasPrefix(call, "nat44_") {
			continue
		}
		if mentions(line, m[1]+m[2]) {
			if any = seq; node == f.Node && seq <= action {
				w.addOf(seq, w.at(seq), node, fmt.Sprintf("missing: %s: after this event %s's agent makes no call for %s until the law breaks, %s later",
					w.told(&event{line: line}), node, m[1]+m[2], w.later(w.at(seq))), "missing", w.end, 76)
			}
			if node == f.Node {
				return
			}
		} else if port == 0 && strings.Contains(line, m[2]+" ") {
			port = seq
		}
	}
	if any == 0 && port > 0 {
		w.addOf(port, w.at(port), NodeOf(w.r.events[port-w.r.first].line), fmt.Sprintf(
			"missing: no agent makes a call for %s until the law breaks; this is the last for that port at another address: %s",
			m[1]+m[2], w.told(&w.r.events[port-w.r.first])), "missing", w.end, 76)
	}
}

// pauseLeast is the shortest pause that explains why a cluster finds no rest.
const pauseLeast = time.Second

// pause adds a controller's last step before a cluster that finds no rest, and how often it took such steps since the
// timeline's last action.
func (w *walk) pause(c *controller) {
	last := c.steps[len(c.steps)-1]
	e := &w.r.events[last-w.r.first]
	kind := w.r.stepOf(e.line).text
	if w.broken-e.at < pauseLeast {
		return
	}
	from := time.Duration(-1)
	times, action := 0, w.lastAction()
	for _, seq := range slices.Backward(c.steps) {
		if seq <= action {
			break
		}
		if x := &w.r.events[seq-w.r.first]; w.r.stepOf(x.line).text == kind {
			from = x.at
			times++
		}
	}
	text := fmt.Sprintf("%s: after this event %s takes no step until the law breaks, %s later", w.told(e), c.last, w.later(e.at))
	if times > 1 {
		text += fmt.Sprintf("; it took %d such steps since the timeline's last action, on average every %s", times,
			scenarios.FormatDuration(((e.at - from) / time.Duration(times-1)).Round(100*time.Microsecond)))
	}
	w.addOf(last, e.at, w.nodeNamed(c.last), text, "missing", w.end, 84)
}

// lastAction is the last that the timeline does until the end, and 0 where it does nothing.
func (w *walk) lastAction() int64 {
	for i, e := range slices.Backward(w.r.events[:w.end-w.r.first+1]) {
		if strings.HasPrefix(e.line, "action ") {
			return w.r.first + int64(i)
		}
	}
	return 0
}

// later is the time from then until the law breaks.
func (w *walk) later(then time.Duration) string {
	return scenarios.FormatDuration((w.broken - then).Round(100 * time.Microsecond))
}
