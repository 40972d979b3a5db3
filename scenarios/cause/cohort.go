package cause

import (
	"fmt"
	"regexp"
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
}

// cohort adds steps that a process did for other subjects of a kind but not for those of the law.
func (w *walk) cohort(threads []*thread) {
	type life struct{ who, scope string }
	lives := map[life][]*thread{}
	var order []life
	for _, t := range threads {
		if t.subject == "" || t.who == "" {
			continue
		}
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
			if x == nil || x.depth > 1 || len(others) < 4 {
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
				if here[s] || had[s] < 3 || had[s]*10 < alike*8 || !owned(t.scope, s) {
					continue
				}
				at := t.steps[len(t.steps)-1]
				o := like[s]
				var did taken
				for _, k := range o.steps {
					if k.text == s {
						did = k
						break
					}
				}
				text := fmt.Sprintf("missing for %s: %s does %q for %d of %d others since its start (for %s at event %d), but "+
					"not here", t.subject[2:], t.who,
					w.r.tellStep(t, s), had[s], alike, o.subject[2:], did.event)
				score := 64 - 9*x.depth - 7*w.rank("cohort "+t.who+s) - 3*w.rank("cohort")
				if score > 0 {
					w.addOf(at.event, at.at, w.nodeOf(t), text, "missing", x.leads, score)
				}
			}
		}
	}
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
			if strings.Contains(line, object) {
				mentioned = w.r.first + i
			}
		}
		verb := map[string]string{"-": "to remove", "+": "to create"}[sign]
		if verb == "" {
			verb = "to change"
		}
		text := fmt.Sprintf("missing: %s's agent knows that it has %s %s, but never makes the call", node, verb, object)
		at := last
		if mentioned > 0 {
			at = mentioned
			text += fmt.Sprintf("; its last call for it is this one, %q",
				strings.TrimPrefix(w.r.events[mentioned-w.r.first].line, node+" "))
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
