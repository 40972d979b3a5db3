package cause

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Most is how many links a chain has at most: as many as a person reads at once.
const Most = 12

// Chain walks back from a failure's event and returns at most Most links in the order of time. The last one is the
// broken law. It is empty if the failure has no event, or if the event is no longer kept. If the recorder has only the
// run's start, which ends before the failure's event, Chain walks back from the last recorded event, and a link says
// what is left out.
func (r *Recorder) Chain(f *result.Failure) []result.Link {
	last := f.Event - r.first
	if f.Event == 0 || last < 0 || len(r.events) == 0 {
		return nil
	}
	w := walk{r: r, wanted: map[string]*want{}, ancestors: map[int64]bool{}, ranks: map[string]int{}}
	if kept := int64(len(r.events)); last >= kept {
		w.unseen = last - kept + 1
		last = kept - 1
		start := *f
		start.Event = r.first + last
		return w.reaching(w.chain(&start, last), f)
	}
	return w.chain(f, last)
}

// reaching lets a chain of a run's start lead to a failure after it.
func (w *walk) reaching(links []result.Link, f *result.Failure) []result.Link {
	for i := range links {
		if links[i].Leads == w.end {
			links[i].Leads = f.Event
		}
	}
	law := &links[len(links)-1]
	law.Event, law.AtSeconds = f.Event, f.AtSeconds
	return links
}

// chain is Chain for a failure at a kept event.
func (w *walk) chain(f *result.Failure, last int64) []result.Link {
	r := w.r
	w.start(f)
	for i := last; i >= 0; i-- {
		w.visit(i)
	}
	w.compare(f)
	w.decided(f)
	w.saved(f)
	w.repeats(f)
	w.silences(f)
	w.births(strings.Join(macPattern.FindAllString(f.What, -1), " "), f.Event, 54)
	if at := r.neededAt; at >= r.first && at > 0 && at <= w.end {
		e := &r.events[at-r.first]
		w.addOf(at, e.at, NodeOf(e.line), r.needed, "event", w.end, 88)
	}
	if r.precedent != nil {
		w.leave(r.precedent)
	}
	if w.unseen > 0 {
		w.addOf(w.end, w.at(w.end), "", fmt.Sprintf("the run continues like this: %d more events until the law breaks are "+
			"left out here", w.unseen), "event", w.end, 114)
	}
	return w.links(f)
}

// walk goes back through a run.
type walk struct {
	r   *Recorder
	end int64
	// broken is when the law breaks: at its event, or later where the law gave it time.
	broken time.Duration
	node   string
	wanted map[string]*want
	order  []string
	// ancestors are the events that scheduled what led to the failure.
	ancestors map[int64]bool
	// begun is the first action of the timeline: earlier events are the cluster's start.
	begun int64
	// last is the type of the last fact.
	last reflect.Type
	// facts is the number of facts still ahead, going back.
	facts int
	// unseen is the number of events after end until the law breaks, or 0.
	unseen int64
	// ranks counts candidates by kind, so that one kind does not crowd out the others.
	ranks map[string]int
	found []candidate
}

// candidate is a link that may be chosen.
type candidate struct {
	result.Link
	score int
}

// depthMost is how many steps from the subjects of the law the walk still follows what it finds.
const depthMost = 2

func (w *walk) start(f *result.Failure) {
	w.end, w.node = f.Event, f.Node
	w.broken = w.at(w.end)
	if f.AtSeconds > 0 {
		w.broken = max(w.broken, time.Duration(f.AtSeconds*float64(time.Second)))
	}
	w.facts = len(w.r.facts)
	for w.facts > 0 && !w.before(&w.r.facts[w.facts-1], f) {
		w.facts--
	}
	for i := range w.r.facts {
		if x := &w.r.facts[i]; x.event == f.Event {
			w.last = reflect.TypeOf(x.fact.What)
		}
	}
	for i := range w.r.events[:f.Event-w.r.first] {
		if strings.HasPrefix(w.r.events[i].line, "action ") {
			w.begun = w.r.first + int64(i)
			break
		}
	}
	w.want(w.r.about(f.Node, f.What), 0, f.Event)
	if f.Node != "" {
		w.want([]string{"n:" + f.Node}, 0, f.Event)
	}
	bad := &w.r.events[f.Event-w.r.first]
	w.want(w.r.about(NodeOf(bad.line), bad.line), 1, f.Event)
	w.ancestors[bad.parent] = true
}

// before reports whether a fact was told before the law was broken. The law's event may be the one before that of the
// fact, whose event then never came.
func (w *walk) before(x *told, f *result.Failure) bool {
	return x.event <= w.end || x.event == w.end+1 && x.fact.At.Seconds() <= f.AtSeconds
}

