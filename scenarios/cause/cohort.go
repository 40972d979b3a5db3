package cause

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// lookMost is how many events before the broken law are searched for missing steps.
const lookMost = 60_000

// compare adds steps that a node did for other subjects but not for those of the law, and due work that the law's text
// names.
func (w *walk) compare(f *result.Failure) {
	w.cohort(w.r.threads(max(w.r.first, w.end-lookMost), w.end))
	w.due(f.What)
	w.peers(f)
}

// likeLeast is how many others must have taken a step for its want to be told: fewer nodes than pods come and go.
func likeLeast(scope string) int {
	if strings.HasSuffix(scope, nodeScope) {
		return 2
	}
	return 3
}

// cohort adds steps that a process did for other subjects of a kind but not for those of the law.
func (w *walk) cohort(threads []*thread) {
	type life struct{ who, scope string }
	lives := map[life][]*thread{}
	var order []life
	all := map[string][]*thread{}
	for _, t := range threads {
		if t.subject == "" || t.who == "" {
			continue
		}
		all[t.who+" "+t.subject] = append(all[t.who+" "+t.subject], t)
		l := life{fmt.Sprint(t.who, " ", t.life), t.scope}
		if lives[l] == nil {
			order = append(order, l)
		}
		lives[l] = append(lives[l], t)
	}
	for _, l := range order {
		others := lives[l]
		for _, t := range others {
			x := w.wanted[t.subject]
			if x == nil || x.depth > 1 || len(others) <= likeLeast(l.scope) {
				continue
			}
			here, had := map[string]bool{}, map[string]int{}
			var like map[string]*thread
			for _, s := range t.steps {
				here[s.text] = true
			}
			like = map[string]*thread{}
			alike := 0
			for _, o := range others {
				if o == t {
					continue
				}
				steps := map[string]bool{}
				for _, s := range o.steps {
					steps[s.text] = true
				}
				both := 0
				for k := range steps { //vppdrill:unordered counted
					if here[k] {
						both++
					}
				}
				if 2*both < len(here) || 2*both < len(steps) {
					continue
				}
				alike++
				for s := range steps { //vppdrill:unordered counted
					had[s]++
					if like[s] == nil {
						like[s] = o
					}
				}
			}
			for _, s := range firsts(others) {
				if here[s] || had[s] < likeLeast(t.scope) || had[s]*10 < alike*8 || !owned(t.scope, s) || did(all[t.who+" "+t.subject], t, s) {
					continue
				}
				at := t.steps[len(t.steps)-1]
				o := like[s]
				var first taken
				for _, k := range o.steps {
					if k.text == s {
						first = k
						break
					}
				}
				text := fmt.Sprintf("probably missing for %s (%d of %d others have it, %s at event %d): %s", t.subject[2:], had[s], alike,
					o.subject[2:], first.event, w.r.tellStep(t, s))
				score := 64 - 9*x.depth - 7*w.rank("cohort "+t.who+s) - 3*w.rank("cohort")
				if score > 0 {
					w.addOf(at.event, at.at, w.nodeOf(t), text, "missing", x.leads, score)
				}
			}
		}
	}
}

// did reports whether the process of a thread took a step in another thread of the same subject: before its VPP
// started, or, for what a program writes down or asks a store, in an earlier life.
func did(others []*thread, t *thread, step string) bool {
	return slices.ContainsFunc(others, func(o *thread) bool {
		return o != t && !strings.HasPrefix(step, "@ call ") && slices.ContainsFunc(o.steps, func(x taken) bool { return x.text == step })
	})
}

// firsts are the distinct steps of threads in the order of their first occurrence.
func firsts(threads []*thread) (out []string) {
	seen := map[string]bool{}
	for _, t := range threads {
		for _, s := range t.steps {
			if !seen[s.text] {
				seen[s.text] = true
				out = append(out, s.text)
			}
		}
	}
	return out
}