// visit examines one event, after all later ones.
func (w *walk) visit(i int64) {
	e := &w.r.events[i]
	seq := w.r.first + i
	for w.facts > 0 && w.r.facts[w.facts-1].event > seq && seq < w.end {
		w.facts--
	}
	ancestor := w.ancestors[seq]
	if ancestor {
		w.ancestors[e.parent] = true
	}
	fromFacts := false
	for k := w.facts - 1; k >= 0 && w.r.facts[k].event >= seq; k-- {
		fromFacts = w.fact(seq, e, &w.r.facts[k].fact, ancestor) || fromFacts
	}
	if !fromFacts {
		w.line(seq, e, ancestor)
	}
}

// fact examines a fact of the event.
func (w *walk) fact(seq int64, e *event, f *fact.Fact, ancestor bool) bool {
	tokens := w.r.aboutFact(f)
	nearest, about := w.nearest(tokens, "apbid")
	_, allocates := f.What.(fact.NodeBlocks)
	holds, block := w.holding(tokens)
	allocates = allocates && holds != nil && w.ownerless(block)
	if nearest == nil || allocates {
		nearest, about = holds, block
	}
	weight := weightOf(f)
	if nearest == nil {
		if weight != turning {
			return false
		}
		if nearest, about = w.nearest(tokens, "n"); nearest == nil {
			return false
		}
	}
	text, _ := words(w.r, f)
	if c, ok := f.What.(fact.RecordChange); ok {
		text += w.unheard(seq, c.ID)
	}
	score := 60 - 12*nearest.depth
	if strings.HasPrefix(about, "n:") {
		score = 34 - 8*nearest.depth
		if _, starts := f.What.(fact.AgentUp); ends(f) || starts && seq > w.begun {
			score = 50 - 8*nearest.depth // a restart may change what a program knows
		}
	}
	kind := reflect.TypeOf(f.What)
	if c, ok := f.What.(fact.RecordChange); ok && updated(&c) || seq < w.begun && initial(f) {
		score -= 25
	}
	switch {
	case kind == reflect.TypeFor[fact.Removed]():
		score -= 20
	case nearest.depth == 0 && kind == w.last && f.Node != w.node:
		score += 10 // it happens to another subject at the event of the broken law
	}
	score -= 5 * w.rank(kind.Name()+" "+about)
	if ancestor {
		score += 10
	}
	if allocates {
		score += 24 // no pod has the law's address: the block is all that says whose it is
	}
	if holder := kind == reflect.TypeFor[fact.Leased]() && nearest.depth == 0 &&
		strings.HasPrefix(about, "a:"); seq < w.begun && !holder {
		score -= 12
	}
	w.addOf(seq, f.At, f.Node, text, "event", nearest.leads, score)
	if score > 20 {
		w.want(tokens, nearest.depth+1, seq)
		w.ancestors[e.parent] = true
	}
	return true
}

// line examines the event's own line.
func (w *walk) line(seq int64, e *event, ancestor bool) {
	node := NodeOf(e.line)
	nearest, about := w.mentioned(node, e.line)
	text, weight := w.r.tellLine(e.line)
	if weight == 0 {
		return
	}
	kind, score := "event", 0
	switch {
	case weight == doing:
		kind = "fault"
		if strings.HasPrefix(e.line, "action ") {
			kind = "action"
		}
		score = 52
		if nearest == nil {
			if nearest, about = w.nearest([]string{"n:" + node}, "n"); nearest == nil {
				if node != "" && kind == "fault" {
					return
				}
				nearest, about = &want{leads: w.end}, kind // an action on all nodes, or on any
				score = 40
			} else {
				score = 54 - 6*nearest.depth
				if kind == "fault" { // it struck a nearby node, but no subject of the law
					score = 46 - 8*nearest.depth - 6*w.rank("fault nearby")
				}
			}
		}
		if kind == "action" { // whatever its subject: the last action is the first suspect
			score = max(score, 60-4*w.rank("last action"))
		}
		score -= 6 * w.rank(kind+" "+about)
	case nearest != nil:
		score = 20 + 10*int(weight) - 10*nearest.depth - 6*w.rank(about)
		if strings.Contains(text, " asks the ") || strings.Contains(text, " asks to ") {
			score -= 12
			if nearest.depth == 0 && writing(e.line) {
				score += 26 // it changes a subject of the law
			}
		} else if nearest.depth == 0 && w.joins(e.line) {
			score += 24
		}
	case ancestor && weight >= touching:
		nearest = &want{leads: w.end}
		score = 26 - 4*w.rank("ancestor")
	default:
		return
	}
	if ancestor {
		score += 6
	}
	w.add(seq, e, node, text, kind, nearest.leads, score)
	if score > 30 && node != "" {
		w.want([]string{"n:" + node}, nearest.depth+1, seq)
	}
}