// peers adds calls about addresses of the law that other nodes have made since the timeline's last action, and a node
// that the law names has not.
func (w *walk) peers(f *result.Failure) {
	type deed struct {
		call  string
		event int64
		by    map[string]bool
	}
	known, made := map[string]*deed{}, []*deed{}
	alive := map[string]bool{}
	for i := w.end - w.r.first; i >= 0; i-- {
		line := w.r.events[i].line
		if strings.HasPrefix(line, "action ") {
			break
		}
		node, call, ok := strings.Cut(line, " call ")
		if !ok || w.r.class(node) != "node" || strings.HasSuffix(call, " dump") {
			continue
		}
		alive[node] = true
		if near, about := w.mentioned(node, line); near == nil || near.depth > 0 || about[0] != 'a' {
			continue
		}
		if known[call] == nil {
			known[call] = &deed{call: call, by: map[string]bool{}}
			made = append(made, known[call])
		}
		known[call].event, known[call].by[node] = w.r.first+i, true
	}
	for _, node := range slices.Compact(slices.Sorted(slices.Values(append(nodePattern.FindAllString(f.What, -1), f.Node)))) {
		for _, d := range made {
			others := len(alive)
			if alive[node] {
				others--
			}
			if w.r.class(node) != "node" || node == "" || d.by[node] || len(d.by)*10 < others*8 {
				continue
			}
			at := &w.r.events[d.event-w.r.first]
			w.addOf(d.event, at.at, node, fmt.Sprintf("probably missing on %s (%d of %d other nodes have it, the first with this event): %s",
				node, len(d.by), others, w.told(at)), "missing", w.end, 66-6*w.rank("peers"))
		}
	}
}

// duePattern finds a node's due work in a law's text: objects to remove and to create.
var duePattern = regexp.MustCompile(`(\S+): not yet right:\s*([-+~=?]) (.*?)(?: ;|;|$)`)

// due adds calls that a node knows to be due and never makes.
func (w *walk) due(what string) {
	for _, m := range duePattern.FindAllStringSubmatch(what, 4) {
		node, sign, object := m[1], m[2], strings.TrimSpace(m[3])
		last, mentioned := int64(0), int64(0)
		for i := w.end - w.r.first; i >= 0 && mentioned == 0; i-- {
			line := w.r.events[i].line
			if !strings.HasPrefix(line, node+" call ") {
				continue
			}
			if last == 0 && !strings.HasSuffix(line, " dump") {
				last = w.r.first + i
			}
			if mentions(line, object) {
				mentioned = w.r.first + i
			}
		}
		verb := map[string]string{"-": "to remove", "+": "to create"}[sign]
		if verb == "" {
			verb = "to change"
		}
		text := fmt.Sprintf("missing: %s's agent has %s %s when the law breaks, and has made no call for it", node, verb, object)
		at := last
		if mentioned > 0 {
			at = mentioned
			text = fmt.Sprintf("missing: %s's agent has %s %s when the law breaks; its last call for it is this one: %s", node, verb,
				object, w.told(&w.r.events[mentioned-w.r.first]))
		} else if last > 0 {
			text += "; its last call of any kind is at this event"
		}
		if at > 0 {
			w.addOf(at, w.r.events[at-w.r.first].at, node, text, "missing", w.end, 63-5*w.rank("due"))
		}
	}
}

func (w *walk) nodeOf(t *thread) string {
	if w.r.class(t.who) == "node" {
		return t.who
	}
	return ""
}

// tellStep describes a step as lines do.
func (r *Recorder) tellStep(t *thread, text string) string {
	who := t.who
	if t.scope == "pod" || t.scope == "node" {
		who, text, _ = strings.Cut(text, " ")
	}
	if f, ok := strings.CutPrefix(text, "fact "); ok {
		return strings.ReplaceAll(f, "@", who)
	}
	if d, ok := strings.CutPrefix(text, "decides "); ok {
		return r.tellDecision(&decision{who: who, text: d})
	}
	line := strings.ReplaceAll(text, "@", who)
	if told, _ := r.tellLine(line); told != "" {
		return told
	}
	return line
}