// writing reports whether a line is a request that changes something in a store.
func writing(line string) bool {
	for _, verb := range [...]string{"update", "create", "delete", "patch"} {
		if strings.Contains(line, ">store "+verb+" ") || strings.Contains(line, ">api "+verb) {
			return true
		}
	}
	return false
}

// rank counts how many of a kind there were.
func (w *walk) rank(kind string) int {
	n := w.ranks[kind]
	w.ranks[kind]++
	return n
}

func (w *walk) add(seq int64, e *event, node, text, kind string, leads int64, score int) {
	w.addOf(seq, e.at, node, text, kind, leads, score)
}

func (w *walk) addOf(seq int64, at time.Duration, node, text, kind string, leads int64, score int) {
	if leads <= seq {
		leads = w.end
	}
	w.found = append(w.found, candidate{result.Link{Event: seq, AtSeconds: at.Seconds(), Node: node, Kind: kind,
		Text: text, Leads: leads}, score})
}

// unheard says whether the node that broke the law was notified of a change of a node ID's record, before the next one.
func (w *walk) unheard(seq int64, id uint32) string {
	if w.node == "" {
		return ""
	}
	key := "allocatedIDs/" + strconv.FormatUint(uint64(id), 10)
	next, more := w.end, false
	for i := range w.r.facts {
		x := &w.r.facts[i]
		if c, ok := x.fact.What.(fact.RecordChange); ok && c.ID == id && x.event > seq && x.event <= w.end {
			next, more = x.event, true
			break
		}
	}
	for i := seq - w.r.first; i <= next-w.r.first; i++ {
		line := w.r.events[i].line
		if strings.HasPrefix(line, "watch store>"+w.node+" ") && mentions(line, key) {
			return fmt.Sprintf("; %s is notified at event %d", w.node, w.r.first+i)
		}
		if strings.HasPrefix(line, "link store>"+w.node+" ") && (mentions(line, key) || strings.Contains(line, " list ")) {
			return fmt.Sprintf("; %s reads the store at event %d", w.node, w.r.first+i)
		}
	}
	if more {
		return fmt.Sprintf("; %s is not notified before the record's next change", w.node)
	}
	return "; " + w.node + " was not notified before the law breaks"
}

// links chooses the links of the chain.
func (w *walk) links(f *result.Failure) []result.Link {
	slices.SortStableFunc(w.found, func(a, b candidate) int {
		return cmp.Or(-cmp.Compare(a.score, b.score), -cmp.Compare(a.Event, b.Event))
	})
	var out []result.Link
	texts := map[string]bool{}
	beside := 0
	for _, c := range w.found {
		if len(out) == Most-1 {
			break
		}
		if i := slices.IndexFunc(out, func(l result.Link) bool {
			return l.Event == c.Event && compared(l.Kind) == compared(c.Kind)
		}); i >= 0 {
			if compared(c.Kind) {
				continue // one per event is enough
			}
			if len(out[i].Text) < 200 && !strings.Contains(out[i].Text, c.Text) {
				out[i].Text = c.Text + "; " + out[i].Text
			}
			continue
		}
		if !compared(c.Kind) && slices.ContainsFunc(out,
			func(l result.Link) bool { return l.Event == c.Event && strings.Contains(l.Text, c.Text) }) {
			continue // it is in the chain already
		}
		if c.score <= 0 || texts[c.Text] || compared(c.Kind) && c.score < 90 && beside == comparedMost {
			continue
		}
		if compared(c.Kind) && c.score < 90 {
			beside++
		}
		texts[c.Text] = true
		out = append(out, c.Link)
	}
	out = append(out, result.Link{Event: f.Event, AtSeconds: w.broken.Seconds(), Node: f.Node, Kind: "broken",
		Text: "law " + f.Law + " is broken: " + f.What})
	slices.SortStableFunc(out, func(a, b result.Link) int { return cmp.Compare(a.Event, b.Event) })
	// A link leads to the next chosen one at or after the event that it was found for.
	for i := range out[:len(out)-1] {
		leads := out[len(out)-1].Event
		for _, l := range out[i+1:] {
			if l.Event == out[i].Leads {
				leads = l.Event
			}
		}
		out[i].Leads = leads
	}
	return out
}

// comparedMost is how many links of a chain come from comparisons.
const comparedMost = 5

// compared reports whether links of a kind come from a comparison and only refer to their event.
func compared(kind string) bool { return kind == "missing" || kind == "unusual" }
